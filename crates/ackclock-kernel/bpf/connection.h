/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What the kernel knows of a connection, and the control's state in it. Fields are named, not placed: the loader
 * finds them in the running kernel (CO-RE).
 */
#pragma once

#define SEC(name) __attribute__((section(name), used))
#define BY_NAME __attribute__((preserve_access_index))

/* Declared as large as in the kernel: the whole state is in here. */
struct ack_state {
	u8 pending;
} BY_NAME;

struct inet_connection_sock {
	struct ack_state icsk_ack;
	u64 icsk_ca_priv[13];
} BY_NAME;

struct sock_common {
	u16 skc_dport;
	u16 skc_num;
} BY_NAME;

struct sock {
	struct sock_common __sk_common;
	/* Bytes per second; set by controls that pace. */
	u64 sk_pacing_rate;
	u64 sk_max_pacing_rate;
	u32 sk_pacing_status;
} BY_NAME;

struct tcp_rack {
	u32 rtt_us;
} BY_NAME;

struct tcp_sock {
	u32 snd_cwnd;
	u32 snd_ssthresh;
	u32 snd_una;
	u32 snd_nxt;
	u32 max_packets_out;
	u8 is_cwnd_limited : 1;
	/* When the ACK or timeout that is being worked on came. */
	u64 tcp_mstamp;
	u32 delivered;
	u32 delivered_ce;
	u32 rcv_nxt;
	u8 ecn_flags;
	u32 data_segs_out;
	u32 total_retrans;
	u32 packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 lost;
	u32 app_limited;
	u32 snd_cwnd_clamp;
	u32 retrans_out;
	u32 mss_cache;
	struct tcp_rack rack;
} BY_NAME;

struct ack_sample {
	u32 pkts_acked;
	int rtt_us;
	u32 in_flight;
} BY_NAME;

struct rate_sample {
	u32 prior_delivered;
	int delivered;
	long long interval_us;
	long long rtt_us;
	u32 acked_sacked;
	u8 is_app_limited;
} BY_NAME;

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*cwnd_event)(struct sock *sk, u32 event);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	void (*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *sample);
	u32 (*undo_cwnd)(struct sock *sk);
	u32 (*sndbuf_expand)(struct sock *sk);
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	u32 flags;
	char name[16];
};

/* As in the kernel's include/uapi/linux/tcp.h and include/net/tcp.h. */
enum { SOL_TCP = 6, TCP_CONGESTION = 13 };
enum { TCP_CA_CWR = 2, TCP_CA_RECOVERY = 3, TCP_CA_LOSS = 4 };
enum { CA_EVENT_TX_START = 0, CA_EVENT_CWND_RESTART = 1, CA_EVENT_LOSS = 3 };
enum { CA_EVENT_ECN_NO_CE = 4, CA_EVENT_ECN_IS_CE = 5 };
enum { TCP_CONG_NON_RESTRICTED = 1, TCP_CONG_NEEDS_ECN = 2 };
/* As in the kernel's include/net/sock.h: nobody paces; TCP itself does where no qdisc does. */
enum { SK_PACING_NONE, SK_PACING_NEEDED };
#define TCP_INFINITE_SSTHRESH 0x7fffffffU

char _license[] SEC("license") = "Dual MIT/GPL";

/* What __builtin_preserve_field_info is asked. */
enum { FIELD_BYTE_OFFSET = 0, FIELD_LSHIFT_U64 = 4 };

struct connection {
	struct control control;
#ifdef RATE
	/* Packets lost in all by the last acknowledgement; the state of the kernel's recovery. */
	u32 lost;
	u8 state;
#else
	/* Round trips completed, and the first byte of the present one, whose acknowledgement completes it. */
	u32 round;
	u32 round_begin;
	/* A cut that may turn out to be a timeout's; a timeout that has been noted. */
	u8 has_cut;
	u8 has_timed_out;
	u8 recovering;
#ifdef FALLS
	/* Packets delivered in all, as far as the control has been told of them. */
	u32 credited;
#endif
#ifdef MARKS
	/* Of arriving data: the last packet came marked, and what had come in order before it. */
	u8 was_marked;
	u32 received;
	/* Packets delivered and marked before the control came. */
	u32 delivered;
	u32 marked;
#endif
#endif
};

/* How the loader reads a map's description. */
#define NUMBER(name, value) int(*name)[value]
#define TYPE(name, type) type *name

enum { MAP_ARRAY = 2, MAP_OF_SOCKETS = 24, MAP_RING = 27, PINNED_BY_NAME = 1, NOT_PREALLOCATED = 1 };

/* Helpers of the kernel, by their numbers in include/uapi/linux/bpf.h. */
static int (*const set_option)(void *sk, int level, int name, void *value, int bytes) = (void *)49;

/* Leaves the connection to another control. It is the last thing that a start does. */
inline_always void leave_to_reno(u64 *arguments)
{
	char reno[] = "reno";

	set_option((void *)arguments[0], SOL_TCP, TCP_CONGESTION, reno, sizeof(reno));
}

#ifdef RATE
/* More than the kernel has room for in its own state of a connection: memory that goes away with it. */
struct {
	NUMBER(type, MAP_OF_SOCKETS);
	NUMBER(map_flags, NOT_PREALLOCATED);
	TYPE(key, int);
	TYPE(value, struct connection);
} connections SEC(".maps");

enum { IF_THERE = 0, OR_NEW = 1 };

static void *(*const storage_of)(void *map, void *sk, void *value, u64 flags) = (void *)107;

inline_always struct connection *connection_of(u64 *arguments)
{
	return storage_of(&connections, (void *)arguments[0], 0, IF_THERE);
}
#else
_Static_assert(sizeof(struct connection) <= sizeof(struct inet_connection_sock), "no room for the state");

inline_always struct connection *connection_of(u64 *arguments)
{
	return (void *)((struct inet_connection_sock *)arguments[0])->icsk_ca_priv;
}
#endif

inline_always int is_cwnd_limited(const struct tcp_sock *tp)
{
	u32 offset = __builtin_preserve_field_info(tp->is_cwnd_limited, FIELD_BYTE_OFFSET);
	u32 shift = __builtin_preserve_field_info(tp->is_cwnd_limited, FIELD_LSHIFT_U64);
	u8 byte = *((const u8 *)tp + offset);

	return ((u64)byte << shift) >> 63;
}

inline_always u32 in_flight_of(const struct tcp_sock *tp)
{
	u32 gone = tp->sacked_out + tp->lost_out, there = tp->packets_out + tp->retrans_out;

	/* At its end a connection forgets its packets one count after the other. */
	return there > gone ? there - gone : 0;
}

inline_always u32 whole(u64 window)
{
	u64 packets = window >> 32;

	return packets < TCP_INFINITE_SSTHRESH ? packets : TCP_INFINITE_SSTHRESH;
}

inline_always u32 ssthresh_of(const struct base *base)
{
	return whole(base->ssthresh);
}
