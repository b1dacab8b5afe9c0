// SPDX-License-Identifier: MIT OR GPL-2.0
/* MulTCP: J. Crowcroft, P. Oechslin, CCR 28(3), 1998, for two sessions: W += N/W, a loss takes 1/(2N). */
#include "control.h"

#define N 2U
#define KEEP (ONE - ONE / (2 * N))

struct control {
	struct base base;
};

inline_always void control_start(struct control *control)
{
	(void)control;
}

inline_always void control_ack(struct control *control, const struct ack *ack)
{
	u64 growth = base_slow_start(&control->base, ack->growth);

	base_grow(&control->base, growth, N * ONE);
}

inline_always u32 control_keep(const struct control *control)
{
	(void)control;
	return KEEP;
}

inline_always void control_after_loss(struct control *control)
{
	(void)control;
}

inline_always void control_timeout(struct control *control, int first)
{
	base_timeout(&control->base, first, ONE / 2);
}

CONTROL(multcp)
