//! The settings of a TCP sender and receiver, each declared once: its key, its default, its field and its reading.

use ackclock_units::{Bytes, Packets, Span, Window};
use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::fill;
use crate::keys::{Form, LARGEST_PACKET, MOST_PACKETS, Section, key};
use crate::read::{Read, Table};
use crate::tree::{Content, Node, Origin};
use crate::value::Shown;
use crate::words::words;

words! {
    /// The origin of the settings of a sender.
    Profile {
        /// ns-2's defaults, the papers' setting.
        Ns2 = "ns2",
        /// The behaviour of Linux.
        Linux = "linux",
    }
}

words! {
    /// How a sender finds and repairs losses.
    Recovery {
        /// RFC 5681.
        Reno = "reno",
        /// RFC 5681 as ns-2 has it, with one fast retransmit in a window of data.
        RenoNs2 = "reno-ns2",
        /// RFC 6582.
        NewReno = "newreno",
        /// RFC 6675.
        Sack = "sack",
        /// RFC 8985 with proportional rate reduction.
        Rack = "rack",
        /// FACK and rate halving, as TCP-Linux of ns-2 has them.
        Linux26 = "linux-2.6",
    }
}

words! {
    /// The unit of the window's growth.
    Growth {
        /// By one credit per acknowledgement.
        PerAck = "per_ack",
        /// By one credit per packet delivered.
        PerPacket = "per_packet",
    }
}

words! {
    /// The quantity that the smallest retransmission timeout bounds.
    MinRtoBounds {
        /// The timeout, srtt + 4 rttvar (RFC 6298).
        Timeout = "timeout",
        /// The variance, 4 rttvar, of which the largest in a round trip counts: Linux.
        Variance = "variance",
    }
}

words! {
    /// What ends slow start in addition to loss events and ssthresh.
    HyStart {
        /// Nothing.
        Off = "false",
        /// HyStart++ (RFC 9406).
        PlusPlus = "true",
        /// HyStart as the CUBIC of Linux has it, in controls of CUBIC alone.
        Linux = "linux",
    }
}

words! {
    /// The round trips that the retransmission timer measures.
    RttSampling {
        /// Those of all acknowledgements of packets that were sent once.
        EveryAck = "every_ack",
        /// That of one packet at a time, as a sender without time stamps does.
        OnePerWindow = "one_per_window",
    }
}

/// Headers of a data packet, bytes: IPv4 and TCP. A packet must have room for them and one byte.
pub(crate) const HEADERS: u64 = 40;
/// Bounds of a gain of pacing.
const LEAST_GAIN: f64 = 0.01;
const MOST_GAIN: f64 = 100.0;
/// Bits of the ACE field (RFC 9768), and those that a simulated acknowledgement has room for.
const LEAST_ACE_BITS: u64 = 3;
const MOST_ACE_BITS: u64 = 11;

/// Declares the settings, one entry each: key, type and form; default, by profile where they differ (`profiles`: with
/// either of them, but not without); meaning, which the documentation of the format shares with that of the field.
/// `tcp_only` marks what QUIC does in its own way.
macro_rules! settings {
    ($($name:ident: $type:ty = $form:expr, $default:literal $(linux $linux:literal)? $(profiles $both:literal)?,
        $meaning:literal $(, $tcp_only:ident)?;)*) => {
        /// Settings of a TCP sender and receiver.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        pub struct Tcp {
            $(#[doc = concat!("Key `", stringify!($name), "`: ", $meaning, ".")] pub $name: $type,)*
        }

        /// `[tcp]`.
        pub static TCP: Section = Section {
            name: "[tcp]",
            selector: Some("profile"),
            also: None,
            keys: &[$(
                key(stringify!($name), $form, $default, $meaning)$(.by(&[("linux", $linux)]))?
                    $(.by(&[("ns2", $both), ("linux", $both)]))?$(.$tcp_only())?,
            )*],
        };

        impl Tcp {
            /// Reads the settings of a table; what it does not have is that of `base`.
            fn read_over(table: &Table<'_>, base: Option<&Tcp>) -> Read<Tcp> {
                Ok(Tcp {
                    $($name: match (table.get(stringify!($name))?, base) {
                        (Some(value), _) => value,
                        (None, Some(base)) => base.$name.clone(),
                        (None, None) => table.required(stringify!($name), None)?,
                    },)*
                })
            }

            /// Adds every setting under its key.
            pub(crate) fn show(&self, settings: &mut Map<String, Json>) {
                $(settings.insert(stringify!($name).to_owned(), self.$name.shown($form));)*
            }
        }
    };
}

settings! {
    profile: Profile = Form::Word(Profile::WORDS), "ns2",
        "sets all that follows: ns2, the papers' setting, or linux";
    packet: Bytes = Form::Size(LARGEST_PACKET), "1000 B", "a data packet on the wire, headers included";
    ack: Bytes = Form::Size(LARGEST_PACKET), "40 B", "an acknowledgement on the wire", tcp_only;
    initial_window: Window = Form::Window(1.0), "2" linux "10", "packets";
    initial_ssthresh: Window = Form::WindowOrUnlimited(2.0), "unlimited", "packets";
    // In 1000-byte packets: 16 MiB, the half of 32 MiB that tcp_rmem lets a socket have from Linux 6.16 on (commit
    // 572be9bf9d0d), which is the half that becomes the window (TCP_DEFAULT_SCALING_RATIO).
    receive_window: Option<Packets> = Form::PacketsOrUnlimited, "unlimited" linux "16777",
        "packets in flight that the receiver allows (linux: 16 MiB in packets of 1000 B, as without tuning); a sender never has more than 16777216",
        tcp_only;
    recovery: Recovery = Form::Word(Recovery::WORDS), "sack" linux "rack",
        "how losses are found and repaired: RFC 5681, the same with one fast retransmit in a window of data (ns-2), RFC 6582, RFC 6675, RFC 8985 with RFC 6937, TCP-Linux of ns-2",
        tcp_only;
    min_rto: Span = Form::PositiveTime, "200 ms", "smallest retransmission timeout", tcp_only;
    min_rto_bounds: MinRtoBounds = Form::Word(MinRtoBounds::WORDS), "timeout" linux "variance",
        "what min_rto bounds: srtt + 4 rttvar as in RFC 6298, or 4 rttvar as in Linux, whose largest in a round trip counts",
        tcp_only;
    max_rto: Span = Form::PositiveTime, "64 s" linux "120 s", "largest retransmission timeout", tcp_only;
    initial_rto: Span = Form::PositiveTime, "1 s", "retransmission timeout before the first RTT sample", tcp_only;
    // Off where no profile is set, so that older scenarios keep their meaning.
    handshake: bool = Form::Flag, "false" profiles "true",
        "a SYN and its answer go before the data: a round trip, which completion times contain, and an RTT sample", tcp_only;
    clock: Span = Form::Time, "1 ms", "granularity of the retransmission timer", tcp_only;
    rtt_sampling: RttSampling = Form::Word(RttSampling::WORDS), "every_ack",
        "round trips that the retransmission timer measures; one_per_window: of one packet at a time (Karn), in ticks of clock",
        tcp_only;
    delayed_ack: u64 = Form::Whole(1, 64), "1" linux "2", "packets per acknowledgement", tcp_only;
    delayed_ack_timer: Span = Form::PositiveTime, "100 ms" linux "40 ms",
        "how long an acknowledgement is held back", tcp_only;
    limited_transmit: bool = Form::Flag, "true", "new packets on the first two duplicate ACKs (RFC 3042)", tcp_only;
    max_burst: Option<Packets> = Form::Whole(0, MOST_PACKETS), "0",
        "packets sent at once at most; 0: no limit", tcp_only;
    overhead: Span = Form::Time, "0 s", "upper end of the uniform random delay before each send; with reno, reno-ns2, newreno and sack what fast retransmit and limited transmit send goes at once, as in ns-2", tcp_only;
    growth: Growth = Form::Word(Growth::WORDS), "per_ack" linux "per_packet", "what the window grows by", tcp_only;
    pacing: bool = Form::Flag, "false",
        "spread packets over the round trip, at a gain times W/srtt; a control's own rate is always obeyed", tcp_only;
    // As in Linux.
    pacing_gain: f64 = Form::Number(LEAST_GAIN, MOST_GAIN), "1.2", "gain of pacing after slow start", tcp_only;
    slow_start_gain: f64 = Form::Number(LEAST_GAIN, MOST_GAIN), "2", "gain of pacing in slow start", tcp_only;
    min_window: Packets = Form::Whole(1, MOST_PACKETS), "1",
        "packets that may be in flight however small the window is (QUIC: 2)", tcp_only;
    slow_start_after_idle: bool = Form::Flag, "true",
        "the window falls to the initial one after an idle time longer than the timeout (RFC 5681); Linux: tcp_slow_start_after_idle",
        tcp_only;
    hystart: HyStart = Form::FlagOrWord(HyStart::WORDS), "false" linux "linux",
        "what ends the first slow start early: true: HyStart++ (RFC 9406); linux: HyStart as Linux has it, in CUBIC alone";
    ecn: bool = Form::Flag, "false", "packets can be marked, and a mark counts as a loss event (RFC 3168)";
    ace_bits: u64 = Form::Whole(LEAST_ACE_BITS, MOST_ACE_BITS), "11",
        "bits of an ACK's count of marks, for controls that read it; 3: the ACE field of RFC 9768 without an option", tcp_only;
}

impl Tcp {
    /// The settings of a profile.
    pub(crate) fn of(profile: Profile) -> Read<Tcp> {
        let mut node = Node::table(Vec::new(), &Origin::Data);
        node.supply("profile", || Content::Text(profile.name().to_owned()));
        fill::section(&mut node, &TCP);
        Tcp::read(&Table::open(&node, "tcp", "", &TCP)?, None)
    }

    /// Reads the settings of a table; what it does not have is that of `base`.
    pub(crate) fn read(table: &Table<'_>, base: Option<&Tcp>) -> Read<Tcp> {
        let tcp = Tcp::read_over(table, base)?;
        if tcp.packet.0 <= HEADERS {
            let problem = format!("must have room for {HEADERS} B of headers and 1 B of data");
            return Err(table.refuse("packet", problem));
        }
        Ok(tcp)
    }
}
