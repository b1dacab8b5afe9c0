// SPDX-License-Identifier: MIT OR GPL-2.0
/* GAIMD: Y. R. Yang, S. S. Lam, ICNP 2000, with alpha = 0.31 and beta = 7/8, as friendly as TCP. */
#define INCREASE ((u32)(0.31 * ONE))
#define KEEP (ONE / 8 * 7)
#include "aimd.h"
