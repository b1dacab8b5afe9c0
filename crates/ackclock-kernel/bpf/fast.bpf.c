// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * FAST TCP: C. Jin, D. Wei, S. Low, INFOCOM 2004, for 100 Mbit/s: alpha = 20 packets, g = 1/2.
 *
 * Once per round trip W = min(2W, (W + W baseRTT/RTT + alpha)/2) with a smoothed RTT; slow start ends when
 * alpha packets are queued; a loss event takes half.
 */
#include "control.h"

#define ALPHA (20 * PACKET)

struct control {
	struct base base;
	/* The smoothed RTT in ticks times 2^8, and baseRTT in ticks; 0 before the first sample. */
	u64 smoothed;
	u32 base_rtt;
	u32 round;
	/* RTT samples in this round trip; a round trip is over with this acknowledgement. */
	u8 has_samples;
	u8 is_due;
};

inline_always void control_start(struct control *control)
{
}

inline_always void measure(struct control *control, u32 rtt)
{
	if (!rtt)
		return;
	if (!control->smoothed) {
		control->smoothed = (u64)rtt << 8;
		control->base_rtt = rtt;
		return;
	}
	control->smoothed = control->smoothed - (control->smoothed >> 3) + ((u64)rtt << 5);
	if (rtt < control->base_rtt)
		control->base_rtt = rtt;
}

/* W baseRTT/RTT, packets times 2^32. */
inline_always u64 without_queue(const struct control *control)
{
	u64 share = ((u64)control->base_rtt << 32) / control->smoothed;

	return (control->base.window >> 24) * (share > 1 << 24 ? 1 << 24 : share);
}

inline_always void control_ack(struct control *control, const struct ack *ack)
{
	struct base *base = &control->base;
	u64 window, next;

	measure(control, ack->rtt);
	if (!ack->is_again)
		control->is_due = ack->round != control->round && control->has_samples;
	if (ack->round != control->round)
		control->has_samples = 0;
	control->round = ack->round;
	if (ack->rtt)
		control->has_samples = 1;
	if (base_in_slow_start(base))
		base_slow_start(base, ack->growth);
	if (!control->smoothed || !ack->growth)
		return;
	window = base->window;
	next = without_queue(control);
	if (base_in_slow_start(base)) {
		if (window >= next + ALPHA)
			base->ssthresh = limited(window, 2 * PACKET);
	} else if (control->is_due) {
		next = (window + next + ALPHA) / 2;
		base->window = limited(next < 2 * window ? next : 2 * window, 2 * PACKET);
	}
}

inline_always u32 control_keep(const struct control *control, u64 now)
{
	return ONE / 2;
}

inline_always void control_after_loss(struct control *control, u64 now)
{
}

inline_always void control_timeout(struct control *control, int first, u64 now)
{
	base_timeout(&control->base, first, ONE / 2);
}

#include "driver.h"
