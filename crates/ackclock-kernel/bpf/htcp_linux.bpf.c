// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * H-TCP as in Linux (behaviour of tcp_htcp.c), with RTT scaling and bandwidth switch: whole packets; per round trip
 * 2 (1 - beta) f of them, f the whole part of H-TCP's alpha(D), scaled by RTTmin over 100 ms and recomputed when
 * the window has grown by a packet. D is the time since the last recovery. RTTs are smoothed, and RTTmax follows only
 * later than three RTTmin after a recovery. A loss event keeps beta = RTTmin/RTTmax, from 0.5 to 102/128; 0.5 when the
 * highest smoothed throughput differs by more than a fifth from that at the loss event before, and once more after it.
 */
#include "control.h"

#define MICROSECONDS 1000000ULL
#define BETA_MIN (ONE / 2)
#define BETA_MAX (102U * ONE / 128)
/* Beyond this time alpha grows no more: at 400 s it is 44 000 packets per round trip. */
#define LONGEST (400U * 1000000)
/* Microseconds as ticks times 2^3, as the smoothed RTTs are. Beyond half a minute they are not told apart. */
#define RTT(us) ((us) * 8ULL * TICKS_PER_US)
#define LONGEST_RTT (NEVER >> 3)
/* RTTmax rises by at most this at once. */
#define RTT_MAX_STEP RTT(20000)
/* Up to this RTTmin the window is halved. */
#define LEAST_RTT_MIN RTT(10000)
#define LARGEST_FACTOR 0xffffU

struct control {
	struct base base;
	/* The end of the last recovery, before that the start; when the throughput's measurement began; microseconds. */
	u32 since;
	u32 began;
	/* What had been delivered by then. */
	u32 delivered_before;
	/* Packets per second times 2^8, below 2^24: smoothed, its maximum, and that at the last loss event. */
	u32 throughput;
	u32 most;
	u32 most_before;
	/* RTTs, ticks times 2^3; 0 for unknown. */
	u32 smoothed;
	u32 rtt_min;
	u32 rtt_max;
	/* Packets acknowledged since the window last grew. */
	u32 count;
	/* f, scaled. */
	u16 factor;
	/* Kept at the last loss event, times 2^16. */
	u16 beta;
	/* An ACK has come. */
	u8 has_begun;
	/* A loss event has come, and no growth since. */
	u8 recovering;
	/* The last loss event came with a steady throughput. */
	u8 adaptive;
};

inline_always void control_start(struct control *control)
{
	control->factor = 1;
	control->beta = BETA_MIN;
}

/* Packets per round trip, times 2^16. */
inline_always u32 alpha(const struct control *control)
{
	return 2 * (ONE - control->beta) * control->factor;
}

/* f now. */
inline_always u16 factor_at(const struct control *control, u32 now)
{
	u32 since = now - control->since < LONGEST ? now - control->since : LONGEST;
	u64 beyond = since > MICROSECONDS ? since - MICROSECONDS : 0, factor, scale;

	/* 1 + 10 s + (s/2)^2 for s seconds beyond the first. */
	factor = 1 + beyond * (40 * MICROSECONDS + beyond) / (4 * MICROSECONDS * MICROSECONDS);
	if (control->rtt_min) {
		scale = RTT(800000) / control->rtt_min;
		scale = scale < 4 ? 4 : scale > 80 ? 80 : scale;
		factor = 8 * factor / scale;
	}
	return factor < 1 ? 1 : factor < LARGEST_FACTOR ? factor : LARGEST_FACTOR;
}

/* So much time has passed since the last recovery that what is measured is the new window's: four RTTmin. */
inline_always int has_settled(const struct control *control, u32 now)
{
	return RTT(now - control->since) >= 4ULL * control->rtt_min;
}

inline_always void measure_throughput(struct control *control, const struct ack *ack)
{
	u32 now = ack->now, span = now - control->began, packets = ack->delivered - control->delivered_before;
	u32 by_round_trip = alpha(control) >> 16;
	u64 measured;

	if (ack->recovering) {
		control->began = now;
		control->delivered_before = ack->delivered;
		return;
	}
	if (!control->rtt_min || RTT(span) < control->rtt_min ||
	    packets + (by_round_trip ? by_round_trip : 1ULL) < control->base.window >> 32)
		return;
	measured = ((packets * MICROSECONDS) << 8) / span;
	if (has_settled(control, now))
		measured = (3ULL * control->throughput + measured) / 4;
	control->throughput = measured < NEVER ? measured : NEVER;
	if (control->throughput > control->most || !has_settled(control, now))
		control->most = control->throughput;
	control->began = now;
	control->delivered_before = ack->delivered;
}

inline_always void measure(struct control *control, const struct ack *ack)
{
	u32 rtt = ack->rtt < LONGEST_RTT ? ack->rtt : LONGEST_RTT;
	u32 us = rtt / TICKS_PER_US;

	if (!control->has_begun) {
		/* When the first packet was sent. */
		control->since = ack->now > us ? ack->now - us : 0;
		control->began = control->since;
		control->has_begun = 1;
	}
	if (rtt)
		control->smoothed = control->smoothed ? control->smoothed - (control->smoothed >> 3) + rtt : rtt << 3;
	/* Microseconds in 32 bits wrap around after an hour; alpha must not. */
	if ((u32)ack->now - control->since > LONGEST)
		control->since = ack->now - LONGEST;
}

inline_always void measure_rtt(struct control *control, u32 now)
{
	u32 rtt = control->smoothed;

	if (!control->rtt_min || rtt < control->rtt_min)
		control->rtt_min = rtt;
	if (control->base.ssthresh == UNLIMITED || !has_settled(control, now))
		return;
	if (control->rtt_max < control->rtt_min)
		control->rtt_max = control->rtt_min;
	if (rtt > control->rtt_max && rtt <= control->rtt_max + RTT_MAX_STEP)
		control->rtt_max = rtt;
}

inline_always void grow(struct control *control, u64 growth, u32 now)
{
	struct base *base = &control->base;

	measure_rtt(control, now);
	if ((u64)control->count * alpha(control) >= base->window >> 32 << 16) {
		base->window = limited(base->window + PACKET, PACKET);
		control->count = 0;
		control->factor = factor_at(control, now);
	} else {
		control->count += growth >> 16;
	}
}

inline_always void control_ack(struct control *control, const struct ack *ack)
{
	u64 growth;

	if (!ack->is_again)
		measure(control, ack);
	if (control->recovering && ack->growth) {
		control->recovering = 0;
		control->since = ack->now;
	}
	if (!ack->is_again)
		measure_throughput(control, ack);
	growth = base_slow_start(&control->base, ack->growth);
	if (growth)
		grow(control, growth, ack->now);
}

inline_always int is_steady(const struct control *control)
{
	u64 now = 5ULL * control->most, before = control->most_before;

	return now >= 4 * before && now <= 6 * before;
}

inline_always u32 control_keep(const struct control *control, u64 now)
{
	u32 ratio;

	if (!is_steady(control) || !control->adaptive || control->rtt_min <= LEAST_RTT_MIN || !control->rtt_max)
		return BETA_MIN;
	/* RTTmax is never below RTTmin. Rounded, so that fewer whole packets and ACKs are one off. */
	ratio = (((u64)control->rtt_min << 16) + control->rtt_max / 2) / control->rtt_max;
	return ratio < BETA_MIN ? BETA_MIN : ratio > BETA_MAX ? BETA_MAX : ratio;
}

/* What a loss event changes in addition to the window. */
inline_always void adapt(struct control *control, u32 now)
{
	control->beta = control_keep(control, now);
	control->adaptive = is_steady(control);
	control->most_before = control->most;
	control->factor = factor_at(control, now);
	/* 5 % of the distance. */
	if (control->rtt_max > control->rtt_min)
		control->rtt_max -= (control->rtt_max - control->rtt_min) / 20;
	control->since = now;
	control->recovering = 1;
	control->count = 0;
}

inline_always void control_after_loss(struct control *control, u64 now)
{
	adapt(control, now);
	control->base.window &= ~(PACKET - 1);
	control->base.ssthresh = control->base.window;
}

inline_always void control_timeout(struct control *control, int first, u64 now)
{
	if (first)
		adapt(control, now);
	base_timeout(&control->base, first, control->beta);
	if (first)
		control->base.ssthresh &= ~(PACKET - 1);
}

inline_always void control_internals(const struct control *control, u64 *values)
{
	values[0] = alpha(control);
	values[1] = control->beta;
}

#define INTERNALS "alpha", "beta"
#include "driver.h"
