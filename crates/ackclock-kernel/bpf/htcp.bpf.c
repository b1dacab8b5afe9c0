// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * H-TCP: D. Leith, R. Shorten, PFLDnet 2004; draft-leith-tcp-htcp.
 *
 * Per ACK W += alpha/W with alpha = 2 (1 - beta) alpha(D), at least 1; D is the time since the last loss event,
 * alpha(D) = 1 + 10 (D - 1 s) + ((D - 1 s)/2)^2 beyond 1 s, else 1. A loss event keeps beta = RTTmin/RTTmax, from 0.5
 * to 0.8, or 0.5 when the throughput changed by more than 20 %: that of the best round trip since the last loss event,
 * recovery left out.
 */
#include "control.h"

#define MICROSECONDS 1000000ULL
#define BETA_MIN (ONE / 2)
#define BETA_MAX (ONE * 4 / 5)
/* Beyond this time alpha grows no more: at 400 s it is 44 000 packets per round trip. */
#define LONGEST (400 * MICROSECONDS)

struct control {
	struct base base;
	/* When the last loss event was, and when this round trip began, microseconds; 0 for never, and for recovery. */
	u64 last_loss;
	u64 trip_began;
	/*
	 * Packets per second times 2^8, at most 2^24: of the best round trip of this epoch, and of the one before; 0 for
	 * unknown.
	 */
	u32 throughput;
	u32 last_throughput;
	/* Delivered before this round trip, or in recovery before this ACK; and by now. */
	u32 delivered_before;
	u32 delivered;
	/* RTTmin of the connection and RTTmax of the epoch, ticks. */
	u32 rtt_min;
	u32 rtt_max;
	/* Kept at the last loss event, times 2^16. */
	u32 beta;
	u32 round;
};

inline_always void control_start(struct control *control)
{
	control->rtt_min = NEVER;
	control->beta = BETA_MIN;
}

/* alpha now, times 2^16. */
inline_always u32 increase(const struct control *control, u64 now)
{
	u64 beyond, since = control->last_loss ? now - control->last_loss : 0, alpha = ONE;

	if (since > LONGEST)
		since = LONGEST;
	if (since > MICROSECONDS) {
		/* Seconds times 2^16. */
		beyond = ((since - MICROSECONDS) << 16) / MICROSECONDS;
		alpha += 10 * beyond + ((beyond / 2 * (beyond / 2)) >> 16);
	}
	alpha = (2 * (ONE - control->beta) * alpha) >> 16;
	return alpha > NEVER ? NEVER : alpha > ONE ? alpha : ONE;
}

/* A round trip is over, without the ACK that ends it. */
inline_always void note_trip(struct control *control, u64 now)
{
	u64 packets = control->delivered - control->delivered_before, measured;

	if (now <= control->trip_began)
		return;
	measured = ((packets * MICROSECONDS) << 8) / (now - control->trip_began);
	if (measured > NEVER)
		measured = NEVER;
	if (measured > control->throughput)
		control->throughput = measured;
}

/* A measurement begins with an ACK that may grow, so not in recovery, and goes from round trip to round trip. */
inline_always void measure(struct control *control, const struct ack *ack)
{
	if (ack->rtt && ack->rtt < control->rtt_min)
		control->rtt_min = ack->rtt;
	if (ack->rtt > control->rtt_max)
		control->rtt_max = ack->rtt;
	if (!control->trip_began) {
		/* The kernel tells an ACK's growth after the ACK: what the ACK delivered belongs to the round trip. */
		if (!ack->is_again)
			control->delivered_before = control->delivered;
		if (ack->growth)
			control->trip_began = ack->now;
	} else if (ack->round != control->round) {
		note_trip(control, ack->now);
		control->trip_began = ack->now;
		control->delivered_before = control->delivered;
	}
	control->round = ack->round;
	control->delivered = ack->delivered;
}

inline_always void control_ack(struct control *control, const struct ack *ack)
{
	u64 growth;

	measure(control, ack);
	growth = base_slow_start(&control->base, ack->growth);
	if (growth)
		base_grow(&control->base, growth, increase(control, ack->now));
}

inline_always u32 control_keep(const struct control *control, u64 now)
{
	u64 new = control->throughput, old = control->last_throughput;
	u64 change = new > old ? new - old : old - new;
	u32 ratio;

	if (!new || !old || 5 * change > old || !control->rtt_max)
		return BETA_MIN;
	ratio = control->rtt_min < control->rtt_max ? ((u64)control->rtt_min << 16) / control->rtt_max : ONE;
	return ratio < BETA_MIN ? BETA_MIN : ratio > BETA_MAX ? BETA_MAX : ratio;
}

inline_always void begin(struct control *control, u64 now)
{
	control->last_loss = now;
	control->trip_began = 0;
	control->throughput = 0;
	control->rtt_max = 0;
}

inline_always void control_after_loss(struct control *control, u64 now)
{
	control->beta = control_keep(control, now);
	if (control->throughput)
		control->last_throughput = control->throughput;
	begin(control, now);
}

inline_always void control_timeout(struct control *control, int first, u64 now)
{
	base_timeout(&control->base, first, ONE / 2);
	control->last_throughput = 0;
	begin(control, now);
}

inline_always void control_internals(const struct control *control, u64 *values)
{
	values[0] = control->beta;
}

#define INTERNALS "beta"
#include "driver.h"
