// SPDX-License-Identifier: MIT OR GPL-2.0
/* HighSpeed TCP: RFC 3649. Per ACK W += a(W)/W, per loss event W -= b(W) W. */
#include "control.h"

struct control {
	struct base base;
};

#include "hstcp.h"

inline_always void control_start(struct control *control)
{
}

inline_always void control_ack(struct control *control, const struct ack *ack)
{
	u64 growth = base_slow_start(&control->base, ack->growth);

	if (growth)
		base_grow(&control->base, growth, hstcp_at(control->base.window).a);
}

inline_always void control_internals(const struct control *control, u64 *values)
{
	values[0] = hstcp_at(control->base.window).a;
	values[1] = hstcp_at(control->base.window).b;
}

#define INTERNALS "alpha", "beta"
#include "driver.h"
