// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * TCP-FIT: J. Wang, J. Wen, J. Zhang, Y. Han, INFOCOM 2011, section III.
 *
 * Per round trip W += N, per loss event W -= 2/(3N+1) W (eq. 1); after each loss event N follows the packets
 * that it keeps queued (eq. 2 and 3). alpha is the paper's estimate: the mean over loss events of
 * (rtt_max - rtt_min)/rtt_max.
 */
#include "control.h"

#define LARGEST_N 10000U

struct control {
	struct base base;
	u32 n;
	/* Extremes of the session, ticks. */
	u32 rtt_min;
	u32 rtt_max;
	/* RTT samples since the last loss event. */
	u32 rtt_count;
	u64 rtt_sum;
	/* The ratios that alpha is the mean of, times 2^32. */
	u64 ratio_sum;
	u32 ratio_count;
};

inline_always void control_start(struct control *control)
{
	control->n = 1;
	control->rtt_min = NEVER;
}

inline_always void control_ack(struct control *control, const struct ack *ack)
{
	u64 growth;

	if (ack->rtt) {
		if (ack->rtt < control->rtt_min)
			control->rtt_min = ack->rtt;
		if (ack->rtt > control->rtt_max)
			control->rtt_max = ack->rtt;
		control->rtt_sum += ack->rtt;
		control->rtt_count += 1;
	}
	growth = base_slow_start(&control->base, ack->growth);
	base_grow(&control->base, growth, control->n * ONE);
}

/* N after an updating period (eq. 2): the mean window appears on both sides and cancels. */
inline_always void update(struct control *control)
{
	u64 mean, queued, allowed;

	if (!control->rtt_count)
		return;
	control->ratio_sum += ((u64)(control->rtt_max - control->rtt_min) << 32) / control->rtt_max;
	control->ratio_count += 1;
	/* A mean of ticks times 2^8, below 2^40; shares of it times 2^24. */
	mean = (control->rtt_sum << 8) / control->rtt_count;
	queued = ((mean - ((u64)control->rtt_min << 8)) << 24) / mean * control->n;
	allowed = (control->ratio_sum / control->ratio_count) >> 8;
	if (queued < allowed && control->n < LARGEST_N)
		control->n += 1;
	else if (queued > allowed && control->n > 1)
		control->n -= 1;
	control->rtt_sum = 0;
	control->rtt_count = 0;
}

inline_always u32 control_keep(const struct control *control, u64 now)
{
	return ONE - 2 * ONE / (3 * control->n + 1);
}

inline_always void control_after_loss(struct control *control, u64 now)
{
	update(control);
}

inline_always void control_timeout(struct control *control, int first, u64 now)
{
	base_timeout(&control->base, first, ONE / 2);
	control->rtt_sum = 0;
	control->rtt_count = 0;
}

inline_always void control_internals(const struct control *control, u64 *values)
{
	values[0] = (u64)control->n << 16;
	values[1] = control->ratio_count ? (control->ratio_sum / control->ratio_count) >> 16 : 0;
}

#define INTERNALS "n", "alpha"
#include "driver.h"
