/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* A control outside of the kernel: a table of functions that give it signals. */
#pragma once

/* Room for any control; the kernel gives as much. */
#define STATE_BYTES 104

struct control;

/* As Functions in src/twin.rs. */
struct functions {
	void (*start)(struct control *control, u32 window, u64 ssthresh);
	void (*ack)(struct control *control, u32 growth, u32 rtt, u32 round);
	void (*loss)(struct control *control);
	void (*timeout)(struct control *control, int first);
	void (*undo)(struct control *control);
	void (*idle)(struct control *control);
};

#define CONTROL(NAME)                                                                              \
	_Static_assert(sizeof(struct control) <= STATE_BYTES, "too large for the kernel");         \
	static void host_start(struct control *control, u32 window, u64 ssthresh)                  \
	{                                                                                          \
		*control = (struct control){ 0 };                                                  \
		base_start(&control->base, window, ssthresh);                                      \
		control_start(control);                                                            \
	}                                                                                          \
	static void host_ack(struct control *control, u32 growth, u32 rtt, u32 round)              \
	{                                                                                          \
		struct ack ack = { .growth = growth, .rtt = rtt, .round = round };                 \
		control_ack(control, &ack);                                                        \
	}                                                                                          \
	static void host_loss(struct control *control)                                             \
	{                                                                                          \
		base_cut(&control->base, control_keep(control));                                   \
		control_after_loss(control);                                                       \
	}                                                                                          \
	static void host_timeout(struct control *control, int first)                               \
	{                                                                                          \
		control_timeout(control, first);                                                   \
	}                                                                                          \
	static void host_undo(struct control *control)                                             \
	{                                                                                          \
		base_undo(&control->base);                                                         \
	}                                                                                          \
	static void host_idle(struct control *control)                                             \
	{                                                                                          \
		base_idle(&control->base);                                                         \
	}                                                                                          \
	const struct functions ackclock_##NAME = { host_start,   host_ack,  host_loss,             \
						   host_timeout, host_undo, host_idle };
