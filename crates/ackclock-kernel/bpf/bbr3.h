/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The state of BBR version 3, what its model allows, and its parameters. */
#pragma once

#include "bbr3_model.h"

/* Smallest window, packets. */
#define LEAST 4
/* Shares, times 2^16: of the model that a lossy round trip leaves, and of lt that CRUISE leaves to others. */
#define BETA (ONE * 7 / 10)
#define HEADROOM (ONE * 15 / 100)
/* What is left of a rate with the margin of 1 %. */
#define WITH_MARGIN(gain) ((gain) * 99 / 100)
#define STARTUP_GAIN (ONE * 277 / 100)
/* The RTT that the first pacing rate assumes. */
#define UNKNOWN_RTT_US 1000
/* A quantum is what is sent in a millisecond, between these: 64 KiB of 1500-byte packets. */
#define QUANTA_PER_S 1000
#define LEAST_QUANTUM (2 * PACKET)
#define LARGEST_QUANTUM (65536 * PACKET / 1500)
#define PROBE_RTT_US 200000

/* What the control is doing; what comes from which on is the cycle of probing. */
enum { STARTUP, DRAIN, DOWN, CRUISE, REFILL, UP, PROBE_RTT };
/* What acknowledgements show of the last probe. */
enum { INIT, REFILLING, STARTING, ARRIVING, STOPPING };

struct cycle {
	/* When the wait for the next probe began, and how long it is. */
	u64 began;
	u32 wait;
	/* Round trips since; cycles so far. */
	u32 rounds;
	u32 number;
	/* Acknowledged packets per packet that lt grows by, and those that it has not grown for, times 2^32. */
	u64 per_increase;
	u64 up_acked;
	u8 up_rounds;
	u8 feedback;
	/* Losses are of what a probe sent. */
	u8 takes_samples;
	/* The last probe sent too much; it ended early, at the volume that once was too much. */
	u8 was_too_high;
	u8 was_precautionary;
};

struct control {
	struct base base;
	u64 seed;
	/* Packets per second times 2^16. */
	u64 pacing;
	u64 quantum;
	/* The window to return to after recovery or ProbeRTT. */
	u64 saved;
	/* Packets delivered in all, when the control began, and where this round trip ends. */
	u32 delivered;
	u32 delivered_before;
	u32 round_end;
	/* The same for round trips that begin with a loss. */
	u32 loss_round_end;
	u32 round;
	u32 in_flight;
	u8 state;
	u8 recovering;
	u8 round_start;
	u8 loss_round_start;
	u8 loss_in_round;
	/* Acknowledgements with losses in this round trip. */
	u8 lossy_acks;
	u8 idle_restart;
	u8 probe_rtt_round;
	/* What was sent between these two counts of delivered packets was limited by ProbeRTT. */
	u8 was_in_probe_rtt;
	u32 limited_from;
	u32 limited_to;
	/* When ProbeRTT may end, once it is long enough; 0 before. */
	u64 probe_rtt_ends;
	struct losses losses;
	struct largest_rate rate;
	/* The rate of the model; bounds between probes, and of the volume in the long run, or UNLIMITED. */
	u64 bw;
	u64 bst;
	u64 st;
	u64 lt;
	/* Largest rate and volume of this loss round trip. */
	u64 bw_latest;
	u64 latest;
	/* bst, st and lt before the losses of this round trip. */
	u64 bst_before;
	u64 st_before;
	u64 lt_before;
	struct aggregation aggregation;
	struct full_pipe full;
	struct least_rtt rtt;
	struct cycle cycle;
};

inline_always int is_probe_bw(const struct control *control)
{
	return control->state >= DOWN && control->state <= UP;
}

/* Losses are expected, and do not lower the model between probes. */
inline_always int is_probing(const struct control *control)
{
	return control->state == STARTUP || control->state == REFILL || control->state == UP;
}

inline_always u32 pacing_gain(const struct control *control)
{
	switch (control->state) {
	case STARTUP:
		return WITH_MARGIN(STARTUP_GAIN);
	case DRAIN:
		return WITH_MARGIN(ONE * 1000 / 2885);
	case DOWN:
		return WITH_MARGIN(ONE * 91 / 100);
	case UP:
		return WITH_MARGIN(ONE * 125 / 100);
	default:
		return WITH_MARGIN(ONE);
	}
}

/* Times 4. */
inline_always u32 window_gain(const struct control *control)
{
	switch (control->state) {
	case UP:
		return 9;
	case PROBE_RTT:
		return 4;
	default:
		return 8;
	}
}

/* Packets in flight that fill the path at a rate; the initial window while no RTT is known. */
inline_always u64 bdp(const struct control *control, u64 rate)
{
	return control->rtt.us ? volume_in(rate, control->rtt.us) : control->base.restart * PACKET;
}

inline_always u64 target_in_flight(const struct control *control)
{
	return least(bdp(control, control->bw), control->base.window);
}

/* lt with room for others. */
inline_always u64 with_headroom(const struct control *control)
{
	u64 lt = control->lt;

	if (lt == UNLIMITED)
		return lt;
	return most(lt - least(most(scaled(lt, HEADROOM), PACKET), lt), LEAST * PACKET);
}

/* A volume with room for the quanta of sender and receiver. */
inline_always u64 quantized(const struct control *control, u64 volume)
{
	u64 probing = control->state == UP ? 2 * PACKET : 0;

	return most(most(volume, 3 * control->quantum), LEAST * PACKET) + probing;
}

inline_always u64 max_in_flight(const struct control *control)
{
	u64 volume = bdp(control, control->bw);

	if (control->rtt.us)
		volume = volume / 4 * window_gain(control);
	return quantized(control, volume + aggregate(&control->aggregation, control->full.reached));
}

inline_always u64 probe_rtt_window(const struct control *control)
{
	return most(bdp(control, control->bw) / 2, LEAST * PACKET);
}

inline_always void bound_window(struct control *control)
{
	u64 cap = UNLIMITED, window = most(control->base.window, LEAST * PACKET);

	if (control->state == CRUISE || control->state == PROBE_RTT)
		cap = with_headroom(control);
	else if (control->state >= DOWN)
		cap = control->lt;
	window = least(window, most(least(cap, control->st), LEAST * PACKET));
	if (control->state == PROBE_RTT)
		window = least(window, probe_rtt_window(control));
	control->base.window = limited(window, PACKET);
}

/* The window grows by `acked` packets, within the model. */
inline_always void set_window(struct control *control, u32 acked)
{
	u64 cap = max_in_flight(control), window = control->base.window;
	int is_first = control->delivered - control->delivered_before < 2 * control->base.restart;

	if (is_first || (!control->full.reached && window < cap))
		window += acked * PACKET;
	else if (control->full.reached)
		window = least(window + acked * PACKET, cap);
	control->base.window = window;
	bound_window(control);
}

inline_always void set_pacing(struct control *control, u64 rate)
{
	control->pacing = least(rate, LARGEST_RATE);
	control->quantum = most(least(control->pacing / QUANTA_PER_S << 16, LARGEST_QUANTUM), LEAST_QUANTUM);
}

/* The rate of the model with a gain, times 2^16. */
inline_always u64 paced(const struct control *control, u32 gain)
{
	return control->bw * gain >> 16;
}

inline_always void pace(struct control *control)
{
	u64 rate = paced(control, pacing_gain(control));

	if (rate && (control->full.reached || rate > control->pacing))
		set_pacing(control, rate);
}

inline_always void save_window(struct control *control)
{
	int keeps = control->recovering || control->state == PROBE_RTT;

	control->saved = keeps ? most(control->saved, control->base.window) : control->base.window;
}

inline_always void start_round(struct control *control)
{
	control->round_end = control->delivered;
}
