// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Copa: V. Arun, H. Balakrishnan, NSDI 2018, as ackclock_cc::copa has it.
 *
 * Per acknowledged packet W += v/(delta W) while W/RTTst <= 1/(delta dq), else W -= v/(delta W), with dq = RTTst - RTTmin;
 * RTTst is the smallest RTT of half a smoothed RTT, RTTmin that of 10 s. The velocity v doubles with each round trip whose
 * steps go in the direction of the one before, as in the authors' code, and is halved above delta W. After 5 round trips without dq <= 0.1 (RTTmax - RTTmin), RTTmax of 4 smoothed RTTs,
 * 1/delta grows by 1 per round trip and halves at a loss event.
 *
 * The state has room for few samples: each extreme is that of four stretches of time, of which the present one is about
 * half over on average, kept as the excess over RTTmin.
 */
#define FALLS
#define PACING_GAIN 2
#include "control.h"
#include "stretches.h"

#define LEAST (2 * PACKET)
/* Round trips without a nearly empty queue after which it is competitive; more are not told apart. */
#define CROWDED 5
#define MOST_CROWDED 7
/* 1/delta times 2^9: as it is by default, at most, and what a round trip adds. */
#define INVERSE_LOG2 9
#define INVERSE(number) ((number) << INVERSE_LOG2)
/* A velocity of 1 is 2^12. */
#define VELOCITY_LOG2 12
#define UNIT_VELOCITY (1U << VELOCITY_LOG2)
/* Windows and delays beyond these are taken for these where they are multiplied. */
#define LARGEST_COMPARED (1ULL << 56)
#define LONGEST_COMPARED (1ULL << 28)

/*
 * Three and a half stretches are the time that counts: with a seventh of the smoothed RTT half of it, and with 8/7 four
 * of it; with 22 times 2^17 microseconds 10 s.
 */
#define STRETCHES_PER_RTT 7
#define STANDING_PER_LARGEST_LOG2 3
#define CLOCK_LOG2 17
#define LEAST_STRETCH 22

struct control {
	struct base base;
	/* The smallest RTTs of four stretches each, the newest in the lowest bits, as codes of the excess over `least`. */
	u64 standing;
	u64 leasts;
	/* The largest RTTs likewise. */
	u32 largest;
	/* RTTmin, ticks. */
	u32 least;
	/* When the present stretch of `standing` began, microseconds. */
	u32 since;
	/* What the window would have grown by in this loss episode, packets times 2^16. */
	u32 gained;
	/* Steps up less steps down in this round trip. */
	int direction;
	/* When the present stretch of `leasts` began. */
	u16 began;
	/* Smoothed RTT, ticks, and velocity, both as codes; no RTT is 0. */
	u16 smoothed;
	u16 velocity;
	/* 1/delta, and as it was before the last loss event or timeout. */
	u16 inverse_delta;
	u16 inverse_before;
	/* Stretches of `standing` in the present one of `largest`. */
	u8 stretches;
	/* The window rose in the last round trip. */
	u8 rises : 1;
	/* A loss event: 2 in this round trip, 1 in the last. */
	u8 lost : 2;
	/* Round trips since the queue was nearly empty. */
	u8 crowded : 3;
};

inline_always u64 wanted_window(const struct control *control)
{
	return control->base.window + ((u64)control->gained << 16);
}

/* The window was set by something else. */
inline_always void begin_anew(struct control *control)
{
	control->gained = 0;
	control->direction = 1;
	control->rises = 1;
	control->velocity = packed(UNIT_VELOCITY, DIGITS);
}

inline_always void control_start(struct control *control)
{
	control->inverse_delta = INVERSE(2);
	control->inverse_before = INVERSE(2);
	begin_anew(control);
}

/* The largest RTT less RTTmin, ticks. */
inline_always u32 range(const struct control *control)
{
	return unpacked_largest(control->largest);
}

/* The smoothed RTT, ticks. */
inline_always u32 smoothed(const struct control *control)
{
	return unpacked(control->smoothed, DIGITS);
}

/* Ends the stretches of time that are over. */
inline_always void turn(struct control *control, u64 now)
{
	u32 stretch = smoothed(control) / (STRETCHES_PER_RTT * TICKS_PER_US) + 1;
	u32 elapsed = (u32)now - control->since;
	u32 turns = elapsed / stretch;
	u32 clock = now >> CLOCK_LOG2;
	u32 least_turns = (u16)(clock - control->began) / LEAST_STRETCH;
	u32 stretches = control->stretches + (turns < 32 ? turns : 32);
	u32 largest_turns = stretches >> STANDING_PER_LARGEST_LOG2;

	control->since += turns * stretch;
	control->standing = turned(control->standing, turns);
	control->stretches = stretches & ((1 << STANDING_PER_LARGEST_LOG2) - 1);
	control->largest = turned_largest(control->largest, largest_turns);
	control->began += least_turns * LEAST_STRETCH;
	control->leasts = turned(control->leasts, least_turns);
}

inline_always void note(struct control *control, u32 rtt)
{
	u32 code, excess, rise;

	if (rtt <= control->least) {
		/* No sample before it counts any longer. */
		control->leasts = NO_CODES << 16;
		control->standing = NO_CODES << 16;
		control->largest = rebased(control->largest, control->least - rtt, 0);
		control->least = rtt;
	}
	excess = rtt - control->least;
	code = packed(excess, DIGITS);
	control->standing = noted(control->standing, code);
	control->leasts = noted(control->leasts, code);
	control->largest = noted_largest(control->largest, excess);
	rise = unpacked(smallest(control->leasts), DIGITS);
	if (rise) {
		/* The smallest one is too old. */
		control->least += rise;
		control->leasts = lowered(control->leasts, rise);
		control->standing = lowered(control->standing, rise);
		control->largest = rebased(control->largest, 0, rise);
	}
}

inline_always void measure(struct control *control, const struct ack *ack)
{
	if (!control->smoothed) {
		control->smoothed = packed(ack->rtt, DIGITS);
		control->least = ack->rtt;
		control->since = ack->now;
		control->began = ack->now >> CLOCK_LOG2;
	}
	control->smoothed = packed((7ULL * smoothed(control) + ack->rtt) / 8, DIGITS);
	turn(control, ack->now);
	note(control, ack->rtt);
}

/* dq, ticks. */
inline_always u32 queued(const struct control *control)
{
	return unpacked(smallest(control->standing), DIGITS);
}

/* Nothing was measured for four smoothed RTTs: only retransmissions come back, and nothing counts as queued. */
inline_always int is_stale(const struct control *control, u64 now)
{
	u32 rtt = smoothed(control) / TICKS_PER_US;

	/* A stretch began half of it before its last sample, on average. */
	return (u32)now - control->since > 4 * rtt + rtt / (2 * STRETCHES_PER_RTT);
}

inline_always int is_competitive(const struct control *control)
{
	return control->crowded > CROWDED;
}

/* Where the window is not the limit the rate does not swing, and RTTs that do not differ say nothing about others. */
inline_always void choose_mode(struct control *control, u32 dq, const struct ack *ack)
{
	if (!ack->window_limited || 10ULL * dq <= range(control))
		control->crowded = 0;
	if (!is_competitive(control))
		control->inverse_delta = INVERSE(2);
	else if (ack->new_round && !control->lost && control->inverse_delta < INVERSE(100))
		control->inverse_delta += control->inverse_delta < INVERSE(99) ? INVERSE(1)
									: INVERSE(100) - control->inverse_delta;
}

/* Compares the steps of the round trip that is over with those of the one before. */
inline_always void choose_velocity(struct control *control)
{
	int direction = control->direction;
	u64 twice = 2ULL * unpacked(control->velocity, DIGITS);

	control->direction = 0;
	if (direction && (direction > 0) == control->rises) {
		control->velocity = packed(twice < NEVER ? twice : NEVER, DIGITS);
	} else {
		control->velocity = packed(UNIT_VELOCITY, DIGITS);
		control->rises = !control->rises;
	}
}

/* A velocity above delta W is halved, but not below 1. */
inline_always void bound_velocity(struct control *control, u64 window)
{
	u32 velocity = unpacked(control->velocity, DIGITS);

	if (velocity > (window >> (32 - VELOCITY_LOG2 - INVERSE_LOG2)) / control->inverse_delta)
		control->velocity = packed(velocity / 2 > UNIT_VELOCITY ? velocity / 2 : UNIT_VELOCITY, DIGITS);
}

/* W/RTTst <= 1/(delta dq), without dividing by a delay of zero. */
inline_always int is_below_target(const struct control *control, u64 window, u32 dq)
{
	u64 compared = window < LARGEST_COMPARED ? window : LARGEST_COMPARED;
	u64 delay = dq < LONGEST_COMPARED ? dq : LONGEST_COMPARED;

	return (compared >> 20) * delay <= ((u64)control->least + dq) * control->inverse_delta << (12 - INVERSE_LOG2);
}

/* v/(delta W) for each packet, at most a packet. */
inline_always u64 change(const struct control *control, u64 window, u32 packets)
{
	u64 increase = (u64)unpacked(control->velocity, DIGITS) * control->inverse_delta >>
		       (VELOCITY_LOG2 + INVERSE_LOG2 - 16);

	increase = increase < window >> 16 ? increase : window >> 16;
	return step(window, (u64)packets << 16, increase < NEVER ? increase : NEVER);
}

/* The window that it would have if it might grow now; in slow start it may end slow start. */
inline_always u64 adapted(struct control *control, const struct ack *ack, u32 dq)
{
	struct base *base = &control->base;
	u64 window = wanted_window(control);
	int is_below = is_below_target(control, window, dq);
	u64 by;

	bound_velocity(control, window);
	if (base_in_slow_start(base)) {
		if (is_below)
			return window;
		base_leave_slow_start(base);
		window = base->window;
	}
	control->direction += is_below ? 1 : -1;
	by = change(control, window, ack->credit);
	if (is_below)
		return ack->window_limited ? window + by : window;
	return by < window ? window - by : 0;
}

/* The window becomes what is wanted, as far as it may grow. */
inline_always void follow(struct control *control, const struct ack *ack, u64 wanted)
{
	struct base *base = &control->base;
	u64 most = 2 * (base->window > LEAST ? base->window : LEAST);
	u64 gained;

	if (base_in_slow_start(base) && ack->window_limited) {
		wanted += (u64)ack->credit * PACKET;
		wanted = wanted < base->ssthresh ? wanted : base->ssthresh;
	}
	wanted = limited(wanted < most ? wanted : most, LEAST);
	control->gained = 0;
	if (wanted < base->window && !base_in_slow_start(base)) {
		base_fall_to(base, wanted);
	} else if (ack->growth) {
		base->window = wanted;
	} else if (wanted > base->window) {
		gained = (wanted - base->window + ONE / 2) >> 16;
		control->gained = gained < NEVER ? gained : NEVER;
	}
}

inline_always void control_ack(struct control *control, const struct ack *ack)
{
	u64 wanted = wanted_window(control);
	u32 dq;

	if (ack->rtt)
		measure(control, ack);
	if (ack->new_round) {
		control->lost -= control->lost > 0;
		control->crowded += control->crowded < MOST_CROWDED;
	}
	if (control->smoothed) {
		dq = is_stale(control, ack->now) ? 0 : queued(control);
		choose_mode(control, dq, ack);
		if (ack->new_round && !base_in_slow_start(&control->base))
			choose_velocity(control);
		wanted = adapted(control, ack, dq);
	}
	follow(control, ack, wanted);
}

inline_always void control_cut(struct control *control, u64 now)
{
	struct base *base = &control->base;

	base_remember(base);
	base->window = limited(base->window, LEAST);
	control->inverse_before = control->inverse_delta;
}

inline_always void control_after_loss(struct control *control, u64 now)
{
	if (control->lost < 2) {
		control->inverse_delta /= 2;
		if (control->inverse_delta < INVERSE(2))
			control->inverse_delta = INVERSE(2);
	}
	control->lost = 2;
}

inline_always void control_timeout(struct control *control, int first, u64 now)
{
	base_timeout(&control->base, first, ONE / 2);
	control->inverse_before = control->inverse_delta;
	begin_anew(control);
}

inline_always void control_recovered(struct control *control)
{
	control->base.window = limited(wanted_window(control), PACKET);
	control->gained = 0;
}

inline_always void control_undo(struct control *control)
{
	base_undo(&control->base);
	control->inverse_delta = control->inverse_before;
	begin_anew(control);
}

inline_always void control_idle(struct control *control)
{
	base_idle(&control->base);
	begin_anew(control);
}

inline_always void control_internals(const struct control *control, u64 *values)
{
	values[0] = control->smoothed ? ((u64)queued(control) << 16) / (1000 * TICKS_PER_US) : NEVER_KNOWN;
	values[1] = (u64)unpacked(control->velocity, DIGITS) << (16 - VELOCITY_LOG2);
	values[2] = (u64)control->inverse_delta << (16 - INVERSE_LOG2);
	values[3] = (u64)is_competitive(control) << 16;
}

#define INTERNALS "queueing_delay_ms", "velocity", "inverse_delta", "competitive"
#include "driver.h"
