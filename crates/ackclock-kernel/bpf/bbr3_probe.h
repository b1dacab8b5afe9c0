/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The cycle of probing of BBR version 3: DOWN leaves room, CRUISE keeps the rate, REFILL fills the pipe, UP probes. */
#pragma once

#include "bbr3.h"

/* Time between probes, and the range of the random part added. */
#define WAIT_US (2 * SECOND)
#define RANDOM_WAIT_US SECOND
/* Round trips between probes at most. */
#define MOST_ROUNDS 63
/* lt grows by 2^n packets in the n-th round trip of UP, up to this n. */
#define MOST_DOUBLINGS 30

/* A number below 2^32 that seed and number determine; the middle for the seed 0 (splitmix64). */
inline_always u32 drawn(u64 seed, u32 number)
{
	u64 mixed = seed + number * 0x9e3779b97f4a7c15ULL;

	if (!seed)
		return 1U << 31;
	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ULL;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebULL;
	return (mixed ^ mixed >> 31) >> 32;
}

/* lt grows twice as fast in each round trip of UP. */
inline_always void double_slope(struct control *control)
{
	struct cycle *cycle = &control->cycle;

	cycle->per_increase = most(control->base.window >> (cycle->up_rounds & 31), PACKET);
	if (cycle->up_rounds < MOST_DOUBLINGS)
		cycle->up_rounds += 1;
}

inline_always void enter_down(struct control *control, u64 now)
{
	struct cycle *cycle = &control->cycle;

	control->loss_in_round = 0;
	control->bw_latest = 0;
	control->latest = 0;
	cycle->number += 1;
	/* Half of the cycles begin with a round trip. */
	cycle->rounds = drawn(control->seed, 2 * cycle->number) > 1U << 31;
	cycle->wait = WAIT_US + (drawn(control->seed, 2 * cycle->number + 1) * RANDOM_WAIT_US >> 32);
	cycle->per_increase = UNLIMITED;
	cycle->began = now;
	cycle->feedback = STOPPING;
	control->state = DOWN;
	start_round(control);
}

inline_always void enter_cruise(struct control *control)
{
	control->state = CRUISE;
	if (control->st != UNLIMITED)
		control->st = least(control->st, control->lt);
}

inline_always void enter_refill(struct control *control)
{
	struct cycle *cycle = &control->cycle;

	control->bst = UNLIMITED;
	control->st = UNLIMITED;
	cycle->up_rounds = 0;
	cycle->up_acked = 0;
	cycle->was_precautionary = 0;
	cycle->feedback = REFILLING;
	control->state = REFILL;
	start_round(control);
}

inline_always void enter_up(struct control *control, u64 now, const struct sample *sample)
{
	control->cycle.takes_samples = 1;
	control->cycle.feedback = STARTING;
	control->cycle.began = now;
	control->state = UP;
	start_round(control);
	full_pipe_restart(&control->full, sample->rate);
	double_slope(control);
}

/* A flight was too large; `volume` would not have been. */
inline_always void too_high(struct control *control, u64 now, u64 volume, int is_limited)
{
	control->cycle.was_too_high = 1;
	control->cycle.takes_samples = 0;
	if (!is_limited)
		control->lt = most(volume, scaled(target_in_flight(control), BETA));
	if (control->state == UP)
		enter_down(control, now);
}

inline_always int is_time_to_probe(const struct control *control, u64 now)
{
	const struct cycle *cycle = &control->cycle;

	return now > cycle->began + cycle->wait ||
	       cycle->rounds * PACKET >= least(target_in_flight(control), MOST_ROUNDS * PACKET);
}

/* UP: lt grows while it is what limits sending. */
inline_always void raise_long_term(struct control *control, const struct ack *ack)
{
	struct cycle *cycle = &control->cycle;
	u64 steps;

	if (!ack->round_limited || control->base.window < control->lt)
		return;
	cycle->up_acked += ack->acked * PACKET;
	if (cycle->up_acked >= cycle->per_increase) {
		steps = cycle->up_acked / cycle->per_increase;
		cycle->up_acked -= steps * cycle->per_increase;
		control->lt = limited(control->lt + steps * PACKET, PACKET);
	}
	if (control->round_start)
		double_slope(control);
}

/* Judges the last probe. Returns whether a new one begins at once. */
inline_always int adapt_long_term(struct control *control, const struct ack *ack, const struct sample *sample)
{
	struct cycle *cycle = &control->cycle;
	u64 volume;

	if (control->round_start && cycle->feedback == STARTING)
		cycle->feedback = ARRIVING;
	if (control->round_start && cycle->feedback == STOPPING) {
		cycle->takes_samples = 0;
		cycle->feedback = INIT;
		if (is_probe_bw(control)) {
			if (!sample->limited)
				largest_rate_advance(&control->rate);
			if (cycle->was_precautionary && !cycle->was_too_high) {
				enter_refill(control);
				return 1;
			}
		}
	}
	if (is_too_high(sample)) {
		/* A lost packet was sent at about the time of the newest packet that the acknowledgement reports. */
		volume = ack->lost ? flight_at_loss(sample) : sample->flight * PACKET;
		if (cycle->takes_samples)
			too_high(control, ack->now, volume, sample->limited);
	} else if (control->lt != UNLIMITED) {
		control->lt = most(control->lt, sample->flight * PACKET);
		if (control->state == UP)
			raise_long_term(control, ack);
	}
	return 0;
}

inline_always void probe_up(struct control *control, const struct ack *ack, const struct sample *sample)
{
	if (control->cycle.was_too_high && control->in_flight * PACKET >= control->lt) {
		control->cycle.was_precautionary = 1;
	} else if (ack->round_limited && control->base.window >= control->lt) {
		full_pipe_restart(&control->full, sample->rate);
		return;
	} else if (!control->full.now) {
		return;
	}
	control->cycle.was_too_high = 0;
	enter_down(control, ack->now);
}

/* The long-term model, then the states. */
inline_always void advance_cycle(struct control *control, const struct ack *ack, const struct sample *sample)
{
	u64 in_flight = control->in_flight * PACKET;

	if (!control->full.reached || adapt_long_term(control, ack, sample))
		return;
	if (control->state == DOWN || control->state == CRUISE) {
		if (is_time_to_probe(control, ack->now))
			enter_refill(control);
		else if (control->state == DOWN && in_flight <= with_headroom(control) &&
			 in_flight <= quantized(control, bdp(control, largest(&control->rate))))
			enter_cruise(control);
	} else if (control->state == REFILL && control->round_start) {
		enter_up(control, ack->now, sample);
	} else if (control->state == UP) {
		probe_up(control, ack, sample);
	}
}
