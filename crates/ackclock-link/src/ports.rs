//! Destination ports of packets, and ports with a round-trip delay of their own.

use ackclock_units::Span;

/// Most ports that can be given: their queues are searched one by one for the next packet.
const MOST_PORTS: usize = 64;
/// Longest round trip of a port, as of a flow in a scenario.
const LONGEST: Span = Span::from_seconds(86_400);

const HEADER_4: usize = 20;
const HEADER_6: usize = 40;
/// Flags and offset of IPv4 that make a packet a fragment: more fragments, and any offset.
const FRAGMENT: u16 = 0x3fff;
/// Numbers of protocols (RFC 790, RFC 768) and of the extension headers that may stand before them (RFC 8200).
const TCP: u8 = 6;
const UDP: u8 = 17;
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const DESTINATION_OPTIONS: u8 = 60;

/// The port of TCP or UDP that the IP packet `content` goes to; `None` for fragments, of which only the first would
/// have one, and for whatever else it may be.
#[must_use]
pub fn destination_port(content: &[u8]) -> Option<u16> {
    let mut protocol;
    let mut begin;
    match content.first()? >> 4 {
        4 => {
            protocol = *content.get(9)?;
            begin = usize::from(content[0] & 15) * 4;
            if begin < HEADER_4 || u16::from_be_bytes([content[6], content[7]]) & FRAGMENT != 0 {
                return None;
            }
        }
        6 => {
            protocol = *content.get(6)?;
            begin = HEADER_6;
            while matches!(protocol, HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS) {
                protocol = *content.get(begin)?;
                begin += (usize::from(*content.get(begin + 1)?) + 1) * 8;
            }
        }
        _ => return None,
    }
    let port = content.get(begin + 2..begin + 4)?;
    matches!(protocol, TCP | UDP).then(|| u16::from_be_bytes([port[0], port[1]]))
}

/// Reads ports with their round-trip delays, `5201=60ms,5202=80ms`; returns them sorted by port.
///
/// # Errors
/// One line, when a port is not a number from 1 to 65535 or is given twice, or a round trip is not a time.
pub fn read(text: &str) -> Result<Vec<(u16, Span)>, String> {
    let mut ports = Vec::new();
    for part in text.split(',') {
        let (port, rtt) = part
            .split_once('=')
            .ok_or_else(|| format!("{part:?}: expected PORT=RTT, for example 5201=60ms"))?;
        let port = port.trim().parse().ok().filter(|port| *port != 0);
        let port: u16 = port.ok_or_else(|| format!("{part:?}: expected a port from 1 to 65535"))?;
        let rtt: Span = rtt.parse().map_err(|error| format!("port {port}: {error}"))?;
        if rtt > LONGEST {
            return Err(format!("port {port}: must be at most 24 h, is {rtt}"));
        }
        ports.push((port, rtt));
    }
    ports.sort_unstable();
    if let Some(pair) = ports.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(format!("port {} is given twice", pair[0].0));
    }
    if ports.len() > MOST_PORTS {
        return Err(format!("at most {MOST_PORTS} ports are allowed, found {}", ports.len()));
    }
    Ok(ports)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 791: 20 bytes, the protocol in byte 9. RFC 9293 and RFC 768: the destination port is bytes 2 and 3.
    fn version_4(protocol: u8, port: u16) -> Vec<u8> {
        let mut packet = vec![0; 40];
        packet[0] = 0x45;
        packet[9] = protocol;
        packet[22..24].copy_from_slice(&port.to_be_bytes());
        packet
    }

    /// RFC 8200: 40 bytes, the next header in byte 6.
    fn version_6(protocol: u8, port: u16) -> Vec<u8> {
        let mut packet = vec![0; 60];
        packet[0] = 0x60;
        packet[6] = protocol;
        packet[42..44].copy_from_slice(&port.to_be_bytes());
        packet
    }

    #[test]
    fn tcp_and_udp_have_ports() {
        for protocol in [TCP, UDP] {
            assert_eq!(destination_port(&version_4(protocol, 5201)), Some(5201));
            assert_eq!(destination_port(&version_6(protocol, 5202)), Some(5202));
        }
        // 20 + 8 bytes of UDP, and nothing in them.
        assert_eq!(destination_port(&version_4(UDP, 53)[..28]), Some(53));
    }

    #[test]
    fn others_have_none() {
        // ICMP, ICMPv6, no next header; ARP and nothing at all.
        assert_eq!(destination_port(&version_4(1, 5201)), None);
        assert_eq!(destination_port(&version_6(58, 5201)), None);
        assert_eq!(destination_port(&version_6(59, 5201)), None);
        assert_eq!(destination_port(&[0; 40]), None);
        assert_eq!(destination_port(&[]), None);
    }

    #[test]
    fn fragments_have_none() {
        // More fragments follow; the last one, 8 bytes further on; "don't fragment" is none.
        for (flags, port) in [([0x20, 0], None), ([0, 1], None), ([0x40, 0], Some(5201))] {
            let mut packet = version_4(TCP, 5201);
            packet[6..8].copy_from_slice(&flags);
            assert_eq!(destination_port(&packet), port);
        }
        // In IPv6 a header of its own, 44.
        assert_eq!(destination_port(&version_6(44, 5201)), None);
    }

    #[test]
    fn options_are_passed_over() {
        // Six words of four bytes: the port is in bytes 26 and 27.
        let mut packet = version_4(TCP, 0);
        packet[0] = 0x46;
        packet[26..28].copy_from_slice(&[0x14, 0x51]);
        assert_eq!(destination_port(&packet), Some(5201));
        packet[0] = 0x44;
        assert_eq!(destination_port(&packet), None, "a header has five words at least");
        // Destination options of 16 bytes, then TCP, whose port is in bytes 58 and 59.
        let mut packet = version_6(DESTINATION_OPTIONS, 0);
        packet[40..42].copy_from_slice(&[TCP, 1]);
        packet[58..60].copy_from_slice(&[0x14, 0x51]);
        assert_eq!(destination_port(&packet), Some(5201));
    }

    #[test]
    fn ports_are_read_in_order() {
        let ports = read("5202=80ms, 5201=0.06 s").unwrap();
        assert_eq!(ports, [(5201, Span::from_millis(60)), (5202, Span::from_millis(80))]);
        assert_eq!(read("65535=0s").unwrap(), [(65535, Span::ZERO)]);
    }

    #[test]
    fn nonsense_is_refused() {
        let refuse = |text: &str| read(text).unwrap_err();
        let expected = "expected PORT=RTT, for example 5201=60ms";
        assert_eq!(refuse(""), format!("\"\": {expected}"));
        assert_eq!(refuse("5201=60ms,"), format!("\"\": {expected}"));
        assert_eq!(refuse("5201\n"), format!("\"5201\\n\": {expected}"));
        assert_eq!(refuse("0=60ms"), "\"0=60ms\": expected a port from 1 to 65535");
        assert_eq!(refuse("65536=60ms"), "\"65536=60ms\": expected a port from 1 to 65535");
        assert_eq!(
            refuse("5201=60"),
            "port 5201: the unit is missing; expected a time such as \"50 ms\" (ps, ns, us, ms, s, min, h)"
        );
        assert_eq!(refuse("5201=25h"), "port 5201: must be at most 24 h, is 90000 s");
        assert_eq!(refuse("5201=60ms,5202=80ms,5201=60ms"), "port 5201 is given twice");
        let many: Vec<_> = (1..=65).map(|port| format!("{port}=60ms")).collect();
        assert_eq!(refuse(&many.join(",")), "at most 64 ports are allowed, found 65");
    }

    proptest! {
        /// Arbitrary bytes, most of them with the version of an IP packet: never a panic, and a port only where four
        /// bytes of a header of TCP or UDP are.
        #[test]
        fn arbitrary_bytes_do_no_harm(mut content in prop::collection::vec(any::<u8>(), 0..200), first in 0x3f..0x72_u8) {
            if let Some(byte) = content.first_mut() {
                *byte = first;
            }
            if let Some(port) = destination_port(&content) {
                prop_assert!(content.len() >= HEADER_4 + 4);
                prop_assert!(content.windows(2).skip(HEADER_4 + 2).any(|pair| pair == port.to_be_bytes()));
            }
        }

        /// Headers upon headers, each of which may point anywhere.
        #[test]
        fn chains_of_headers_end(lengths in prop::collection::vec((0..4_u8, 0..3_u8), 0..40), cut in 0..2000_usize) {
            let kinds = [HOP_BY_HOP, ROUTING, DESTINATION_OPTIONS, TCP];
            let mut packet = version_6(HOP_BY_HOP, 0)[..HEADER_6].to_vec();
            for (kind, length) in lengths {
                packet.extend([kinds[usize::from(kind)], length]);
                packet.resize(packet.len() + usize::from(length) * 8 + 6, 0x51);
            }
            packet.truncate(cut);
            let _ = destination_port(&packet);
        }

        #[test]
        fn any_text_is_read_or_refused_in_one_line(text in "[0-9=,msh .\\PC\n-]{0,40}") {
            if let Err(line) = read(&text) {
                prop_assert!(!line.contains('\n'), "{line}");
            }
        }
    }
}
