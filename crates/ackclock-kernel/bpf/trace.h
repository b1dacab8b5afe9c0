/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Every change of a window, for any listener: a ring of memory that all controls share, and whether anyone does. */
#pragma once

#include "connection.h"

/* What changed the window. As Kind in src/trace.rs. */
enum { STARTED, ACKNOWLEDGED, LOST, TIMED_OUT, UNDONE, IDLED, ENDED };

/* As Change in src/trace.rs. */
struct change {
	u64 time_us;
	/* The same for all changes of a connection while it lasts. */
	u64 connection;
	/* Packets times 2^32. */
	u64 window;
	u64 ssthresh;
	/* Internals, times 2^16. */
	u64 values[MOST_INTERNALS];
	u32 rtt_us;
	/* Packets since the start of the connection. */
	u32 delivered;
	u32 sent;
	u32 retransmitted;
	u32 in_flight;
	u32 segment_bytes;
	u16 source_port;
	u16 destination_port;
	u32 kind;
	char name[16];
};

#define RING_BYTES (1 << 23)

struct {
	NUMBER(type, MAP_RING);
	NUMBER(max_entries, RING_BYTES);
	NUMBER(pinning, PINNED_BY_NAME);
} ack_changes SEC(".maps");

/* Whether someone listens, and how many changes found no room. */
struct listening {
	/* 0 without one; which it is only the loader must know. */
	u64 process;
	u64 missed;
};

struct {
	NUMBER(type, MAP_ARRAY);
	TYPE(key, u32);
	TYPE(value, struct listening);
	NUMBER(max_entries, 1);
	NUMBER(pinning, PINNED_BY_NAME);
} ack_listening SEC(".maps");

/* Helpers of the kernel, by their numbers in include/uapi/linux/bpf.h. */
static void *(*const map_lookup)(void *map, const void *key) = (void *)1;
static void *(*const ring_reserve)(void *ring, u64 bytes, u64 flags) = (void *)131;
static void (*const ring_submit)(void *data, u64 flags) = (void *)132;

inline_always void trace(u64 *arguments, const struct connection *connection, u32 kind)
{
	const struct sock *sk = (void *)arguments[0];
	const struct tcp_sock *tp = (void *)arguments[0];
	u32 key = 0;
	struct listening *listening = map_lookup(&ack_listening, &key);
	struct change *change;

	if (!listening || !listening->process)
		return;
	change = ring_reserve(&ack_changes, sizeof(*change), 0);
	if (!change) {
		__sync_fetch_and_add(&listening->missed, 1);
		return;
	}
	change->time_us = tp->tcp_mstamp;
	change->connection = arguments[0];
	change->window = connection->control.base.window;
	change->ssthresh = connection->control.base.ssthresh;
	_Pragma("unroll") for (u32 value = 0; value < MOST_INTERNALS; value++)
		change->values[value] = 0;
	control_internals(&connection->control, change->values);
	change->rtt_us = tp->rack.rtt_us;
	change->delivered = tp->delivered;
	change->sent = tp->data_segs_out;
	change->retransmitted = tp->total_retrans;
	change->in_flight = in_flight_of(tp);
	change->segment_bytes = tp->mss_cache;
	change->source_port = sk->__sk_common.skc_num;
	change->destination_port = __builtin_bswap16(sk->__sk_common.skc_dport);
	change->kind = kind;
	__builtin_memcpy(change->name, NAME_IN_KERNEL "\0\0\0\0\0\0\0\0\0\0\0\0\0\0", sizeof(change->name));
	ring_submit(change, 0);
}
