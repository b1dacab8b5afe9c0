// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * TCP-Illinois: S. Liu, T. Basar, R. Srikant, Performance Evaluation 65 (2008), section 3, standard setting.
 *
 * With alpha from 0.1 to 10 and eta_1 = 0.01 the paper's k_2 is 0, so that between the two alpha is dm/(10 da).
 */
#define IS_LINUX 0
#define WINDOW_THRESHOLD (10 * PACKET)
#define ALPHA(da, dm) (((dm) << 16) / (10 * (da)))
#include "illinois.h"
