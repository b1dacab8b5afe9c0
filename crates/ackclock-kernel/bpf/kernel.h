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
	connection->round_end = tp->snd_nxt;
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

/* Called for every ACK, also in recovery: measures, and grows nothing. */
SEC("struct_ops") int ack_measure(u64 *arguments)
{
	struct tcp_sock *tp = (void *)arguments[0];
	const struct ack_sample *sample = (void *)arguments[1];
	struct connection *connection = connection_of(arguments);
	int rtt_us = sample->rtt_us;
	struct ack ack = { .now = tp->tcp_mstamp, .delivered = tp->delivered };

	if ((int)(tp->snd_una - connection->round_end) >= 0) {
		connection->round += 1;
		connection->round_end = tp->snd_nxt;
	}
	ack.rtt = rtt_us > 0 ? (u32)rtt_us * TICKS_PER_US : 0;
	ack.round = connection->round;
	ack.recovering = connection->recovering;
	count_marks(&ack, tp, connection);
	control_ack(&connection->control, &ack);
	return 0;
}

SEC("struct_ops") int ack_grow(u64 *arguments)
{
	struct tcp_sock *tp = (void *)arguments[0];
	struct connection *connection = connection_of(arguments);
	u64 before = connection->control.base.window;
	struct ack ack = {
		.growth = (u32)arguments[2],
		.round = connection->round,
		.now = tp->tcp_mstamp,
		.delivered = tp->delivered,
		.is_again = 1,
	};

	if (!is_window_limited(tp, &connection->control.base))
		return 0;
	count_marks(&ack, tp, connection);
	control_ack(&connection->control, &ack);
	tp->snd_cwnd = whole(connection->control.base.window);
	if (connection->control.base.window != before)
		trace(arguments, connection, ACKNOWLEDGED);
	return 0;
}

/* The kernel asks for ssthresh at a loss event, and at a timeout that is not in recovery. */
SEC("struct_ops") int ack_cut(u64 *arguments)
{
	struct tcp_sock *tp = (void *)arguments[0];
	struct connection *connection = connection_of(arguments);

	base_cut(&connection->control.base, control_keep(&connection->control, tp->tcp_mstamp));
	connection->has_cut = 1;
	return ssthresh_of(&connection->control.base);
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
		base_idle(base);
		trace(arguments, connection, IDLED);
	}
	if (event == CA_EVENT_LOSS && connection->has_cut) {
		/* The cut just made was a timeout's. */
		base_undo(base);
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
	connection->recovering = state == TCP_CA_CWR || state == TCP_CA_RECOVERY;
	return 0;
}

SEC("struct_ops") int ack_undo(u64 *arguments)
{
	struct tcp_sock *tp = (void *)arguments[0];
	struct connection *connection = connection_of(arguments);
	u32 window;

	base_undo(&connection->control.base);
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
