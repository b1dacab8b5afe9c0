// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * TCP Westwood+: S. Mascolo, L. Grieco, CCR 34(2), 2004.
 *
 * It grows as Reno. Per loss event ssthresh becomes the estimated bandwidth times RTTmin, and the window no more than
 * that; at a timeout too. The bandwidth is one sample per round trip of everything delivered, filtered with gain 0.1.
 */
#include "control.h"

#define MICROSECONDS 1000000ULL
/* More packets than this in one sample are not told apart: nothing overflows. */
#define LARGEST_SAMPLE (1ULL << 27)

struct control {
	struct base base;
	/* Packets per second times 2^16; 0 before the first sample. */
	u64 bandwidth;
	/* When the sample began, and what had been delivered by then. */
	u64 began;
	u32 delivered;
	/* RTTmin, ticks. */
	u32 rtt_min;
	u32 round;
	u8 has_begun;
};

inline_always void control_start(struct control *control)
{
	control->rtt_min = NEVER;
}

inline_always void begin(struct control *control, const struct ack *ack)
{
	control->began = ack->now;
	control->delivered = ack->delivered;
	control->round = ack->round;
	control->has_begun = 1;
}

inline_always void measure(struct control *control, const struct ack *ack)
{
	u64 span, packets, sample;

	if (ack->rtt && ack->rtt < control->rtt_min)
		control->rtt_min = ack->rtt;
	if (!control->has_begun) {
		begin(control, ack);
		return;
	}
	span = ack->now - control->began;
	if (ack->round == control->round || !span)
		return;
	packets = ack->delivered - control->delivered;
	if (packets > LARGEST_SAMPLE)
		packets = LARGEST_SAMPLE;
	sample = (packets << 16) * MICROSECONDS / span;
	control->bandwidth = control->bandwidth ? (9 * control->bandwidth + sample) / 10 : sample;
	begin(control, ack);
}

inline_always void control_ack(struct control *control, const struct ack *ack)
{
	u64 growth;

	if (!ack->is_again)
		measure(control, ack);
	growth = base_slow_start(&control->base, ack->growth);
	base_grow(&control->base, growth, ONE);
}

/* Bandwidth times RTTmin over the window, times 2^16; half before the first estimate. */
inline_always u64 share_of_pipe(const struct control *control)
{
	u64 pipe;

	if (!control->bandwidth || control->rtt_min == NEVER)
		return ONE / 2;
	/* Packets times 2^16; before it is divided a product of at most 2^36 and 2^28. */
	pipe = (control->bandwidth >> 4) * (control->rtt_min / TICKS_PER_US) / (MICROSECONDS / 16);
	return (pipe << 16) / (control->base.window >> 16);
}

inline_always u32 control_keep(const struct control *control, u64 now)
{
	u64 share = share_of_pipe(control);

	return share < ONE ? share : ONE;
}

inline_always void control_after_loss(struct control *control, u64 now)
{
}

inline_always void control_timeout(struct control *control, int first, u64 now)
{
	u64 share = share_of_pipe(control);

	base_timeout(&control->base, first, share < NEVER ? share : NEVER);
}

inline_always void control_internals(const struct control *control, u64 *values)
{
	values[0] = control->bandwidth;
}

#define INTERNALS "bandwidth_packets_per_s"
#include "driver.h"
