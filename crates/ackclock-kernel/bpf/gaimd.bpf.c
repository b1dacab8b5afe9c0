// SPDX-License-Identifier: MIT OR GPL-2.0
/* GAIMD: Y. R. Yang, S. S. Lam, ICNP 2000, with alpha = 0.31 and beta = 7/8, as friendly as TCP. */
#include "control.h"

#define ALPHA ((u32)(0.31 * ONE))
#define KEEP (ONE / 8 * 7)

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

	base_grow(&control->base, growth, ALPHA);
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

CONTROL(gaimd)
