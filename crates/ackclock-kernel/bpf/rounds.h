/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The smallest RTT of each round trip. */
#pragma once

struct rounds {
	/* Of this round trip, and of the one that is over with this acknowledgement, ticks; 0 for none. */
	u32 least;
	u32 completed;
	u32 number;
};

inline_always void rounds_note(struct rounds *rounds, const struct ack *ack)
{
	if (!ack->is_again)
		rounds->completed = ack->round != rounds->number ? rounds->least : 0;
	if (ack->round != rounds->number)
		rounds->least = 0;
	rounds->number = ack->round;
	if (ack->rtt && (!rounds->least || ack->rtt < rounds->least))
		rounds->least = ack->rtt;
}

/* Packets queued, times 2^32: W (1 - base_rtt/rtt), ticks. */
inline_always u64 queued_packets(u64 window, u32 base_rtt, u32 rtt)
{
	if (rtt <= base_rtt)
		return 0;
	return (window >> 24) * ((1 << 24) - ((u64)base_rtt << 24) / rtt);
}
