//! Quantities as text: what is read, what is written, what is refused.

use ackclock_units::{Bytes, Packets, Rate, Span, UnitError, parse_fraction};
use proptest::prelude::*;

#[test]
fn reads_what_people_write() {
    assert_eq!("100 Mbit/s".parse(), Ok(Rate(100_000_000)));
    assert_eq!("100mbit".parse(), Ok(Rate(100_000_000)));
    assert_eq!("2.5Gbps".parse(), Ok(Rate(2_500_000_000)));
    assert_eq!("0.05 s".parse(), Ok(Span::from_millis(50)));
    assert_eq!("1e-3 s".parse(), Ok(Span::from_millis(1)));
    // The micro sign and the Greek letter, which Unicode's compatibility form makes of it; and as tc prints.
    for text in ["5 \u{b5}s", "5 \u{3bc}s", "5usec", "0.005 msec", "5e-6 sec"] {
        assert_eq!(text.parse(), Ok(Span::from_micros(5)), "{text}");
    }
    assert_eq!("2 Mb/s".parse(), Ok(Rate(2_000_000)));
    assert_eq!("3 bytes".parse(), Ok(Bytes(3)));
    assert_eq!("1.5 kB".parse(), Ok(Bytes(1500)));
    assert_eq!("1 KiB".parse(), Ok(Bytes(1024)));
    assert_eq!("1 packet".parse(), Ok(Packets(1)));
    assert_eq!(parse_fraction("1.5 %"), Ok(0.015));
    assert_eq!(parse_fraction("0.25"), Ok(0.25));
}

#[test]
fn rounds_to_the_nearest_smallest_unit() {
    // 0.5 ps is half way and goes up, 0.49 ps goes down.
    assert_eq!("0.5 ps".parse(), Ok(Span(1)));
    assert_eq!("0.49 ps".parse(), Ok(Span(0)));
}

#[test]
fn refuses_with_what_is_allowed() {
    let message = |text: &str| text.parse::<Span>().unwrap_err().to_string();
    let allowed = "expected a time such as \"50 ms\" (ps, ns, us, ms, s, min, h)";
    assert_eq!(message("50"), format!("the unit is missing; {allowed}"));
    assert_eq!(message("50 mm"), format!("unknown unit; {allowed}"));
    assert_eq!(message("soon"), format!("not a number; {allowed}"));
    assert_eq!(message("-1 ms"), format!("must not be negative; {allowed}"));
    assert_eq!(message("1e30 s"), format!("too large; {allowed}"));
    assert!(matches!("1 b".parse::<Bytes>(), Err(UnitError::UnknownUnit(_))), "b means bit elsewhere");
    assert!(matches!("1 MB/s".parse::<Rate>(), Err(UnitError::UnknownUnit(_))), "B means bytes");
    assert!(parse_fraction("-0.1").is_err());
    assert!(parse_fraction("nan").is_err());
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC*") {
        let _ = text.parse::<Span>();
        let _ = text.parse::<Rate>();
        let _ = text.parse::<Bytes>();
        let _ = parse_fraction(&text);
    }

    #[test]
    fn numbers_near_units_are_read_or_refused(text in "[-+]?[0-9._]{0,45}(e[-+]?[0-9]{0,12})? ?(ms|s|h|Mbit/s|%|B)?") {
        let _ = text.parse::<Span>();
        let _ = text.parse::<Rate>();
        let _ = parse_fraction(&text);
    }

    #[test]
    fn what_is_written_is_read_back(value in any::<u64>()) {
        prop_assert_eq!(Span(value).to_string().parse(), Ok(Span(value)));
        prop_assert_eq!(Rate(value).to_string().parse(), Ok(Rate(value)));
        prop_assert_eq!(Bytes(value).to_string().parse(), Ok(Bytes(value)));
    }
}
