// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * LEDBAT++: draft-irtf-iccrg-ledbat-plus-plus, by the rules that ackclock_cc::ledbat_plus_plus has.
 *
 * It keeps a queueing delay of 60 ms, by round trips: the smallest of 4 samples over the smallest of 10 minutes. With
 * GAIN = 1/min(16, ceil(120 ms/base)) a round trip adds GAIN packets while the delay is at most that, and
 * max(GAIN - W (delay/target - 1), -W/2) above it. Slow start adds GAIN per packet; the first one also ends at 3/4 of the
 * target. Two round trips after it the window falls to 2 packets for two round trips and returns by slow start; what took
 * T is done again after 9 T. Losses halve.
 */
#define FALLS
#include "control.h"
#include "compact.h"

#define MILLISECOND (1000U * TICKS_PER_US)
#define TARGET (60 * MILLISECOND)
#define EXIT (TARGET / 4 * 3)
#define LARGEST_DIVISOR 16U
#define SAMPLES 4
#define MINUTES 10
#define LEAST (2 * PACKET)
#define INTERVAL 9ULL
/* Times of slowdowns are 2^4 microseconds, those of minutes 2^20: 57 of these are a minute. */
#define TIME_LOG2 4
#define LONGEST_INTERVAL (1ULL << 30)
#define MINUTE_LOG2 20
#define MINUTE 57

/* The first slow start, between two slowdowns, the two round trips of a slowdown, and the way back from it. */
enum { FIRST, BETWEEN, HELD, HELD_LAST, RETURNING };

struct control {
	struct base base;
	/* The smallest RTT of the history and the last samples, the newest first, ticks; NEVER for none. */
	u32 base_rtt;
	u32 samples[SAMPLES];
	/* When the next slowdown is due, or this one began. */
	u32 time;
	/* The smallest RTT of each of the last minutes, the newest first, as codes; when this minute began. */
	u16 minutes[MINUTES];
	u16 minute;
	u8 phase;
};

inline_always void control_start(struct control *control)
{
	control->base_rtt = NEVER;
	_Pragma("GCC unroll 16") for (u32 sample = 0; sample < SAMPLES; sample++)
		control->samples[sample] = NEVER;
	_Pragma("GCC unroll 16") for (u32 minute = 0; minute < MINUTES; minute++)
		control->minutes[minute] = NO_CODE;
}

/* Another minute begins: what is ten minutes old is forgotten. */
inline_always void begin_minute(struct control *control)
{
	u16 least = NO_CODE;

	_Pragma("GCC unroll 16") for (u32 minute = MINUTES - 1; minute > 0; minute--) {
		control->minutes[minute] = control->minutes[minute - 1];
		if (control->minutes[minute] < least)
			least = control->minutes[minute];
	}
	control->minutes[0] = NO_CODE;
	/* While the smallest one is remembered it is known better than by its code. */
	if (packed(control->base_rtt, DIGITS) != least)
		control->base_rtt = least == NO_CODE ? NEVER : unpacked(least, DIGITS);
}

inline_always void measure(struct control *control, const struct ack *ack)
{
	u16 now = ack->now >> MINUTE_LOG2;
	u32 code = packed(ack->rtt, DIGITS);

	if (control->base_rtt == NEVER)
		control->minute = now;
	if ((u16)(now - control->minute) >= MINUTE) {
		begin_minute(control);
		control->minute = now;
	}
	if (code < control->minutes[0])
		control->minutes[0] = code;
	if (ack->rtt < control->base_rtt)
		control->base_rtt = ack->rtt;
	_Pragma("GCC unroll 16") for (u32 sample = SAMPLES - 1; sample > 0; sample--)
		control->samples[sample] = control->samples[sample - 1];
	control->samples[0] = ack->rtt;
}

/* The smallest of the last samples. */
inline_always u32 current(const struct control *control)
{
	u32 least = NEVER;

	_Pragma("GCC unroll 16") for (u32 sample = 0; sample < SAMPLES; sample++)
		if (control->samples[sample] < least)
			least = control->samples[sample];
	return least;
}

/* Queueing delay, ticks. */
inline_always u32 delay(const struct control *control)
{
	return current(control) - control->base_rtt;
}

/* 1/GAIN. */
inline_always u32 divisor(const struct control *control)
{
	u32 wanted;

	if (control->base_rtt == NEVER)
		return LARGEST_DIVISOR;
	wanted = (2 * TARGET - 1) / control->base_rtt + 1;
	return wanted < LARGEST_DIVISOR ? wanted : LARGEST_DIVISOR;
}

inline_always int is_held(const struct control *control)
{
	return control->phase == HELD || control->phase == HELD_LAST;
}

/* Begins and ends slowdowns, which begin where a round trip does. */
inline_always void advance(struct control *control, const struct ack *ack)
{
	struct base *base = &control->base;
	u32 now = ack->now >> TIME_LOG2;
	u64 wait;

	if (base_in_slow_start(base) && !is_held(control))
		return;
	if (control->phase == FIRST) {
		wait = current(control) == NEVER ? 0 : 2ULL * current(control);
		control->time = now + (u32)(wait / TICKS_PER_US >> TIME_LOG2);
		control->phase = BETWEEN;
	} else if (control->phase == RETURNING) {
		wait = INTERVAL * (u32)(now - control->time);
		control->time = now + (u32)(wait < LONGEST_INTERVAL ? wait : LONGEST_INTERVAL);
		control->phase = BETWEEN;
	} else if (!ack->new_round) {
		return;
	} else if (control->phase == BETWEEN) {
		if ((int)(now - control->time) < 0)
			return;
		base_cut(base, ONE);
		control->time = now;
		control->phase = HELD;
	} else {
		control->phase = control->phase == HELD ? HELD_LAST : RETURNING;
	}
}

/* Above the target: what a packet adds is GAIN/W, and what it takes is delay/target - 1, at most a half, times 2^32. */
inline_always void approach(struct control *control, const struct ack *ack)
{
	struct base *base = &control->base;
	u64 adds = step(base->window, ONE, ONE / divisor(control));
	u64 takes = ((u64)(delay(control) - TARGET) << 31) / (TARGET / 2);
	u64 fall, room = base->window > LEAST ? base->window - LEAST : 0;

	if (adds >= takes) {
		base->window = limited(base->window + ack->growth * (adds - takes), PACKET);
		return;
	}
	fall = takes - adds < PACKET / 2 ? takes - adds : PACKET / 2;
	fall *= ack->credit;
	base_fall_to(base, base->window - (fall < room ? fall : room));
}

inline_always void adapt(struct control *control, const struct ack *ack)
{
	struct base *base = &control->base;

	if (is_held(control)) {
		if (base->window > LEAST)
			base->window = LEAST;
	} else if (base_in_slow_start(base)) {
		base_slow_start_by(base, ack->growth * PACKET / divisor(control));
		/* An undo may lead back to where there was no threshold yet. */
		if ((control->phase == FIRST || base->ssthresh == UNLIMITED) && delay(control) > EXIT)
			base_leave_slow_start(base);
	} else if (delay(control) > TARGET) {
		approach(control, ack);
	} else {
		base_grow(base, (u64)ack->growth << 16, ONE / divisor(control));
	}
}

inline_always void control_ack(struct control *control, const struct ack *ack)
{
	if (ack->rtt)
		measure(control, ack);
	if (!ack->is_again)
		advance(control, ack);
	adapt(control, ack);
}

inline_always void control_cut(struct control *control, u64 now)
{
	struct base *base = &control->base;

	if (!is_held(control)) {
		base_cut(base, ONE / 2);
		return;
	}
	/* What the window returns to is halved. */
	base_remember(base);
	base->ssthresh = limited(base->ssthresh / 2, LEAST);
	base->window = LEAST;
}

inline_always void control_after_loss(struct control *control, u64 now)
{
}

inline_always void control_timeout(struct control *control, int first, u64 now)
{
	struct base *base = &control->base;

	if (!is_held(control)) {
		base_timeout(base, first, ONE / 2);
		return;
	}
	if (first) {
		base_remember(base);
		base->ssthresh = limited(base->ssthresh / 2, LEAST);
	}
	base->window = PACKET;
	control->phase = RETURNING;
}

inline_always void control_recovered(struct control *control)
{
}

inline_always void control_undo(struct control *control)
{
	base_undo(&control->base);
}

inline_always void control_idle(struct control *control)
{
	base_idle(&control->base);
}

inline_always void control_internals(const struct control *control, u64 *values)
{
	values[0] = ((u64)delay(control) << 16) / MILLISECOND;
	values[1] = ONE / divisor(control);
	values[2] = (u64)(is_held(control) || control->phase == RETURNING) << 16;
}

#define INTERNALS "delay_ms", "gain", "slowdown"
#include "driver.h"
