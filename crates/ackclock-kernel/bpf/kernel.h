/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* A control in the kernel: its callbacks as signals. */
#pragma once

#include "connection.h"
#include "trace.h"

#ifdef MARKS
#include "marks.h"
#define FLAGS (TCP_CONG_NON_RESTRICTED | TCP_CONG_NEEDS_ECN)
#else
#define FLAGS TCP_CONG_NON_RESTRICTED
#endif

/* The window, not the application, was what limited sending. */
inline_always int is_window_limited(const struct tcp_sock *tp, const struct base *base)
{
	if (base_in_slow_start(base))
		return tp->snd_cwnd < 2 * tp->max_packets_out;
	return is_cwnd_limited(tp);
}

/* Packets of the connection before the control do not count. */
inline_always void count_marks(struct ack *ack, const struct tcp_sock *tp, const struct connection *connection)
{
#ifdef MARKS
	ack->delivered = tp->delivered - connection->delivered;
	ack->marked = tp->delivered_ce - connection->marked;
#endif
}

/* What this acknowledgement reports to a window that may fall: all that has been delivered since the last time. */
inline_always void count_credit(struct ack *ack, const struct tcp_sock *tp, struct connection *connection)
{
#ifdef FALLS
	ack->credit = tp->delivered - connection->credited;
	ack->window_limited = is_window_limited(tp, &connection->control.base);
	connection->credited = tp->delivered;
#endif
}

/*
 * The kernel overwrites any pacing rate after each ACK: twice the window per smoothed RTT below half of ssthresh, 1.2
 * times the window from there on. A control that wants twice the window passes no ssthresh.
 */
inline_always u32 ssthresh_to_tell(const struct base *base)
{
	_Static_assert(PACING_GAIN == 0 || PACING_GAIN == 2, "the kernel has no other");
	return PACING_GAIN ? TCP_INFINITE_SSTHRESH : ssthresh_of(base);
}

inline_always void begin_pacing(u64 *arguments)
{
	struct sock *sk = (void *)arguments[0];

	if (PACING_GAIN && sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

SEC("struct_ops") int ack_init(u64 *arguments)
{
	struct tcp_sock *tp = (void *)arguments[0];
	struct connection *connection = connection_of(arguments);
	u64 threshold = tp->snd_ssthresh;
	u64 *words = (u64 *)connection;

	_Pragma("unroll") for (u32 word = 0; word < sizeof(*connection) / 8; word++)
		words[word] = 0;
	base_start(&connection->control.base, tp->snd_cwnd,
		   threshold >= TCP_INFINITE_SSTHRESH ? UNLIMITED : threshold * PACKET);
	connection->round_begin = tp->snd_nxt;
#ifdef FALLS
	connection->credited = tp->delivered;
#endif
	begin_pacing(arguments);
	control_start(&connection->control);
#ifdef MARKS
	marks_start(arguments, connection);
#endif
	trace(arguments, connection, STARTED);
#ifdef MARKS
	marks_need_ecn(arguments);
#endif
	return 0;
}

SEC("struct_ops") int ack_release(u64 *arguments)
{
	trace(arguments, connection_of(arguments), ENDED);
	return 0;
}

/* Called for every ACK, also in recovery: measures, and grows nothing; a window that may fall may fall here. */
SEC("struct_ops") int ack_measure(u64 *arguments)
{
	struct tcp_sock *tp = (void *)arguments[0];
	const struct ack_sample *sample = (void *)arguments[1];
	struct connection *connection = connection_of(arguments);
	u64 before = connection->control.base.window;
	int rtt_us = sample->rtt_us;
	struct ack ack = { .now = tp->tcp_mstamp, .delivered = tp->delivered };

	ack.new_round = ends_round_trip(&connection->round_begin, tp->snd_una, tp->snd_nxt);
	connection->round += ack.new_round;
	ack.rtt = rtt_us > 0 ? (u32)rtt_us * TICKS_PER_US : 0;
	ack.round = connection->round;
	ack.recovering = connection->recovering;
	count_marks(&ack, tp, connection);
	/* In recovery no window is asked to grow, but it may fall. */
	if (connection->recovering)
		count_credit(&ack, tp, connection);
	control_ack(&connection->control, &ack);
	if (MAY_FALL && connection->control.base.window != before)
		trace(arguments, connection, ACKNOWLEDGED);
	return 0;
}

SEC("struct_ops") int ack_grow(u64 *arguments)
{
	struct tcp_sock *tp = (void *)arguments[0];
	struct connection *connection = connection_of(arguments);
	u64 before = connection->control.base.window;
	int may_grow = is_window_limited(tp, &connection->control.base);
	struct ack ack = {
		.growth = may_grow ? (u32)arguments[2] : 0,
		.round = connection->round,
		.now = tp->tcp_mstamp,
		.delivered = tp->delivered,
		.is_again = 1,
	};
	u32 window;

	if (!may_grow && !MAY_FALL)
		return 0;
	count_marks(&ack, tp, connection);
	count_credit(&ack, tp, connection);
	control_ack(&connection->control, &ack);
	window = whole(connection->control.base.window);
	/* Where the application limits, the kernel may have made the window smaller. */
	if (may_grow || window < tp->snd_cwnd)
		tp->snd_cwnd = window;
	if (MAY_FALL)
		tp->snd_ssthresh = ssthresh_to_tell(&connection->control.base);
	if (connection->control.base.window != before)
		trace(arguments, connection, ACKNOWLEDGED);
	return 0;
}

/* The kernel asks for ssthresh at a loss event, and at a timeout that is not in recovery. */
SEC("struct_ops") int ack_cut(u64 *arguments)
{
	struct tcp_sock *tp = (void *)arguments[0];
	struct connection *connection = connection_of(arguments);

	control_cut(&connection->control, tp->tcp_mstamp);
	connection->has_cut = 1;
	/* The window at the end of recovery. */
	return whole(connection->control.base.window);
}

SEC("struct_ops") int ack_event(u64 *arguments)
{
	struct tcp_sock *tp = (void *)arguments[0];
	struct connection *connection = connection_of(arguments);
	struct base *base = &connection->control.base;
	u32 event = (u32)arguments[1];

#ifdef MARKS
	if (event == CA_EVENT_ECN_IS_CE || event == CA_EVENT_ECN_NO_CE)
		marks_received(arguments, connection, event == CA_EVENT_ECN_IS_CE);
#endif
	if (event == CA_EVENT_CWND_RESTART) {
		control_idle(&connection->control);
		trace(arguments, connection, IDLED);
	}
	if (event == CA_EVENT_LOSS && connection->has_cut) {
		/* The cut just made was a timeout's. */
		control_undo(&connection->control);
		control_timeout(&connection->control, 1, tp->tcp_mstamp);
		tp->snd_ssthresh = ssthresh_of(base);
		connection->has_cut = 0;
		connection->has_timed_out = 1;
	}
	return 0;
}

SEC("struct_ops") int ack_state(u64 *arguments)
{
	struct tcp_sock *tp = (void *)arguments[0];
	struct connection *connection = connection_of(arguments);
	u8 state = (u8)arguments[1];

#ifdef MARKS
	struct base *base = &connection->control.base;

	if (state == TCP_CA_CWR && connection->has_cut) {
		/* The cut just made was for marks. */
		base_undo(base);
		base_cut_for_marks(base, control_keep_marked(&connection->control));
		tp->snd_ssthresh = ssthresh_of(base);
	}
	if (state == TCP_CA_RECOVERY && connection->recovering && !connection->has_cut) {
		/* While it reduces the window the kernel does not ask again. */
		base_cut_again(base, control_keep(&connection->control, tp->tcp_mstamp));
		tp->snd_ssthresh = ssthresh_of(base);
		connection->has_cut = 1;
	}
#endif
	if ((state == TCP_CA_CWR || state == TCP_CA_RECOVERY) && connection->has_cut) {
		control_after_loss(&connection->control, tp->tcp_mstamp);
		trace(arguments, connection, LOST);
	}
	if (state == TCP_CA_LOSS) {
		if (!connection->has_timed_out)
			control_timeout(&connection->control, 0, tp->tcp_mstamp);
		trace(arguments, connection, TIMED_OUT);
	}
	connection->has_cut = 0;
	connection->has_timed_out = 0;
	if (connection->recovering && state != TCP_CA_CWR && state != TCP_CA_RECOVERY)
		control_recovered(&connection->control);
	connection->recovering = state == TCP_CA_CWR || state == TCP_CA_RECOVERY;
	return 0;
}

SEC("struct_ops") int ack_undo(u64 *arguments)
{
	struct tcp_sock *tp = (void *)arguments[0];
	struct connection *connection = connection_of(arguments);
	u32 window;

	control_undo(&connection->control);
	trace(arguments, connection, UNDONE);
	window = whole(connection->control.base.window);
	return window > tp->snd_cwnd ? window : tp->snd_cwnd;
}

SEC(".struct_ops.link") struct tcp_congestion_ops control = {
	.init = (void *)ack_init,
	.release = (void *)ack_release,
	.pkts_acked = (void *)ack_measure,
	.cong_avoid = (void *)ack_grow,
	.ssthresh = (void *)ack_cut,
	.cwnd_event = (void *)ack_event,
	.set_state = (void *)ack_state,
	.undo_cwnd = (void *)ack_undo,
	.flags = FLAGS,
	.name = NAME_IN_KERNEL,
};
