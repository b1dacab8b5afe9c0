// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * CUBIC: RFC 9438, with fast convergence.
 *
 * W_cubic(t) = 0.4 (t - K)^3 + W_max, K = cbrt((W_max - cwnd_epoch)/0.4), t since congestion avoidance began; per ACK
 * W += (target - W)/W with the target W_cubic(t + RTT), from W to 1.5 W, and never slower than Reno would be with the
 * same decrease. A loss event keeps 0.7. Here seconds are times 2^12.
 */
#include "control.h"

#define KEEP ((u32)(0.7 * ONE))
/* 3 (1 - 0.7)/(1 + 0.7), times 2^16. */
#define ALPHA ((u32)(0.9 / 1.7 * ONE + 0.5))
/* (1 + 0.7)/2. */
#define CONVERGENCE ((u32)(0.85 * ONE + 0.5))
/* 0.4 x^3 packets times 2^32, x being seconds times 2^12: 0.4 2^32/2^36 = 1/40. */
#define SCALE 40ULL
/* Beyond 512 s, and above 2^24 packets, the cubic is cut off: nothing overflows. */
#define LONGEST (1U << 21)
#define LARGEST_STEP ((1ULL << 24) * PACKET)

struct control {
	struct base base;
	/* Window at the last loss event, lowered by fast convergence; 0 before the first and after a timeout. */
	u64 w_max;
	/* Window before the last decrease. */
	u64 prior;
	/* W_max of this stretch of congestion avoidance, and its Reno-friendly window. */
	u64 origin;
	u64 friendly;
	u32 began;
	u32 k;
	/* Smoothed RTT, ticks times 2^3. */
	u32 smoothed;
	u8 has_begun;
};

inline_always void control_start(struct control *control)
{
}

/* Microseconds as seconds times 2^12; it wraps after twelve days. */
inline_always u32 seconds(u64 us)
{
	return (us << 9) / 125000;
}

/* The cube root by Newton's rule from above, without branches: the kernel would follow every one. */
inline_always u32 cube_root(u64 number)
{
	u64 guess = 1, rest = number;

	for (int places = 16; places; places /= 2) {
		u64 large = places * 3 < 64 && (rest >> (places * 3 & 63)) != 0;

		guess <<= large * places;
		rest >>= large * places * 3;
	}
	guess *= 2;
	for (int step = 0; step < 7; step++)
		guess = (2 * guess + number / (guess * guess)) / 3;
	return guess;
}

/* W_cubic after t seconds; 0 where it would be negative. */
inline_always u64 w_cubic(const struct control *control, u32 t)
{
	u64 distance = t > control->k ? t - control->k : control->k - t, step;

	if (distance > LONGEST)
		distance = LONGEST;
	step = distance * distance * distance / SCALE;
	if (t > control->k)
		return control->origin + step;
	return control->origin > step ? control->origin - step : 0;
}

inline_always void begin(struct control *control, u32 now)
{
	u64 window = control->base.window, gap;

	control->has_begun = 1;
	control->began = now;
	control->friendly = window;
	control->k = 0;
	control->origin = window;
	if (control->w_max > window) {
		gap = control->w_max - window;
		control->k = cube_root((gap < LARGEST_STEP ? gap : LARGEST_STEP) * SCALE);
		control->origin = control->w_max;
	}
}

inline_always void grow(struct control *control, u64 growth, u32 now)
{
	struct base *base = &control->base;
	u64 window = base->window, target, increase;
	u32 t;

	if (!control->has_begun)
		begin(control, now);
	t = now - control->began;
	control->friendly += step(window, growth, control->friendly >= control->prior ? ONE : ALPHA);
	if (w_cubic(control, t) < control->friendly) {
		base->window = limited(control->friendly > window ? control->friendly : window, PACKET);
		return;
	}
	target = w_cubic(control, t + seconds(control->smoothed / (8 * TICKS_PER_US)));
	if (target <= window)
		return;
	if (target > window + window / 2)
		target = window + window / 2;
	increase = (target - window) >> 16;
	base_grow(base, growth, increase < NEVER ? increase : NEVER);
}

inline_always void control_ack(struct control *control, const struct ack *ack)
{
	u64 growth;

	if (ack->rtt && !control->smoothed)
		control->smoothed = ack->rtt << 3;
	else if (ack->rtt)
		control->smoothed = control->smoothed - (control->smoothed >> 3) + ack->rtt;
	growth = base_slow_start(&control->base, ack->growth);
	if (growth)
		grow(control, growth, seconds(ack->now));
}

inline_always u32 control_keep(const struct control *control, u64 now)
{
	return KEEP;
}

inline_always void control_after_loss(struct control *control, u64 now)
{
	u64 window = control->base.window_before;

	control->w_max = window < control->w_max ? scaled(window, CONVERGENCE) : window;
	control->prior = window;
	control->has_begun = 0;
}

inline_always void control_timeout(struct control *control, int first, u64 now)
{
	control->prior = control->base.window;
	base_timeout(&control->base, first, KEEP);
	control->w_max = 0;
	control->has_begun = 0;
}

inline_always void control_internals(const struct control *control, u64 *values)
{
	values[0] = control->w_max >> 16;
}

#define INTERNALS "w_max"
#include "driver.h"
