/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
* What else a control that counts marks needs of the kernel. As receiver it reports with one bit how many packets came
 * marked (RFC 8257, section 3.2): the bit of an ACK is that of the packets that it acknowledges, so where it changes,
 * what came before is acknowledged at once. Where ECN was not agreed on, the connection is Reno's.
 */
#pragma once

#include "connection.h"

/* As in the kernel's include/net/tcp.h, inet_connection_sock.h and include/uapi/linux. */
enum { TCP_ECN_OK = 1, TCP_ECN_DEMAND_CWR = 4 };
enum { ICSK_ACK_TIMER = 2, ICSK_ACK_NOW = 16 };

static int (*const send_ack)(void *tp, u32 received) = (void *)116;

inline_always void marks_start(u64 *arguments, struct connection *connection)
{
	const struct tcp_sock *tp = (void *)arguments[0];

	connection->delivered = tp->delivered;
	connection->marked = tp->delivered_ce;
	connection->received = tp->rcv_nxt;
}

/* Without ECN: another control, which sends no packet that could be marked. */
inline_always void marks_need_ecn(u64 *arguments)
{
	const struct tcp_sock *tp = (void *)arguments[0];

	if (!(tp->ecn_flags & TCP_ECN_OK))
		leave_to_reno(arguments);
}

/* From now on ACKs say that packets came marked, or that they did not. */
inline_always void say(struct tcp_sock *tp, u8 marked)
{
	if (marked)
		tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else
		tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

/* A packet arrived, marked or not. */
inline_always void marks_received(u64 *arguments, struct connection *connection, u8 marked)
{
	struct inet_connection_sock *icsk = (void *)arguments[0];
	struct tcp_sock *tp = (void *)arguments[0];

	if (connection->was_marked != marked) {
		/* The ACK that waits is of the packets before. */
		if (icsk->icsk_ack.pending & ICSK_ACK_TIMER) {
			say(tp, connection->was_marked);
			send_ack(tp, connection->received);
		}
		icsk->icsk_ack.pending |= ICSK_ACK_NOW;
	}
	connection->received = tp->rcv_nxt;
	connection->was_marked = marked;
	say(tp, marked);
}
