//! Rates in packets and in bits per second.

use ackclock_units::{Bytes, PacketRate, Rate};

/// 312.5 packets of 1000 bytes per second are 2.5 Mbit/s. 0.3 packets of one byte are 2.4 bit/s, rounded down. A number
/// without a sign has values up to 2^64: 2^60 packets of one byte are 2^63 bit/s, and 2^61 are more than the largest.
#[test]
fn packets_per_second_become_bits_per_second() {
    for (packets, bytes, bits) in [
        (312.5, 1000, 2_500_000),
        (0.3, 1, 2),
        (0.0, 1000, 0),
        (-1.0, 1000, 0),
        (f64::NAN, 1000, 0),
        (2_f64.powi(60), 1, 1 << 63),
        (2_f64.powi(61), 1, u64::MAX),
        (f64::INFINITY, 1, u64::MAX),
    ] {
        assert_eq!(
            PacketRate(packets).on_wire(Bytes(bytes)),
            Rate(bits),
            "{packets} packets/s of {bytes} bytes"
        );
    }
}
