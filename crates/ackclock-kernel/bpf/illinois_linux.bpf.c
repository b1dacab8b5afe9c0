// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * TCP-Illinois as in Linux (behaviour of tcp_illinois.c): once per round trip, outside of recovery, alpha from 0.3 to 10 in
 * 128ths and beta from 1/8 to 1/2 in 64ths, by the mean queueing delay da and the largest of single samples, dm; Reno's where
 * the window is below 15 packets then, and after a timeout. A packet is added when those acknowledged since the last one, times
 * alpha, are a window.
 */
#include "control.h"

#define WINDOW_THRESHOLD (15 * PACKET)
#define ALPHA_MAX 1280U
#define ALPHA_MIN 38U
#define ALPHA_RENO 128U
#define BETA_MIN 8U
#define BETA_MAX 32U
/* Round trips of low delay, in sum, before alpha returns to its largest value. */
#define THETA 5U

struct control {
	struct base base;
	/* Samples of this round trip, microseconds, and the extremes of all. */
	u32 rtt_count;
	u64 rtt_sum;
	u32 t_min;
	u32 t_max;
	/* Packets acknowledged since the window last grew. */
	u32 count;
	/* Times 2^7 and 2^6. */
	u32 alpha;
	u32 beta;
	/* The round trip in which they were computed, and the present one. */
	u32 computed_in;
	u32 round;
	/* The delay was above dm/100 since alpha last was the largest. */
	u8 above;
	u8 low_rounds;
};

inline_always void control_start(struct control *control)
{
	control->t_min = NEVER;
	control->alpha = ALPHA_MAX;
	control->beta = BETA_MAX;
}

inline_always void reset(struct control *control)
{
	control->computed_in = control->round;
	control->rtt_sum = 0;
	control->rtt_count = 0;
}

inline_always u32 alpha(u64 da, u64 dm)
{
	da -= dm / 100;
	dm -= dm / 100;
	return dm * ALPHA_MAX / (dm + da * (ALPHA_MAX - ALPHA_MIN) / ALPHA_MIN);
}

inline_always u32 beta(u64 da, u64 dm)
{
	u64 least = dm / 10, most = 8 * dm / 10;

	if (da <= least)
		return BETA_MIN;
	if (da >= most || most <= least)
		return BETA_MAX;
	return (BETA_MIN * most - BETA_MAX * least + (BETA_MAX - BETA_MIN) * da) / (most - least);
}

inline_always void update(struct control *control)
{
	u64 mean, da, dm;

	if (control->base.window < WINDOW_THRESHOLD) {
		control->alpha = ALPHA_RENO;
		control->beta = BETA_MAX;
	} else if (control->rtt_count) {
		mean = control->rtt_sum / control->rtt_count;
		da = mean > control->t_min ? mean - control->t_min : 0;
		dm = control->t_max - control->t_min;
		control->beta = beta(da, dm);
		if (da > dm / 100) {
			control->above = 1;
			control->alpha = alpha(da, dm);
		} else {
			control->low_rounds += control->above;
			if (!control->above || control->low_rounds >= THETA) {
				control->above = 0;
				control->low_rounds = 0;
				control->alpha = ALPHA_MAX;
			}
		}
	}
	reset(control);
}

inline_always void measure(struct control *control, u32 rtt)
{
	if (!rtt)
		return;
	rtt /= TICKS_PER_US;
	if (rtt < control->t_min)
		control->t_min = rtt;
	if (rtt > control->t_max)
		control->t_max = rtt;
	control->rtt_sum += rtt;
	control->rtt_count += 1;
}

inline_always void control_ack(struct control *control, const struct ack *ack)
{
	u64 window = control->base.window >> 32, packets;

	if (!ack->is_again)
		measure(control, ack->rtt);
	control->round = ack->round;
	if (ack->recovering)
		return;
	if (control->round != control->computed_in)
		update(control);
	if (base_in_slow_start(&control->base)) {
		/* What is left of the packets is lost. */
		base_slow_start(&control->base, ack->growth);
		return;
	}
	if (!ack->growth)
		return;
	control->count += ack->growth;
	packets = ((u64)control->count * control->alpha >> 7) / (window ? window : 1);
	if (packets) {
		control->base.window = limited(control->base.window + packets * PACKET, PACKET);
		control->count = 0;
	}
}

inline_always u32 control_keep(const struct control *control, u64 now)
{
	return ONE - (control->beta << 10);
}

/* What is cut is rounded down. */
inline_always u64 rounded_up(u64 window)
{
	return window == UNLIMITED ? window : (window + PACKET - 1) & ~(PACKET - 1);
}

inline_always void control_after_loss(struct control *control, u64 now)
{
	control->base.window = rounded_up(control->base.window);
	control->base.ssthresh = control->base.window;
	control->count = 0;
}

inline_always void control_timeout(struct control *control, int first, u64 now)
{
	base_timeout(&control->base, first, control_keep(control, now));
	if (first)
		control->base.ssthresh = rounded_up(control->base.ssthresh);
	control->alpha = ALPHA_RENO;
	control->beta = BETA_MAX;
	control->above = 0;
	control->low_rounds = 0;
	control->count = 0;
	reset(control);
}

inline_always void control_internals(const struct control *control, u64 *values)
{
	values[0] = control->alpha << 9;
	values[1] = control->beta << 10;
}

#define INTERNALS "alpha", "beta"
#include "driver.h"
