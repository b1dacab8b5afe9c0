/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Extremes of a sliding time in one word: those of four stretches of it as codes, the present one in the lowest bits. The
 * smallest have 16 bits each, the largest 8, of which 0 is none.
 */
#pragma once

#include "compact.h"

#define FEW_DIGITS 3
#define NO_CODES (~0ULL)

/* So many stretches are over. */
inline_always u64 turned(u64 codes, u32 turns)
{
	return turns < 4 ? codes << 16 * turns | ~(NO_CODES << 16 * turns) : NO_CODES;
}

inline_always u32 smallest(u64 codes)
{
	u32 least = NO_CODE;

	_Pragma("GCC unroll 4") for (u32 place = 0; place < 64; place += 16)
		if ((codes >> place & 0xffff) < least)
			least = codes >> place & 0xffff;
	return least;
}

/* With a code in the present stretch. */
inline_always u64 noted(u64 codes, u32 code)
{
	return code < (codes & 0xffff) ? (codes & ~0xffffULL) | code : codes;
}

/* All less by `by`. */
inline_always u64 lowered(u64 codes, u32 by)
{
	u64 result = 0;

	_Pragma("GCC unroll 4") for (u32 place = 0; place < 64; place += 16) {
		u32 code = codes >> place & 0xffff;
		u32 value = unpacked(code, DIGITS);

		if (code != NO_CODE)
			code = packed(value > by ? value - by : 0, DIGITS);
		result |= (u64)code << place;
	}
	return result;
}

/* The largest likewise: each more by `more` and then less by `less`. */
inline_always u32 rebased(u32 codes, u32 more, u32 less)
{
	u32 result = 0;

	_Pragma("GCC unroll 4") for (u32 place = 0; place < 32; place += 8) {
		u32 code = codes >> place & 0xff;
		u32 value = code ? unpacked(code - 1, FEW_DIGITS) + more : 0;

		if (code)
			code = packed(value > less ? value - less : 0, FEW_DIGITS) + 1;
		result |= code << place;
	}
	return result;
}

inline_always u32 turned_largest(u32 codes, u32 turns)
{
	return turns < 4 ? codes << 8 * turns : 0;
}

inline_always u32 noted_largest(u32 codes, u32 value)
{
	u32 code = packed(value, FEW_DIGITS) + 1;

	return code > (codes & 0xff) ? (codes & ~0xffU) | code : codes;
}

inline_always u32 unpacked_largest(u32 codes)
{
	u32 most = 1;

	_Pragma("GCC unroll 4") for (u32 place = 0; place < 32; place += 8)
		if ((codes >> place & 0xff) > most)
			most = codes >> place & 0xff;
	return unpacked(most - 1, FEW_DIGITS);
}
