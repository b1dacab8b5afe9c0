/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The end of every control: what calls it. The build says NAME and NAME_IN_KERNEL. */

#ifndef INTERNALS
#define INTERNALS 0
inline_always void control_internals(const struct control *control, u64 *values)
{
}
#endif

#ifdef FALLS
#define MAY_FALL 1
#elif !defined(RATE)
#define MAY_FALL 0
inline_always void control_cut(struct control *control, u64 now)
{
	base_cut(&control->base, control_keep(control, now));
}

inline_always void control_recovered(struct control *control)
{
}

inline_always void control_undo(struct control *control)
{
	base_undo(&control->base);
}

inline_always void control_idle(struct control *control)
{
	base_idle(&control->base);
}
#endif

/* 0: as the stack does it by itself. */
#ifndef PACING_GAIN
#define PACING_GAIN 0
#endif

#if defined(__BPF__) && defined(RATE)
#include "rate_kernel.h"
#elif defined(__BPF__)
#include "kernel.h"
#else
#include "host.h"
#endif
