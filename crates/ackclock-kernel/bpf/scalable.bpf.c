// SPDX-License-Identifier: MIT OR GPL-2.0
/* Scalable TCP: T. Kelly, CCR 33(2), 2003. Per ACK W += 0.01, a loss event takes 1/8; below 16 packets Reno. */
#include "control.h"

/* Per packet, times 2^32. */
#define INCREASE ((u64)(0.01 * PACKET))
#define LOW_WINDOW (16 * PACKET)

struct control {
	struct base base;
};

inline_always void control_start(struct control *control)
{
}

inline_always void control_ack(struct control *control, const struct ack *ack)
{
	struct base *base = &control->base;
	u64 growth = base_slow_start(base, ack->growth);

	if (base->window < LOW_WINDOW)
		base_grow(base, growth, ONE);
	else
		base->window = limited(base->window + (growth * INCREASE >> 16), PACKET);
}

inline_always u32 control_keep(const struct control *control, u64 now)
{
	return control->base.window < LOW_WINDOW ? ONE / 2 : ONE / 8 * 7;
}

inline_always void control_after_loss(struct control *control, u64 now)
{
}

inline_always void control_timeout(struct control *control, int first, u64 now)
{
	base_timeout(&control->base, first, ONE / 2);
}

#include "driver.h"
