/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The end of every control: what calls it. The build says NAME and NAME_IN_KERNEL. */

#ifndef INTERNALS
#define INTERNALS 0
inline_always void control_internals(const struct control *control, u64 *values)
{
}
#endif

#if defined(__BPF__) && defined(RATE)
#include "rate_kernel.h"
#elif defined(__BPF__)
#include "kernel.h"
#else
#include "host.h"
#endif
