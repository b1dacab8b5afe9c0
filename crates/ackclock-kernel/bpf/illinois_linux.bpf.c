// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * TCP-Illinois as in Linux (behaviour of tcp_illinois.c): extremes of single samples, alpha from 0.3, Reno below 15
 * packets, a timeout cuts by beta, and the wait for alpha's largest value continues after a loss event.
 *
 * alpha = k_1/(k_2 + da) with k_1 = 0.99 dm 3/9.7 and k_2 = 0.99 dm 0.3/9.7 - 0.01 dm.
 */
#define IS_LINUX 1
#define WINDOW_THRESHOLD (15 * PACKET)
#define K_1 ((u64)(0.99 * 3 / 9.7 * ONE))
#define K_2 ((u64)((0.99 * 0.3 / 9.7 - 0.01) * ONE))
#define ALPHA(da, dm) ((K_1 * (dm) << 16) / (K_2 * (dm) + ((da) << 16)))
#include "illinois.h"
