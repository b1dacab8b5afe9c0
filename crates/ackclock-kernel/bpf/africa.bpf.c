// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * TCP-Africa: R. King, R. Baraniuk, R. Riedi, INFOCOM 2005, section III.
 *
 * While fewer than 1.65 packets are queued, W (aRTT - minRTT) < 1.65 aRTT, it grows as HighSpeed TCP, otherwise
 * as Reno; a loss event takes HighSpeed TCP's decrease. aRTT is smoothed with gain 1/8.
 */
#include "control.h"

/* Times 2^8, as the window in the comparison. */
#define QUEUED 422U
/* Beyond these more than enough is queued; below them nothing overflows. */
#define LARGEST_COMPARED (1U << 24)
#define LARGEST_DELAY (1U << 28)

struct control {
	struct base base;
	/* aRTT in ticks times 2^8, and minRTT in ticks; 0 before the first sample. */
	u64 smoothed;
	u32 least;
	u8 is_fast;
};

#include "hstcp.h"

inline_always void control_start(struct control *control)
{
	control->is_fast = 1;
}

inline_always void measure(struct control *control, u32 rtt)
{
	u64 delay, packets = control->base.window >> 32;

	if (rtt && !control->smoothed) {
		control->smoothed = (u64)rtt << 8;
		control->least = rtt;
	} else if (rtt) {
		control->smoothed = control->smoothed - (control->smoothed >> 3) + ((u64)rtt << 5);
		if (rtt < control->least)
			control->least = rtt;
	}
	if (!control->smoothed)
		return;
	/* Rounding of the mean may take it below the least. */
	delay = control->smoothed >> 8 > control->least ? control->smoothed - ((u64)control->least << 8) : 0;
	if (packets >= LARGEST_COMPARED || delay >> 8 >= LARGEST_DELAY)
		control->is_fast = !delay;
	else
		/* Both sides times 2^8: below 2^(24 + 36). */
		control->is_fast = (control->base.window >> 24) * (delay >> 4) < QUEUED * (control->smoothed >> 4);
}

inline_always void control_ack(struct control *control, const struct ack *ack)
{
	u64 growth;

	measure(control, ack->rtt);
	growth = base_slow_start(&control->base, ack->growth);
	if (growth)
		base_grow(&control->base, growth, control->is_fast ? hstcp_at(control->base.window).a : ONE);
}

inline_always void control_internals(const struct control *control, u64 *values)
{
	values[0] = (u64)control->is_fast << 16;
}

#define INTERNALS "fast"
#include "driver.h"
