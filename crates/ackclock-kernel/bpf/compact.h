/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Numbers in few bits: `bits` binary digits after the first one, rounded, and a power of two. Larger numbers have larger
 * codes, and those below 2^(bits + 1) are their own.
 */
#pragma once

inline_always u32 packed(u32 value, u32 bits)
{
	u32 first = 31 - __builtin_clz(value | 1);
	u32 shift = first > bits ? first - bits : 0;

	return (shift << bits) + (u32)(((u64)value + ((1U << shift) >> 1)) >> shift);
}

inline_always u32 unpacked(u32 code, u32 bits)
{
	u32 shift = code >> bits ? (code >> bits) - 1 : 0;
	u64 value = (u64)(code - (shift << bits)) << shift;

	return value < NEVER ? value : NEVER;
}

/* Codes of 16 bits, each known to 2^-12 of itself. */
#define DIGITS 11
/* No code: larger than that of any number. */
#define NO_CODE 0xffffU
