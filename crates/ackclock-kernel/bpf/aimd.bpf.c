// SPDX-License-Identifier: MIT OR GPL-2.0
/* AIMD(32, 0.125), which BI-TCP is compared with: L. Xu, K. Harfoush, I. Rhee, INFOCOM 2004, section II. */
#define INCREASE (32 * ONE)
#define KEEP (ONE / 8 * 7)
#include "aimd.h"
