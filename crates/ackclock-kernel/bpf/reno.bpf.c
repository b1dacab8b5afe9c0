// SPDX-License-Identifier: MIT OR GPL-2.0
/* Reno: RFC 5681. */
#define INCREASE ONE
#define KEEP (ONE / 2)
#include "aimd.h"
