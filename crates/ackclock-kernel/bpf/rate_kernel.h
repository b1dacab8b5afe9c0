/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A control in the kernel that sets window and pacing by the delivery rate: `cong_control` for every ACK, also in
 * recovery, in place of what kernel.h has. It needs Linux 6.10, which gave that callback its arguments.
 */
#pragma once

#include "connection.h"
#include "trace.h"

/* Windows of data that the send buffer should hold; others have 2. */
#define SEND_BUFFER_WINDOWS 3

static u32 (*const random_number)(void) = (void *)7;

/* What the control decides: window and pacing. */
inline_always void decide(u64 *arguments, const struct connection *connection)
{
	struct tcp_sock *tp = (void *)arguments[0];
	struct sock *sk = (void *)arguments[0];
	u32 window = whole(connection->control.base.window), clamp = tp->snd_cwnd_clamp;
	u64 bytes_per_s = connection->control.pacing * tp->mss_cache >> 16;

	tp->snd_cwnd = window < clamp ? window : clamp;
	sk->sk_pacing_rate = bytes_per_s < sk->sk_max_pacing_rate ? bytes_per_s : sk->sk_max_pacing_rate;
}

SEC("struct_ops") int ack_init(u64 *arguments)
{
	struct tcp_sock *tp = (void *)arguments[0];
	struct sock *sk = (void *)arguments[0];
	struct connection *connection = storage_of(&connections, sk, 0, OR_NEW);
	u64 *words = (u64 *)connection;

	if (!connection) {
		leave_to_reno(arguments);
		return 0;
	}
	_Pragma("unroll") for (u32 word = 0; word < sizeof(*connection) / 8; word++)
		words[word] = 0;
	base_start(&connection->control.base, tp->snd_cwnd, UNLIMITED);
	connection->control.delivered = tp->delivered;
	connection->control.seed = 1 + (u64)random_number();
	connection->lost = tp->lost;
	control_start(&connection->control);
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
	decide(arguments, connection);
	trace(arguments, connection, STARTED);
	return 0;
}

SEC("struct_ops") int ack_release(u64 *arguments)
{
	struct connection *connection = connection_of(arguments);

	if (connection)
		trace(arguments, connection, ENDED);
	return 0;
}

SEC("struct_ops") int ack_control(u64 *arguments)
{
	const struct tcp_sock *tp = (void *)arguments[0];
	const struct rate_sample *sample = (void *)arguments[3];
	struct connection *connection = connection_of(arguments);
	long long rtt_us = sample->rtt_us, interval = sample->interval_us;
	struct ack ack = { .now = tp->tcp_mstamp, .delivered = tp->delivered };

	if (!connection)
		return 0;
	ack.rtt = rtt_us > 0 ? (u32)rtt_us * TICKS_PER_US : 0;
	ack.recovering = connection->state == TCP_CA_RECOVERY;
	ack.round_limited = is_cwnd_limited(tp);
	ack.application_limited = sample->is_app_limited;
	ack.acked = sample->acked_sacked;
	ack.in_flight = in_flight_of(tp);
	ack.lost = tp->lost - connection->lost;
	ack.sampled = sample->delivered > 0 ? sample->delivered : 0;
	ack.interval = interval > 0 ? interval : 0;
	ack.prior = sample->prior_delivered;
	connection->lost = tp->lost;
	control_ack(&connection->control, &ack);
	decide(arguments, connection);
	/* Every one: the window may stay for seconds, and what is delivered would not be told. */
	trace(arguments, connection, ACKNOWLEDGED);
	return 0;
}

SEC("struct_ops") u32 ack_threshold(u64 *arguments)
{
	/* It has none. */
	return ((struct tcp_sock *)arguments[0])->snd_ssthresh;
}

SEC("struct_ops") int ack_event(u64 *arguments)
{
	const struct tcp_sock *tp = (void *)arguments[0];
	struct connection *connection = connection_of(arguments);

	if (!connection || (u32)arguments[1] != CA_EVENT_TX_START || !tp->app_limited)
		return 0;
	control_restart(&connection->control, tp->tcp_mstamp);
	decide(arguments, connection);
	trace(arguments, connection, IDLED);
	return 0;
}

SEC("struct_ops") int ack_state(u64 *arguments)
{
	struct connection *connection = connection_of(arguments);
	u8 state = (u8)arguments[1];

	if (!connection)
		return 0;
	if (state == TCP_CA_LOSS) {
		/* The kernel has set its window to what is left in flight and one. */
		control_timeout(&connection->control);
		trace(arguments, connection, TIMED_OUT);
	} else if (state == TCP_CA_RECOVERY) {
		control_loss(&connection->control);
		decide(arguments, connection);
		trace(arguments, connection, LOST);
	} else if (connection->state == TCP_CA_RECOVERY || connection->state == TCP_CA_LOSS) {
		control_recovered(&connection->control);
		decide(arguments, connection);
		trace(arguments, connection, ACKNOWLEDGED);
	}
	/* A window of data with marks: as if a packet of it had been lost. */
	if (state == TCP_CA_CWR)
		connection->lost -= 1;
	connection->state = state;
	return 0;
}

SEC("struct_ops") u32 ack_undo(u64 *arguments)
{
	struct tcp_sock *tp = (void *)arguments[0];
	struct connection *connection = connection_of(arguments);
	u32 window;

	if (!connection)
		return tp->snd_cwnd;
	control_undo(&connection->control);
	trace(arguments, connection, UNDONE);
	window = whole(connection->control.base.window);
	return window > tp->snd_cwnd ? window : tp->snd_cwnd;
}

SEC("struct_ops") u32 ack_send_buffer(u64 *arguments)
{
	return SEND_BUFFER_WINDOWS;
}

SEC(".struct_ops.link") struct tcp_congestion_ops control = {
	.init = (void *)ack_init,
	.release = (void *)ack_release,
	.cong_control = (void *)ack_control,
	.ssthresh = (void *)ack_threshold,
	.cwnd_event = (void *)ack_event,
	.set_state = (void *)ack_state,
	.undo_cwnd = (void *)ack_undo,
	.sndbuf_expand = (void *)ack_send_buffer,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = NAME_IN_KERNEL,
};
