// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * TCP Veno: C. P. Fu, S. C. Liew, JSAC 21(2), 2003.
 *
 * N = W (1 - BaseRTT/RTT) packets are queued. With N < 3 per ACK W += 1/W, otherwise every second time; a loss event
 * takes a fifth with N < 3, otherwise half. BaseRTT is reset at each loss event.
 */
#include "control.h"
#include "rounds.h"

#define BETA (3 * PACKET)

struct control {
	struct base base;
	/* BaseRTT and the last sample, ticks. */
	u32 base_rtt;
	u32 rtt;
	/* The last acknowledgement in congestion did not let the window grow. */
	u8 skipped;
};

inline_always void control_start(struct control *control)
{
	control->base_rtt = NEVER;
}

inline_always u64 queued(const struct control *control)
{
	return queued_packets(control->base.window, control->base_rtt, control->rtt);
}

inline_always void control_ack(struct control *control, const struct ack *ack)
{
	u64 growth;

	if (ack->rtt) {
		control->rtt = ack->rtt;
		if (ack->rtt < control->base_rtt)
			control->base_rtt = ack->rtt;
	}
	growth = base_slow_start(&control->base, ack->growth);
	if (!growth)
		return;
	control->skipped = queued(control) >= BETA && !control->skipped;
	if (!control->skipped)
		base_grow(&control->base, growth, ONE);
}

inline_always u32 control_keep(const struct control *control, u64 now)
{
	return queued(control) >= BETA ? ONE / 2 : ONE * 4 / 5;
}

inline_always void control_after_loss(struct control *control, u64 now)
{
	control->base_rtt = NEVER;
}

inline_always void control_timeout(struct control *control, int first, u64 now)
{
	base_timeout(&control->base, first, ONE / 2);
}

inline_always void control_internals(const struct control *control, u64 *values)
{
	values[0] = queued(control) >> 16;
}

#define INTERNALS "queued"
#include "driver.h"
