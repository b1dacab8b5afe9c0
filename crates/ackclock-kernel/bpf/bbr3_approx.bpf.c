// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * BBR, version 3, approximately: what Google's Linux does (google/bbr, branch v3), as
 * crates/ackclock-cc/src/bbr3.rs has it, as far as an unchanged kernel tells what it needs.
 *
 * It models the path by the largest delivery rate of two cycles of probing and the smallest RTT of ten seconds,
 * and paces at that rate. Losses bound the model: lt is the volume that probing found safe; bst and st hold
 * between probes, and fall to 0.7 of themselves per round trip with losses. What was in flight when a packet was
 * sent, and what has been lost since, is derived from counts of deliveries and losses; docs/kernel.md says how.
 */
#define RATE
#include "bbr3_probe.h"

/* Acknowledgements with losses in one round trip that end Startup. */
#define STARTUP_LOSSES 6

inline_always void control_start(struct control *control)
{
	u64 window = control->base.window;

	control->saved = window;
	control->round_end = control->loss_round_end = control->delivered_before = control->delivered;
	control->losses.last.delivered = control->losses.before.delivered = control->delivered;
	control->bst = control->st = control->lt = UNLIMITED;
	control->bst_before = control->st_before = control->lt_before = UNLIMITED;
	control->cycle.per_increase = UNLIMITED;
	set_pacing(control, (u64)control->base.restart * STARTUP_GAIN * (SECOND / UNKNOWN_RTT_US));
}

/* Microseconds; 0 for none. */
inline_always u32 rtt_us(const struct ack *ack)
{
	return ack->rtt ? most(ack->rtt / TICKS_PER_US, 1) : 0;
}

inline_always void note_losses(struct control *control, const struct ack *ack)
{
	if (!ack->lost)
		return;
	control->losses.total += ack->lost;
	if (!control->loss_in_round) {
		control->loss_round_end = control->delivered;
		control->bst_before = control->bst;
		control->st_before = control->st;
		control->lt_before = control->lt;
	}
	control->loss_in_round = 1;
}

inline_always void count_rounds(struct control *control, const struct sample *sample)
{
	control->bw_latest = most(control->bw_latest, sample->rate);
	control->latest = most(control->latest, sample->delivered * PACKET);
	if (has_come_to(sample->prior, control->loss_round_end)) {
		control->loss_round_end = control->delivered;
		control->loss_round_start = 1;
	}
	if (has_come_to(sample->prior, control->round_end)) {
		start_round(control);
		control->round += 1;
		control->cycle.rounds += 1;
		control->round_start = 1;
	}
}

/* Losses between probes lower the short-term model. */
inline_always void lower_model(struct control *control)
{
	u64 bst, st;

	if (!control->loss_round_start)
		return;
	if (control->loss_in_round && !is_probing(control)) {
		bst = control->bst != UNLIMITED ? control->bst : largest(&control->rate);
		st = control->st != UNLIMITED ? control->st : control->base.window;
		control->bst = most(control->bw_latest, scaled(bst, BETA));
		control->st = most(control->latest, scaled(st, BETA));
	}
	control->loss_in_round = 0;
}

/* Startup ends when the pipe is full, or too much is lost. */
inline_always void check_startup(struct control *control, const struct ack *ack, const struct sample *sample)
{
	if (ack->lost && control->lossy_acks < STARTUP_LOSSES)
		control->lossy_acks += 1;
	if (control->state != STARTUP)
		return;
	if (control->loss_round_start) {
		if (ack->recovering && control->lossy_acks >= STARTUP_LOSSES && is_too_high(sample)) {
			control->full.reached = 1;
			control->lt = most(bdp(control, largest(&control->rate)), control->latest);
		}
		control->lossy_acks = 0;
	}
	if (control->full.reached)
		control->state = DRAIN;
}

inline_always void check_drain(struct control *control, u64 now)
{
	u64 full = quantized(control, bdp(control, largest(&control->rate)));

	if (control->state == DRAIN && control->in_flight * PACKET <= full)
		enter_down(control, now);
}

inline_always void end_probe_rtt(struct control *control, u64 now)
{
	if (!control->probe_rtt_ends || now <= control->probe_rtt_ends)
		return;
	control->rtt.probe_at = now;
	control->base.window = most(control->base.window, control->saved);
	control->bst = control->st = UNLIMITED;
	if (control->full.reached) {
		enter_down(control, now);
		enter_cruise(control);
	} else {
		control->state = STARTUP;
	}
}

inline_always void probe_rtt(struct control *control, u64 now, int expired)
{
	if (control->state != PROBE_RTT && expired && !control->idle_restart) {
		save_window(control);
		control->state = PROBE_RTT;
		control->probe_rtt_ends = 0;
		control->limited_from = control->delivered;
		control->was_in_probe_rtt = 1;
		control->cycle.feedback = STOPPING;
		start_round(control);
	}
	if (control->state != PROBE_RTT)
		return;
	control->limited_to = control->delivered + control->in_flight;
	if (control->probe_rtt_ends) {
		control->probe_rtt_round |= control->round_start;
		if (control->probe_rtt_round)
			end_probe_rtt(control, now);
	} else if (control->in_flight * PACKET <= probe_rtt_window(control)) {
		control->probe_rtt_ends = now + PROBE_RTT_US;
		control->probe_rtt_round = 0;
		start_round(control);
	}
}

/* Takes in what the acknowledgement shows. */
checked_alone observe(struct control *control GIVEN, const struct ack *ack GIVEN, struct sample *sample GIVEN)
{
	u32 us = rtt_us(ack), span = control->limited_to - control->limited_from;

	note_losses(control, ack);
	control->in_flight = ack->in_flight;
	control->delivered = ack->delivered;
	if (!control->rtt.us && us)
		set_pacing(control, (u64)control->base.restart * STARTUP_GAIN * SECOND / us);
	*sample = sample_of(ack, &control->losses, control->rtt.ever);
	if (control->was_in_probe_rtt && sample->prior - control->limited_from <= span)
		sample->limited = 1;
	control->round_start = control->loss_round_start = 0;
	return 0;
}

/* Brings the model up to date. */
checked_alone remember(struct control *control GIVEN, const struct ack *ack GIVEN,
		       const struct sample *sample GIVEN)
{
	u64 cap;

	if (sample->exists) {
		count_rounds(control, sample);
		largest_rate_note(&control->rate, sample);
	}
	lower_model(control);
	/* What comes at once counts up to a tenth of a second of the rate. */
	cap = least(volume_in(control->bw, SECOND / 10), control->base.window);
	aggregation_note(&control->aggregation, ack->now, ack->acked, control->round, control->bw, cap);
	full_pipe_note(&control->full, sample, control->round_start);
	return 0;
}

/* Goes from state to state. */
checked_alone advance(struct control *control GIVEN, const struct ack *ack GIVEN,
		      const struct sample *sample GIVEN)
{
	check_startup(control, ack, sample);
	check_drain(control, ack->now);
	advance_cycle(control, ack, sample);
	return 0;
}

checked_alone look_for_least_rtt(struct control *control GIVEN, const struct ack *ack GIVEN)
{
	probe_rtt(control, ack->now, least_rtt_note(&control->rtt, ack->now, rtt_us(ack)));
	if (ack->acked)
		control->idle_restart = 0;
	return 0;
}

/* Window and pacing. */
checked_alone decide_by_model(struct control *control GIVEN, const struct ack *ack GIVEN,
			      const struct sample *sample GIVEN)
{
	if (control->loss_round_start) {
		control->bw_latest = sample->rate;
		control->latest = sample->delivered * PACKET;
	}
	control->bw = least(largest(&control->rate), control->bst);
	pace(control);
	set_window(control, ack->acked);
	return 0;
}

inline_always void control_ack(struct control *control, const struct ack *ack)
{
	struct sample sample;

	observe(control, ack, &sample);
	remember(control, ack, &sample);
	advance(control, ack, &sample);
	look_for_least_rtt(control, ack);
	decide_by_model(control, ack, &sample);
}

/* A loss event cuts nothing. */
inline_always void control_loss(struct control *control)
{
	save_window(control);
	control->base.window_before = control->base.window;
	control->recovering = 1;
	control->base.window = most(control->base.window, 2 * PACKET);
}

inline_always void control_recovered(struct control *control)
{
	control->recovering = 0;
	control->base.window = most(control->base.window, control->saved);
	if (control->full.reached)
		control->base.window = least(control->base.window, max_in_flight(control));
	bound_window(control);
}

inline_always void control_timeout(struct control *control)
{
	save_window(control);
	control->base.window_before = control->base.window;
	full_pipe_restart(&control->full, 0);
	if (!is_probing(control) && control->st == UNLIMITED)
		control->st = most(control->base.window, control->saved);
	control->base.window = PACKET;
	control->recovering = 0;
}

inline_always void control_undo(struct control *control)
{
	u64 window = control->base.window, before = control->base.window_before;

	/* A window of 2 or less is what the loss event or the timeout made of it. */
	control->base.window = window <= 2 * PACKET ? before : most(window, before);
	control->recovering = 0;
	control->loss_in_round = 0;
	full_pipe_restart(&control->full, 0);
	control->bst = most(control->bst, control->bst_before);
	control->st = most(control->st, control->st_before);
	control->lt = most(control->lt, control->lt_before);
}

/* Sending begins again with nothing in flight, after the application had nothing to send. */
inline_always void control_restart(struct control *control, u64 now)
{
	control->idle_restart = 1;
	control->aggregation.start = now;
	if (is_probe_bw(control) && control->bw)
		control->pacing = paced(control, WITH_MARGIN(ONE));
	else if (control->state == PROBE_RTT)
		end_probe_rtt(control, now);
}

inline_always void control_internals(const struct control *control, u64 *values)
{
	values[0] = (u64)control->state << 16;
	values[1] = largest(&control->rate);
	values[2] = control->bw;
	values[3] = control->bst == UNLIMITED ? NEVER_KNOWN : control->bst;
	values[4] = control->st == UNLIMITED ? NEVER_KNOWN : control->st >> 16;
	values[5] = control->lt == UNLIMITED ? NEVER_KNOWN : control->lt >> 16;
	values[6] = control->rtt.us ? ((u64)control->rtt.us << 16) / 1000 : NEVER_KNOWN;
	values[7] = aggregate(&control->aggregation, control->full.reached) >> 16;
}

#define INTERNALS                                                                                             \
	"state", "max_bw_packets_per_s", "bw_packets_per_s", "bst_packets_per_s", "st", "lt", "min_rtt_ms", \
		"extra_acked"
#include "driver.h"
