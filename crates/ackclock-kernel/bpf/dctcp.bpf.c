// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Data Center TCP: RFC 8257.
 *
 * Per round trip, of whose packets the share M came marked, alpha += (M - alpha)/16. The first mark of a window of data
 * cuts it to W (1 - alpha/2). The rest is Reno's, but that the kernel lets no window grow while a cut is answered.
 */
#define MARKS
#include "control.h"

/* An alpha of 1. */
#define WHOLE_ALPHA (1U << 30)
/* g = 1/16. */
#define GAIN_LOG2 4

struct control {
	struct base base;
	/* Times 2^30. */
	u32 alpha;
	u32 share;
	/* This round trip, and what had been delivered and marked when it began. */
	u32 round;
	u32 delivered;
	u32 marked;
};

inline_always void control_start(struct control *control)
{
	control->alpha = WHOLE_ALPHA;
}

inline_always void count(struct control *control, const struct ack *ack)
{
	u32 delivered = ack->delivered - control->delivered;
	u32 marked = ack->marked - control->marked;

	if (ack->round == control->round)
		return;
	if (delivered) {
		control->share = marked < delivered ? ((u64)marked << 30) / delivered : WHOLE_ALPHA;
		control->alpha -= control->alpha >> GAIN_LOG2;
		control->alpha += control->share >> GAIN_LOG2;
	}
	control->round = ack->round;
	control->delivered = ack->delivered;
	control->marked = ack->marked;
}

inline_always void control_ack(struct control *control, const struct ack *ack)
{
	if (!ack->is_again)
		count(control, ack);
	base_grow(&control->base, base_slow_start(&control->base, ack->growth), ONE);
}

inline_always u32 control_keep(const struct control *control, u64 now)
{
	return ONE / 2;
}

inline_always u32 control_keep_marked(const struct control *control)
{
	/* Half of alpha, times 2^16. */
	return ONE - (control->alpha >> 15);
}

inline_always void control_after_loss(struct control *control, u64 now)
{
}

inline_always void control_timeout(struct control *control, int first, u64 now)
{
	base_timeout(&control->base, first, ONE / 2);
}

inline_always void control_internals(const struct control *control, u64 *values)
{
	values[0] = control->alpha >> 14;
	values[1] = control->share >> 14;
}

#define INTERNALS "alpha", "marked_share"
#include "driver.h"
