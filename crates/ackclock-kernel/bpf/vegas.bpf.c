// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * TCP Vegas: L. Brakmo, L. Peterson, JSAC 13(8), 1995.
 *
 * Once per round trip, with diff = W (1 - baseRTT/RTT) packets queued: W += 1 if diff < 1, W -= 1 if diff > 3. Slow
 * start doubles the window every other round trip and ends when diff > 1; W then falls to floor(W baseRTT/RTT) + 1, as in
 * Linux. Losses as Reno.
 */
#include "control.h"
#include "rounds.h"

#define ALPHA PACKET
#define BETA (3 * PACKET)
#define GAMMA PACKET

struct control {
	struct base base;
	/* baseRTT, ticks. */
	u32 base_rtt;
	struct rounds rounds;
	/* The window at the beginning of this round trip, with which its RTTs came about. */
	u64 began_with;
	/* Slow start lets the window grow in this round trip. */
	u8 grows;
};

inline_always void control_start(struct control *control)
{
	control->base_rtt = NEVER;
	control->grows = 1;
	control->began_with = control->base.window;
}

inline_always void round_trip(struct control *control)
{
	struct base *base = &control->base;
	u64 window = control->began_with < base->window ? control->began_with : base->window;
	u64 diff = queued_packets(window, control->base_rtt, control->rounds.completed);

	if (base_in_slow_start(base)) {
		control->grows = !control->grows;
		if (diff > GAMMA) {
			u64 wanted = ((window - diff) & ~(PACKET - 1)) + PACKET;

			base_fall_to(base, wanted > 2 * PACKET ? wanted : 2 * PACKET);
		}
	} else if (diff < ALPHA) {
		base->window = limited(base->window + PACKET, PACKET);
	} else if (diff > BETA) {
		base_fall_to(base, base->window > 3 * PACKET ? base->window - PACKET : 2 * PACKET);
	}
	control->began_with = base->window;
}

inline_always void control_ack(struct control *control, const struct ack *ack)
{
	if (ack->rtt && ack->rtt < control->base_rtt)
		control->base_rtt = ack->rtt;
	rounds_note(&control->rounds, ack);
	if (control->rounds.completed && ack->growth)
		round_trip(control);
	if (control->grows)
		base_slow_start(&control->base, ack->growth);
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
	/* What is sent again measures no round trip, and the one that would let it grow may be far away. */
	control->grows = 1;
	base_timeout(&control->base, first, ONE / 2);
}

#include "driver.h"
