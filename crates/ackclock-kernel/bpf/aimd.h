/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Additive increase, multiplicative decrease: per round trip W += INCREASE packets, per loss event it keeps the
 * fraction KEEP. The file that includes it defines both, times 2^16.
 */
#pragma once

#include "control.h"

struct control {
	struct base base;
};

inline_always void control_start(struct control *control)
{
}

inline_always void control_ack(struct control *control, const struct ack *ack)
{
	u64 growth = base_slow_start(&control->base, ack->growth);

	base_grow(&control->base, growth, INCREASE);
}

inline_always u32 control_keep(const struct control *control, u64 now)
{
	return KEEP;
}

inline_always void control_after_loss(struct control *control, u64 now)
{
}

inline_always void control_timeout(struct control *control, int first, u64 now)
{
	base_timeout(&control->base, first, ONE / 2);
}

#include "driver.h"
