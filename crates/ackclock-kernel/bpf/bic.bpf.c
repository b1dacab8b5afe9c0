// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * BI-TCP: L. Xu, K. Harfoush, I. Rhee, INFOCOM 2004, section VI-A, with the repairs that the control in Rust
 * lists: a binary search up to the window of the last loss, then steps that double up to S_max.
 */
#include "control.h"

/* Packets per round trip, times 2^16. */
#define S_MAX (32U * ONE)
#define S_MIN ((u32)(0.01 * ONE))
#define KEEP (ONE / 8 * 7)
#define LOW_WINDOW (14 * PACKET)

struct control {
	struct base base;
	/* Where the search ends, and where it goes now; unlimited while nothing is known. */
	u64 max_win;
	u64 target_win;
	/* max_win of the last loss event, for fast convergence. */
	u64 last_max;
	/* Beyond max_win: the window at which the step doubles, and the step; 0 while it searches. */
	u64 probe_target;
	u32 probe_step;
};

inline_always void control_start(struct control *control)
{
	control->max_win = UNLIMITED;
	control->target_win = UNLIMITED;
}

inline_always void aim(struct control *control)
{
	control->target_win = control->max_win == UNLIMITED ?
				      UNLIMITED :
				      (control->max_win + control->base.window) / 2;
}

/* The increase towards the target, packets per round trip times 2^16. */
inline_always u32 increment(const struct control *control)
{
	u64 window = control->base.window, gap;

	if (control->target_win == UNLIMITED)
		return S_MAX;
	gap = control->target_win > window ? (control->target_win - window) >> 16 : 0;
	return gap < S_MIN ? S_MIN : gap > S_MAX ? S_MAX : gap;
}

inline_always void search(struct control *control, u64 growth)
{
	base_grow(&control->base, growth, increment(control));
	if (control->max_win > control->base.window) {
		aim(control);
		return;
	}
	control->probe_step = ONE;
	control->probe_target = control->base.window + PACKET;
	control->max_win = UNLIMITED;
}

inline_always void probe(struct control *control, u64 growth)
{
	base_grow(&control->base, growth, control->probe_step);
	if (control->base.window >= control->probe_target) {
		control->probe_step *= 2;
		control->probe_target = control->base.window + ((u64)control->probe_step << 16);
	}
	if (control->probe_step >= S_MAX) {
		control->probe_step = 0;
		aim(control);
	}
}

inline_always void control_ack(struct control *control, const struct ack *ack)
{
	u64 growth = base_slow_start(&control->base, ack->growth);

	if (!growth)
		return;
	if (control->base.window < LOW_WINDOW)
		base_grow(&control->base, growth, ONE);
	else if (control->probe_step)
		probe(control, growth);
	else
		search(control, growth);
}

inline_always u32 control_keep(const struct control *control, u64 now)
{
	return control->base.window < LOW_WINDOW ? ONE / 2 : KEEP;
}

inline_always void control_after_loss(struct control *control, u64 now)
{
	u64 window = control->base.window_before;

	if (window < LOW_WINDOW)
		return;
	control->max_win = control->last_max > window ? (window + control->base.window) / 2 : window;
	control->last_max = control->max_win;
	aim(control);
	control->probe_step = 0;
}

inline_always void control_timeout(struct control *control, int first, u64 now)
{
	base_timeout(&control->base, first, ONE / 2);
}

inline_always void control_internals(const struct control *control, u64 *values)
{
	values[0] = control->max_win == UNLIMITED ? NEVER_KNOWN : control->max_win >> 16;
	values[1] = control->probe_step ? ONE : 0;
}

#define INTERNALS "max_win", "probing"
#include "driver.h"
