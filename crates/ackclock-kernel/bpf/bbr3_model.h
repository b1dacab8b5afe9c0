/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What BBR version 3 remembers of the path, as crates/ackclock-cc/src/bbr3/model.rs has it: the delivery rate and
 * its largest values, the full pipe, the smallest RTT, aggregation; and what the kernel does not tell, losses since
 * a packet was sent.
 *
 * Rates are packets per second times 2^16, volumes packets times 2^32, times microseconds.
 */
#pragma once

#include "control.h"

#define SECOND 1000000ULL
/* What is more is not told apart: no product of a rate and an RTT overflows. */
#define LARGEST_RATE ((1ULL << 40) - 1)
#define LONGEST_US ((1U << 24) - 1)
#define LARGEST_SAMPLE ((1U << 27) - 1)

/* Losses of a flight above this share, one in this many, say that it was too large. */
#define LOSS_THRESHOLD 50
/* Round trips without growth of the rate by a quarter that show that the pipe is full. */
#define FULL_ROUNDS 3
/* Times for which the smallest RTT counts, and after which it is probed. */
#define LEAST_RTT_US (10 * SECOND)
#define PROBE_RTT_INTERVAL_US (5 * SECOND)
/* Round trips over which the largest aggregate counts, and places for them. */
#define AGGREGATE_ROUNDS 10
#define AGGREGATE_PLACES 16

inline_always u64 least(u64 one, u64 other)
{
	return one < other ? one : other;
}

inline_always u64 most(u64 one, u64 other)
{
	return one > other ? one : other;
}

/* Whether a count of packets that may wrap has come to another. */
inline_always int has_come_to(u32 count, u32 other)
{
	return (int)(count - other) >= 0;
}

/* What comes at a rate in a time. */
inline_always u64 volume_in(u64 rate, u64 us)
{
	return rate * least(us, LONGEST_US) / SECOND << 16;
}

/* Packets lost in all, by what had been delivered: at two moments, a round trip from each other. */
struct losses {
	u32 total;
	struct moment {
		u32 delivered;
		u32 lost;
	} last, before;
};

/*
 * Packets lost since that one was sent before which `prior` packets had been delivered. The kernel does not write
 * down with a packet what had been lost when it was sent: the losses of the last round trip are taken to have come
 * evenly.
 */
inline_always u32 lost_since(struct losses *losses, u32 delivered, u32 prior)
{
	u32 span, passed, lost, since = losses->total;

	if (has_come_to(prior, losses->last.delivered)) {
		losses->before = losses->last;
		losses->last = (struct moment){ delivered, losses->total };
	}
	span = losses->last.delivered - losses->before.delivered;
	passed = has_come_to(prior, losses->before.delivered) ? prior - losses->before.delivered : 0;
	lost = losses->last.lost - losses->before.lost;
	since -= losses->before.lost;
	if (span)
		since -= ((u64)lost * (passed < span ? passed : span) + span / 2) / span;
	return since;
}

/* What an acknowledgement shows of the path. */
struct sample {
	/* 0 if the interval was too short to tell. */
	u64 rate;
	u32 delivered;
	/* Packets delivered in all when its newest packet was sent. */
	u32 prior;
	/* Packets in flight when it was sent, and those lost since. */
	u32 flight;
	u32 lost;
	/* Something other than the network limited the rate. */
	u8 limited;
	u8 exists;
};

/* An interval below the smallest RTT shows no rate. */
inline_always struct sample sample_of(const struct ack *ack, struct losses *losses, u32 least_us)
{
	struct sample sample = { .limited = 1 };
	u32 delivered = least(ack->sampled, LARGEST_SAMPLE);

	if (!ack->acked || !ack->sampled)
		return sample;
	sample.exists = 1;
	sample.limited = ack->application_limited;
	sample.delivered = delivered;
	sample.prior = ack->prior;
	sample.lost = lost_since(losses, ack->delivered, ack->prior);
	/* What was in flight when it was sent has by now been delivered or lost. */
	sample.flight = least(delivered + sample.lost, LARGEST_SAMPLE);
	if (ack->interval && ack->interval >= least_us)
		sample.rate = least(((u64)delivered << 16) * SECOND / ack->interval, LARGEST_RATE);
	return sample;
}

inline_always int is_too_high(const struct sample *sample)
{
	return (u64)sample->lost * LOSS_THRESHOLD > sample->flight;
}

/* What of a flight would not have been too much: up to where the share was crossed, but before the last loss. */
inline_always u64 flight_at_loss(const struct sample *sample)
{
	u64 before = sample->flight ? sample->flight - 1 : 0;
	u64 lost_before = (u64)(sample->lost - 1) * LOSS_THRESHOLD;
	u64 rest = before > lost_before ? before - lost_before : 0;

	return before * PACKET + rest * PACKET / (LOSS_THRESHOLD - 1);
}

/* The largest rate of this and the last cycle of probing. */
struct largest_rate {
	u64 now;
	u64 before;
};

inline_always u64 largest(const struct largest_rate *rate)
{
	return most(rate->now, rate->before);
}

inline_always void largest_rate_note(struct largest_rate *rate, const struct sample *sample)
{
	if (!sample->limited || sample->rate >= largest(rate))
		rate->now = most(rate->now, sample->rate);
}

/* The next cycle begins, if this one had a sample. */
inline_always void largest_rate_advance(struct largest_rate *rate)
{
	if (rate->now) {
		rate->before = rate->now;
		rate->now = 0;
	}
}

/* Whether the rate has stopped growing. */
struct full_pipe {
	/* The rate when it last grew by a quarter, and round trips since. */
	u64 rate;
	u8 count;
	/* It has stopped since the last restart; it has stopped once. */
	u8 now;
	u8 reached;
};

inline_always void full_pipe_restart(struct full_pipe *full, u64 rate)
{
	full->rate = rate;
	full->count = 0;
	full->now = 0;
}

inline_always void full_pipe_note(struct full_pipe *full, const struct sample *sample, int round_start)
{
	if (full->now || sample->limited || !sample->rate)
		return;
	/* Rates are rounded down: four packets and five in the same time are a quarter more. */
	if (4 * (sample->rate + 1) > 5 * full->rate) {
		full->rate = sample->rate;
		full->count = 0;
	} else if (round_start) {
		full->count += 1;
		full->now = full->count >= FULL_ROUNDS;
		full->reached |= full->now;
	}
}

/* The smallest RTT, microseconds, in two windows: for the model, and a shorter one that says when to probe. */
struct least_rtt {
	u64 at;
	u64 probe_at;
	/* 0 while none is known. */
	u32 us;
	u32 probe;
	/* The smallest of the connection. */
	u32 ever;
};

/* Takes in an RTT, unless it is 0. Returns whether it is time to probe. */
inline_always int least_rtt_note(struct least_rtt *rtt, u64 now, u32 us)
{
	int expired;

	if (!rtt->us)
		rtt->at = rtt->probe_at = now;
	expired = now > rtt->probe_at + PROBE_RTT_INTERVAL_US;
	if (!us)
		return expired;
	rtt->ever = rtt->ever ? least(rtt->ever, us) : us;
	if (!rtt->probe || us < rtt->probe || expired) {
		rtt->probe = us;
		rtt->probe_at = now;
	}
	if (!rtt->us || rtt->probe < rtt->us || now > rtt->at + LEAST_RTT_US) {
		rtt->us = rtt->probe;
		rtt->at = rtt->probe_at;
	}
	return expired;
}

/* What comes at once beyond the rate, by aggregation on the way: the largest of some round trips. */
struct aggregation {
	u64 start;
	u64 delivered;
	u64 rounds[AGGREGATE_PLACES];
	u64 largest;
	u32 round;
};

inline_always void aggregation_note(struct aggregation *all, u64 now, u32 acked, u32 round, u64 rate, u64 cap)
{
	u64 expected = volume_in(rate, now - all->start), extra;
	u64 *place = &all->rounds[round % AGGREGATE_PLACES];
	int is_new = round != all->round;

	if (all->delivered <= expected) {
		all->delivered = 0;
		all->start = now;
		expected = 0;
	}
	all->delivered += acked * PACKET;
	extra = least(all->delivered - expected, cap);
	*place = is_new ? extra : most(*place, extra);
	all->round = round;
	if (is_new || extra > all->largest) {
		all->largest = 0;
		for (u32 ago = 0; ago < AGGREGATE_ROUNDS; ago++)
			all->largest = most(all->largest, all->rounds[(round - ago) % AGGREGATE_PLACES]);
	}
}

/* The largest of the last round trips; before the pipe is full, of this one. */
inline_always u64 aggregate(const struct aggregation *all, int is_full)
{
	return is_full ? all->largest : all->rounds[all->round % AGGREGATE_PLACES];
}
