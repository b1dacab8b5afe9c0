/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* A control outside of the kernel: a table of functions that give it signals. */
#pragma once

/* Room for any control; the kernel gives as much. */
#define STATE_BYTES 104

_Static_assert(sizeof(struct control) <= STATE_BYTES, "too large for the kernel");

/* As Functions in src/twin.rs. */
struct functions {
	void (*start)(struct control *control, u32 window, u64 ssthresh);
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
	/* Windows per smoothed RTT at which packets are paced; 0 where that is left to the stack. */
	u32 pacing_gain;
	const char *names[MOST_INTERNALS];
};

static void host_start(struct control *control, u32 window, u64 ssthresh)
{
	*control = (struct control){ 0 };
	base_start(&control->base, window, ssthresh);
	control_start(control);
}

static void host_ack(struct control *control, const struct ack *ack)
{
	control_ack(control, ack);
}

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

static void host_internals(const struct control *control, u64 *values)
{
	control_internals(control, values);
}

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
	host_start, host_ack,	    host_loss, host_timeout,	host_undo,	host_idle,
	host_internals, host_mark,  host_loss_again, host_recovered, PACING_GAIN, { INTERNALS },
};
