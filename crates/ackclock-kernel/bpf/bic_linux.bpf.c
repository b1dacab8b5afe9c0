// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * BIC as in Linux (behaviour of tcp_bic.c): ACKs per packet of growth in whole numbers, a quarter of the distance to
 * the last maximum per round trip, at most 16 packets; a loss event keeps 819/1024. The estimate of packets per ACK,
 * in 16ths, makes up for delayed ACKs above 14 packets, and never falls below 31/16. A timeout makes it forget both.
 */
#include "control.h"

#define LOW_WINDOW 14U
#define MAX_INCREMENT 16U
#define SMOOTH_PART 20U
#define B 4U
#define LARGEST_COUNT_BEFORE_LOSS 20U
#define KEEP (819U * 64)
/* (1024 + 819)/2048. */
#define CONVERGENCE(window) ((window) * 1843ULL / 2048)

struct control {
	struct base base;
	/* Window of the last loss, whole packets; 0 before the first, and after a timeout. */
	u32 last_max;
	/* Packets per ACK, times 16. */
	u32 ack_ratio;
	/* Packets delivered by now, and by this ACK. */
	u32 delivered;
	u32 newly;
};

inline_always void control_start(struct control *control)
{
	control->ack_ratio = 2 * 16;
}

/* The window in whole packets: n times 1/n of a packet are one, whatever rounding makes of them. */
inline_always u32 whole_packets(u64 window)
{
	return (window + (PACKET >> 12)) >> 32;
}

/* ACKs per packet of growth. */
inline_always u32 count(const struct control *control)
{
	u32 window = whole_packets(control->base.window), last_max = control->last_max, distance, found;
	u64 slow = (u64)window * SMOOTH_PART / B;

	if (window <= LOW_WINDOW)
		return window;
	found = window / MAX_INCREMENT;
	if (window < last_max) {
		distance = (last_max - window) / B;
		if (distance <= 1)
			found = slow < NEVER ? slow : NEVER;
		else if (distance <= MAX_INCREMENT)
			found = window / distance;
	} else if (window < last_max + B) {
		found = slow < NEVER ? slow : NEVER;
	} else if (window < last_max + MAX_INCREMENT * (B - 1)) {
		found = (u64)window * (B - 1) / (window - last_max);
	}
	if (!last_max && found > LARGEST_COUNT_BEFORE_LOSS)
		found = LARGEST_COUNT_BEFORE_LOSS;
	return found ? found : 1;
}

inline_always void control_ack(struct control *control, const struct ack *ack)
{
	struct base *base = &control->base;
	u64 growth;
	u32 acks;

	if (!ack->is_again)
		control->newly = ack->delivered - control->delivered;
	control->delivered = ack->delivered;
	if (ack->growth)
		control->ack_ratio = control->ack_ratio - control->ack_ratio / 16 + (u16)control->newly;
	growth = base_slow_start(base, ack->growth);
	if (!growth)
		return;
	acks = count(control);
	if (whole_packets(base->window) > LOW_WINDOW) {
		acks = 16ULL * acks / control->ack_ratio;
		if (!acks)
			acks = 1;
	}
	base->window = limited(base->window + (growth << 16) / acks, PACKET);
}

inline_always u32 control_keep(const struct control *control, u64 now)
{
	return whole_packets(control->base.window) <= LOW_WINDOW ? ONE / 2 : KEEP;
}

inline_always void note_maximum(struct control *control, u64 lost_at)
{
	u32 window = whole_packets(lost_at);

	control->last_max = window < control->last_max ? CONVERGENCE(window) : window;
}

inline_always void control_after_loss(struct control *control, u64 now)
{
	note_maximum(control, control->base.window_before);
}

inline_always void control_timeout(struct control *control, int first, u64 now)
{
	base_timeout(&control->base, first, control_keep(control, now));
	control->last_max = 0;
	control->ack_ratio = 2 * 16;
}

inline_always void control_internals(const struct control *control, u64 *values)
{
	values[0] = (u64)control->last_max << 16;
	values[1] = (control->base.window >> 16) / count(control);
}

#define INTERNALS "last_max", "alpha"
#include "driver.h"
