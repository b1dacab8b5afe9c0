/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What every congestion control of this folder shares: its state, fixed-point arithmetic, slow start, and
 * the reactions to losses and timeouts, as ackclock_cc::parts::Base has them.
 *
 * A control is written against signals, not against the kernel: kernel.h makes signals of the kernel's
 * callbacks, host.h lets other programs send them. So the very functions that run in the kernel can be
 * tried and simulated outside of it.
 *
 * Windows are packets times 2^32, factors and increases are numbers times 2^16, times are ticks of a
 * sixteenth of a microsecond. There is no floating point and no signed division in BPF.
 */
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define inline_always static inline __attribute__((always_inline))

/*
 * A function that the kernel's verifier looks at alone, so that its paths do not multiply with those of others. It
 * returns a number, even if nobody asks, and each of its pointers is GIVEN. Needs Linux 6.8.
 */
#ifdef __BPF__
#define checked_alone __attribute__((noinline)) int
#define GIVEN __attribute__((btf_decl_tag("arg:nonnull")))
#else
#define checked_alone static int
#define GIVEN
#endif

#define PACKET (1ULL << 32)
#define ONE (1U << 16)
#define TICKS_PER_US 16U
/* No window grows beyond this, packets: the largest that the kernel sends. */
#define LARGEST (1ULL << 30)
#define UNLIMITED (~0ULL)
#define NEVER (~0U)

/* Window and slow-start threshold, packets times 2^32. */
struct base {
	u64 window;
	u64 ssthresh;
	/* Before the last loss event or first timeout, for undo. */
	u64 window_before;
	u64 ssthresh_before;
	/* The initial window, packets. */
	u32 restart;
};

/* An acknowledgement, as a control sees it; as AckOfC in src/twin.rs. */
struct ack {
	/* When it came, microseconds of a clock that never runs back. */
	u64 now;
	/* Packets that the window may grow by per window; 0 in recovery or when something else limits. */
	u32 growth;
	/* The round-trip time that it measures, ticks; 0 if it measures none. */
	u32 rtt;
	/* Round trips since the start of the connection. */
	u32 round;
	/* Packets that have been delivered since then, in all; it may wrap. */
	u32 delivered;
	/* Those of them that came marked, as far as the peer has told; it may wrap. */
	u32 marked;
	/* Packets that it newly reports as received, also where no window may grow; only set if FALLS is defined. */
	u32 credit;
	/* The acknowledgement before once more, now with its growth: the kernel tells them apart. */
	u8 is_again;
	/* A loss episode is in progress: growth alone does not tell, it is 0 also when something else limits. */
	u8 recovering;
	/* The first one of its round trip. */
	u8 new_round;
	/* The window, not the application, was what limited sending; told with the credit. */
	u8 window_limited;
	/*
	 * For controls that define RATE, else 0. The window limited sending in this round trip or the one before; the
	 * application limited what the delivery rate is measured by.
	 */
	u8 round_limited;
	u8 application_limited;
	/* Packets that it newly reports as received, that are in flight after it, and lost since the one before. */
	u32 acked;
	u32 in_flight;
	u32 lost;
	/*
	 * The delivery rate: packets over an interval, microseconds, 0 if too short to tell; and what had been delivered in
	 * all when the newest of them was sent.
	 */
	u32 sampled;
	u32 interval;
	u32 prior;
};

/*
 * Whether an acknowledgement of all bytes before `acknowledged` ends the round trip that began with the byte `*begin`: that of
 * this byte does (RFC 8257, section 3.3, step 3; sequence numbers wrap). The next one begins with the byte sent next, `next`.
 */
inline_always int ends_round_trip(u32 *begin, u32 acknowledged, u32 next)
{
	if ((int)(acknowledged - *begin) <= 0)
		return 0;
	*begin = next;
	return 1;
}

inline_always u64 limited(u64 window, u64 least)
{
	if (window < least)
		return least;
	return window > LARGEST * PACKET ? LARGEST * PACKET : window;
}

/* A window times a factor of at most 1, times 2^16. */
inline_always u64 scaled(u64 window, u32 factor)
{
	return (window >> 16) * factor + (((window & 0xffff) * factor) >> 16);
}

/* What is added for `growth` packets at `increase` packets per window, both times 2^16; rounded. */
inline_always u64 step(u64 window, u64 growth, u32 increase)
{
	u64 amount = (growth * increase) >> 16;
	u64 divisor = window >> 16;

	if (amount >> 31)
		return (((amount << 16) + divisor / 2) / divisor) << 16;
	return ((amount << 32) + divisor / 2) / divisor;
}

inline_always void base_start(struct base *base, u32 window, u64 ssthresh)
{
	base->window = limited((u64)window * PACKET, PACKET);
	base->ssthresh = ssthresh < 2 * PACKET ? 2 * PACKET : ssthresh;
	base->window_before = base->window;
	base->ssthresh_before = base->ssthresh;
	base->restart = window;
}

inline_always int base_in_slow_start(const struct base *base)
{
	return base->window < base->ssthresh;
}

/* Slow start by `wanted` packets times 2^32: what is left of them for congestion avoidance, times 2^16. */
inline_always u64 base_slow_start_by(struct base *base, u64 wanted)
{
	u64 room;

	if (!base_in_slow_start(base))
		return wanted >> 16;
	room = base->ssthresh - base->window;
	if (wanted <= room) {
		base->window = limited(base->window + wanted, PACKET);
		return 0;
	}
	base->window = base->ssthresh;
	return (wanted - room) >> 16;
}

/* Slow start (RFC 5681, section 3.1) for `growth` packets: what is left of them, times 2^16. */
inline_always u64 base_slow_start(struct base *base, u32 growth)
{
	return base_slow_start_by(base, (u64)growth * PACKET);
}

inline_always void base_leave_slow_start(struct base *base)
{
	base->ssthresh = limited(base->window, 2 * PACKET);
}

/* The window falls without a loss event; ssthresh falls with it, lest slow start bring the window back. */
inline_always void base_fall_to(struct base *base, u64 window)
{
	base->window = limited(window, PACKET);
	if (base->ssthresh > base->window)
		base_leave_slow_start(base);
}

inline_always void base_grow(struct base *base, u64 growth, u32 increase)
{
	base->window = limited(base->window + step(base->window, growth, increase), PACKET);
}

/* What an undo returns to is as it is now. */
inline_always void base_remember(struct base *base)
{
	base->window_before = base->window;
	base->ssthresh_before = base->ssthresh;
}

/* A loss event that keeps the fraction `keep`, times 2^16; at least 2 packets. */
inline_always void base_cut(struct base *base, u32 keep)
{
	base_remember(base);
	base->window = limited(scaled(base->window, keep), 2 * PACKET);
	base->ssthresh = base->window;
}

/* A cut for marks, as after a loss event, but it never raises the window. */
inline_always void base_cut_for_marks(struct base *base, u32 keep)
{
	u64 before = base->window;

	base_cut(base, keep);
	if (base->window > before)
		base->window = before;
}

/* A loss event in a window of data that was cut already: its cut takes the place of the one before. */
inline_always void base_cut_again(struct base *base, u32 keep)
{
	u64 reduced = scaled(base->window_before, keep);

	base->window_before = base->window;
	base->ssthresh_before = base->ssthresh;
	base->window = limited(reduced < base->window ? reduced : base->window, 2 * PACKET);
	base->ssthresh = base->window;
}

/* A timeout; ssthresh becomes the fraction `keep` of the window if it is the first of its packet. */
inline_always void base_timeout(struct base *base, int first, u32 keep)
{
	if (first) {
		base->window_before = base->window;
		base->ssthresh_before = base->ssthresh;
		base->ssthresh = limited(scaled(base->window, keep), 2 * PACKET);
	}
	base->window = PACKET;
}

inline_always void base_undo(struct base *base)
{
	base->window = base->window_before;
	base->ssthresh = base->ssthresh_before;
}

/* No more than the initial window after an idle time (RFC 5681, section 4.1). */
inline_always void base_idle(struct base *base)
{
	if (base->window > (u64)base->restart * PACKET)
		base->window = limited((u64)base->restart * PACKET, PACKET);
}

/*
 * A control defines struct control (whose first member is struct base base), and, times being microseconds,
 *   control_start(control)                  sets up what is not base; all else is zero
 *   control_ack(control, ack)               measures and grows
 *   control_keep(control, now)              the fraction that a loss event leaves of the window, times 2^16
 *   control_after_loss(control, now)        what else a loss event changes
 *   control_timeout(control, first, now)    cuts, through base_timeout
 * and, when it answers marks otherwise than losses, and defines MARKS,
 *   control_keep_marked(control)            the fraction that the marks of a window of data leave, times 2^16
 * and, when its window falls without loss events, too, and it defines FALLS, these in place of control_keep,
 *   control_cut(control, now)               a loss event: what base_cut does
 *   control_recovered(control)              the end of a loss episode
 *   control_undo(control)                   what base_undo does
 *   control_idle(control)                   what base_idle does
 * and, when packets are to be paced, PACING_GAIN, windows per smoothed RTT,
 * or, when it sets window and pacing by the delivery rate, losses or not, and defines RATE, after a member
 * u64 pacing, packets per second times 2^16,
 *   control_start(control)                  as above; seed and what has been delivered are set
 *   control_ack(control, ack)               measures, and sets both
 *   control_loss(control)                   a loss event; control_recovered(control) when it is over
 *   control_timeout(control)                and control_undo(control)
 *   control_restart(control, now)           sends again with nothing in flight, after the application had nothing
 * and, when it has internals for the trace, at most MOST_INTERNALS,
 *   control_internals(control, values)      each times 2^16, or NEVER_KNOWN; their names are INTERNALS
 * It ends with driver.h, which makes it what the build asks for.
 */
#define MOST_INTERNALS 8
#define NEVER_KNOWN (~0ULL)
