/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* A control outside of the kernel: a table of functions that send it signals. */
#pragma once

/* Room for any control. The kernel itself provides as much as the first, and the second in a map. */
#define STATE_BYTES 104
#define RATE_STATE_BYTES 640

#ifdef RATE
_Static_assert(sizeof(struct control) <= RATE_STATE_BYTES, "too large for the twin");
#else
_Static_assert(sizeof(struct control) <= STATE_BYTES, "too large for the kernel");
#endif

/* As Functions in src/twin.rs. */
struct functions {
	void (*start)(struct control *control, u32 window, u64 ssthresh, u64 seed);
	void (*ack)(struct control *control, const struct ack *ack);
	void (*loss)(struct control *control, u64 now);
	void (*timeout)(struct control *control, int first, u64 now);
	void (*undo)(struct control *control);
	void (*idle)(struct control *control);
	void (*internals)(const struct control *control, u64 *values);
	/* Where marks are not losses: a cut for them, and a loss in a window of data that was cut already. */
	void (*mark)(struct control *control);
	void (*loss_again)(struct control *control, u64 now);
	void (*recovered)(struct control *control);
	/* Of controls that set the rate, too: sending again, and packets per second times 2^16. */
	void (*restart)(struct control *control, u64 now);
	u64 (*pacing)(const struct control *control);
	/* How the kernel counts round trips. */
	int (*ends_round_trip)(u32 *begin, u32 acknowledged, u32 next);
	/* Windows per smoothed RTT at which packets are paced; 0 where that is left to the stack. */
	u32 pacing_gain;
	const char *names[MOST_INTERNALS];
};

static void host_start(struct control *control, u32 window, u64 ssthresh, u64 seed)
{
	*control = (struct control){ 0 };
	base_start(&control->base, window, ssthresh);
#ifdef RATE
	control->seed = seed;
#endif
	control_start(control);
}

static void host_ack(struct control *control, const struct ack *ack)
{
	control_ack(control, ack);
}

static void host_internals(const struct control *control, u64 *values)
{
	control_internals(control, values);
}

static int host_ends_round_trip(u32 *begin, u32 acknowledged, u32 next)
{
	return ends_round_trip(begin, acknowledged, next);
}

#ifdef RATE
static void host_loss(struct control *control, u64 now)
{
	control_loss(control);
}

static void host_timeout(struct control *control, int first, u64 now)
{
	control_timeout(control);
}

static void host_undo(struct control *control)
{
	control_undo(control);
}

/* What it knows outlives an idle time. */
static void host_idle(struct control *control)
{
}

static void host_recovered(struct control *control)
{
	control_recovered(control);
}

static void host_restart(struct control *control, u64 now)
{
	control_restart(control, now);
}

static u64 host_pacing(const struct control *control)
{
	return control->pacing;
}
#else
static void host_loss(struct control *control, u64 now)
{
	control_cut(control, now);
	control_after_loss(control, now);
}

static void host_timeout(struct control *control, int first, u64 now)
{
	control_timeout(control, first, now);
}

static void host_undo(struct control *control)
{
	control_undo(control);
}

static void host_idle(struct control *control)
{
	control_idle(control);
}

static void host_recovered(struct control *control)
{
	control_recovered(control);
}

#define host_restart 0
#define host_pacing 0
#endif

#ifdef MARKS
static void host_mark(struct control *control)
{
	base_cut_for_marks(&control->base, control_keep_marked(control));
}

static void host_loss_again(struct control *control, u64 now)
{
	base_cut_again(&control->base, control_keep(control, now));
	control_after_loss(control, now);
}
#else
#define host_mark 0
#define host_loss_again 0
#endif

#define JOINED(one, other) one##other
#define TABLE(name) JOINED(ackclock_, name)

const struct functions TABLE(NAME) = {
	host_start,	host_ack,  host_loss,	    host_timeout,   host_undo,	  host_idle,
	host_internals, host_mark, host_loss_again, host_recovered, host_restart, host_pacing,
	host_ends_round_trip, PACING_GAIN, { INTERNALS },
};
