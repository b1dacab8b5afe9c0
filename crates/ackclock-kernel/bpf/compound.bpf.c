// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Compound TCP: K. Tan, J. Song, Q. Zhang, M. Sridharan, INFOCOM 2006; draft-sridharan-tcpm-ctcp.
 *
 * The window is Reno's cwnd and a part dwnd. Once per round trip, with diff = W (1 - baseRTT/RTT):
 * dwnd += W^(3/4)/8 - 1 while diff < 30 packets, else dwnd -= diff. A loss event halves both. dwnd is 0 in
 * slow start and below 41 packets.
 */
#include "control.h"
#include "rounds.h"

#define GAMMA (30 * PACKET)
#define LOW_WINDOW (41 * PACKET)

struct control {
	struct base base;
	/* Packets times 2^32. */
	u64 dwnd;
	/* Smallest RTT of the connection, ticks; 0 for none. */
	u32 base_rtt;
	struct rounds rounds;
};

inline_always void control_start(struct control *control)
{
}

/*
 * The square root by Newton's rule from above: the first guess is at most twice too large, and every step
 * squares the error. No branches, of which the kernel would follow every one.
 */
inline_always u32 root(u64 number)
{
	u64 guess = 1, rest = number;

	for (int halves = 16; halves; halves /= 2) {
		u64 large = (rest >> (2 * halves)) != 0;

		guess <<= large * halves;
		rest >>= large * 2 * halves;
	}
	guess *= 2;
	for (int step = 0; step < 6; step++)
		guess = (guess + number / guess) / 2;
	return guess;
}

inline_always void set_dwnd(struct control *control, u64 dwnd)
{
	u64 with = control->base.window + dwnd;

	/* An idle time may have made the window smaller than dwnd. */
	control->base.window = with > control->dwnd ? limited(with - control->dwnd, PACKET) : PACKET;
	control->dwnd = dwnd;
}

/* What a round trip whose smallest RTT is `least` ticks changes; it can grow only with an ACK that may. */
inline_always void round_trip(struct control *control, u32 least, u32 growth)
{
	u64 window = control->base.window, diff, square, more;

	if (base_in_slow_start(&control->base) || window < LOW_WINDOW) {
		set_dwnd(control, 0);
		return;
	}
	if (!growth)
		return;
	diff = queued_packets(window, control->base_rtt, least);
	if (diff >= GAMMA) {
		set_dwnd(control, control->dwnd > diff ? control->dwnd - diff : 0);
		return;
	}
	/* W^(1/2) times W^(1/4), each times 2^16. */
	square = root(window);
	more = square * root(square << 16) / 8;
	if (more > PACKET)
		set_dwnd(control, control->dwnd + more - PACKET);
}

inline_always void control_ack(struct control *control, const struct ack *ack)
{
	u64 growth;

	if (ack->rtt && (!control->base_rtt || ack->rtt < control->base_rtt))
		control->base_rtt = ack->rtt;
	rounds_note(&control->rounds, ack);
	if (control->rounds.completed)
		round_trip(control, control->rounds.completed, ack->growth);
	growth = base_slow_start(&control->base, ack->growth);
	base_grow(&control->base, growth, ONE);
}

inline_always u32 control_keep(const struct control *control, u64 now)
{
	return ONE / 2;
}

inline_always void control_after_loss(struct control *control, u64 now)
{
	control->dwnd /= 2;
	if (control->dwnd > control->base.window)
		control->dwnd = control->base.window;
}

inline_always void control_timeout(struct control *control, int first, u64 now)
{
	base_timeout(&control->base, first, ONE / 2);
	control->dwnd = 0;
}

inline_always void control_internals(const struct control *control, u64 *values)
{
	values[0] = control->dwnd >> 16;
}

#define INTERNALS "dwnd"
#include "driver.h"
