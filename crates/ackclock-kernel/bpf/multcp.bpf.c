// SPDX-License-Identifier: MIT OR GPL-2.0
/* MulTCP: J. Crowcroft, P. Oechslin, CCR 28(3), 1998, for N = 2 sessions: W += N/W, a loss takes 1/(2N). */
#define INCREASE (2 * ONE)
#define KEEP (ONE / 4 * 3)
#include "aimd.h"
