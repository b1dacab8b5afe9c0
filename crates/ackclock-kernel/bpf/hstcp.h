/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * a(W) and b(W) of HighSpeed TCP (RFC 3649, section 5), by a table that the build makes of the formulas:
 * eight rows per doubling of the window from LOWEST on, and straight lines between them. Beyond the last row
 * they stay. And what a loss event and a timeout do, which is b(W) and Reno's half. The file that includes it defines
 * struct control before.
 */
#pragma once

#include "hstcp_table.h"

struct increase_and_cut {
	/* Times 2^16. */
	u32 a;
	u32 b;
};

inline_always struct increase_and_cut hstcp_at(u64 window)
{
	u32 packets = window >> 32, octave = 0, row, part;
	struct increase_and_cut found = { ONE, ONE / 2 };
	u64 first, width;

	if (packets < LOWEST)
		return found;
	for (u32 doubling = 0; doubling < OCTAVES; doubling++)
		if ((packets >> doubling) >= 2 * LOWEST)
			octave = doubling + 1;
	/* An octave from first on is eight rows of this width. */
	first = ((u64)LOWEST << octave) * PACKET;
	width = first / ROWS;
	row = octave * ROWS + (u32)((window - first) / width);
	if (row >= OCTAVES * ROWS) {
		found.a = hstcp_table[OCTAVES * ROWS].a;
		found.b = hstcp_table[OCTAVES * ROWS].b;
		return found;
	}
	part = (((window - first) % width) << 8) / (width >> 8);
	found.a = hstcp_table[row].a + (u32)(((u64)(hstcp_table[row + 1].a - hstcp_table[row].a) * part) >> 16);
	found.b = hstcp_table[row].b - (u32)(((u64)(hstcp_table[row].b - hstcp_table[row + 1].b) * part) >> 16);
	return found;
}

inline_always u32 control_keep(const struct control *control, u64 now)
{
	return ONE - hstcp_at(control->base.window).b;
}

inline_always void control_after_loss(struct control *control, u64 now)
{
}

inline_always void control_timeout(struct control *control, int first, u64 now)
{
	base_timeout(&control->base, first, ONE / 2);
}
