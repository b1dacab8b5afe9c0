/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * TCP-Illinois, as in the paper or as in Linux. Per ACK W += alpha/W, per loss event W -= beta W, both once per
 * round trip from its mean queueing delay da and the largest seen, dm.
 *
* The file that includes it defines WINDOW_THRESHOLD, packets times 2^32, below which it is Reno; ALPHA(da, dm), times
 * 2^16, for da above dm/100; and IS_LINUX.
 */
#pragma once

#include "control.h"

#define ALPHA_MAX (10U * ONE)
#define BETA_MIN (ONE / 8)
#define BETA_MAX (ONE / 2)
/* Round trips of low delay before alpha returns to its largest value. */
#define THETA 5U

/* After a timeout alpha and beta stay Reno's until one round trip after slow start. */
enum { AS_USUAL, SLOW_START, LAST_ROUND };

struct control {
	struct base base;
	/* RTT samples of this round trip. */
	u32 rtt_count;
	u64 rtt_sum;
	/* Smallest and largest mean of a round trip, in Linux sample, ticks. */
	u32 t_min;
	u32 t_max;
	/* Times 2^16. */
	u32 alpha;
	u32 beta;
	u32 round;
	/* Up to this round trip high delay is the echo of the own backoff. */
	u32 echo_until;
	u32 ended_in;
	u8 after_timeout;
	/* The delay was above d_1 since alpha last was the largest. */
	u8 above;
	u8 low_rounds;
};

inline_always void control_start(struct control *control)
{
	control->t_min = NEVER;
	control->alpha = ALPHA_MAX;
	control->beta = BETA_MIN;
}

inline_always u32 beta(u64 da, u64 dm)
{
	if (10 * da <= dm)
		return BETA_MIN;
	if (10 * da >= 8 * dm)
		return BETA_MAX;
	return BETA_MIN + (u32)((BETA_MAX - BETA_MIN) * (10 * da - dm) / (7 * dm));
}

inline_always void note_extreme(struct control *control, u32 rtt)
{
	if (rtt < control->t_min)
		control->t_min = rtt;
	if (rtt > control->t_max)
		control->t_max = rtt;
}

/* alpha and beta after a round trip of mean RTT `ta` ticks. */
inline_always void update(struct control *control, u32 ta)
{
	u64 da, dm;

	if (!IS_LINUX)
		note_extreme(control, ta);
	da = ta > control->t_min ? ta - control->t_min : 0;
	dm = control->t_max - control->t_min;
	control->beta = beta(da, dm);
	if (100 * da > dm) {
		control->above = control->round > control->echo_until;
		control->low_rounds = 0;
		control->alpha = ALPHA(da, dm);
		return;
	}
	if (control->low_rounds < THETA)
		control->low_rounds += 1;
	if (!control->above || control->low_rounds >= THETA) {
		control->above = 0;
		control->alpha = ALPHA_MAX;
	}
}

inline_always int as_reno(const struct control *control)
{
	return control->base.window < WINDOW_THRESHOLD || control->after_timeout != AS_USUAL;
}

inline_always void control_ack(struct control *control, const struct ack *ack)
{
	u64 growth;

	if (IS_LINUX && ack->rtt)
		note_extreme(control, ack->rtt);
	if (ack->round != control->round) {
		if (control->rtt_count)
			update(control, control->rtt_sum / control->rtt_count);
		control->rtt_sum = 0;
		control->rtt_count = 0;
	}
	if (ack->rtt) {
		control->rtt_sum += ack->rtt;
		control->rtt_count += 1;
	}
	control->round = ack->round;
	if (control->after_timeout == SLOW_START && !base_in_slow_start(&control->base)) {
		control->after_timeout = LAST_ROUND;
		control->ended_in = ack->round;
	} else if (control->after_timeout == LAST_ROUND && ack->round > control->ended_in) {
		control->after_timeout = AS_USUAL;
	}
	growth = base_slow_start(&control->base, ack->growth);
	base_grow(&control->base, growth, as_reno(control) ? ONE : control->alpha);
}

inline_always u32 control_keep(const struct control *control, u64 now)
{
	return as_reno(control) ? ONE / 2 : ONE - control->beta;
}

inline_always void control_after_loss(struct control *control, u64 now)
{
	if (IS_LINUX)
		return;
	/* High delay is now the echo of the own backoff. */
	control->above = 0;
	control->echo_until = control->round + 1;
}

inline_always void control_timeout(struct control *control, int first, u64 now)
{
	base_timeout(&control->base, first, IS_LINUX ? control_keep(control, now) : ONE / 2);
	control->after_timeout = SLOW_START;
	control->above = 0;
	control->low_rounds = 0;
}

inline_always void control_internals(const struct control *control, u64 *values)
{
	values[0] = as_reno(control) ? ONE : control->alpha;
	values[1] = as_reno(control) ? ONE / 2 : control->beta;
}

#define INTERNALS "alpha", "beta"
#include "driver.h"
