//! Measurements of a sender for its control: round trips for all of them, the rest only for those that ask for it.

use ackclock_cc::erased::ErasedController;
use ackclock_cc::{Lost, RateSample};
use ackclock_units::Time;

use super::delivery_rate::DeliveryRate;
use super::marks::ReportedMarks;
use super::recovery::Flight;
use super::stamps::{Stamp, Stamps};
use crate::packet::Packet;

/// The measurements of one connection.
#[derive(Clone, Debug)]
pub struct Measuring {
    /// Round trips completed, and the first packet of the present one, whose acknowledgement completes it.
    round: u64,
    round_begin: u64,
    /// The round trip in which the window was full last.
    full_round: u64,
    /// Further measurements that the control asks for; boxed, because most controls ask for none.
    optional: Option<Box<OptionalMeasurements>>,
}

/// Measurements for the controls that ask for them.
#[derive(Clone, Debug)]
struct OptionalMeasurements {
    rate: Option<DeliveryRate>,
    stamps: Option<Stamps>,
    marks: Option<ReportedMarks>,
}

impl Measuring {
    /// The measurements that `control` asks for; acknowledgements count marks with `ace_bits` bits.
    #[must_use]
    pub fn new(control: &dyn ErasedController, ace_bits: u64) -> Self {
        let wants = control.wants();
        let optional = || {
            Box::new(OptionalMeasurements {
                rate: wants.rate.then(|| DeliveryRate::new(wants.losses)),
                stamps: wants.losses.then(Stamps::default),
                marks: wants.marks.then(|| ReportedMarks::with_bits(ace_bits)),
            })
        };
        Measuring {
            round: 0,
            round_begin: 0,
            full_round: 0,
            optional: (wants.rate || wants.losses || wants.marks).then(optional),
        }
    }

    /// Whether the control asks for more than round trips. Most do not, and pay for one question then.
    #[inline]
    #[must_use]
    pub const fn has_optional(&self) -> bool {
        self.optional.is_some()
    }

    /// Round trips completed.
    #[inline]
    #[must_use]
    pub const fn round(&self) -> u64 {
        self.round
    }

    /// Everything up to `sequence` is acknowledged while `next` is the next new packet.
    #[inline]
    pub const fn on_advance(&mut self, sequence: u64, next: u64) {
        if sequence > self.round_begin {
            self.round += 1;
            self.round_begin = next;
        }
    }

    /// After a timeout the next round trip is complete when the new packet `next` is acknowledged.
    pub const fn on_timeout(&mut self, next: u64) {
        self.round_begin = next;
    }

    /// The window is full.
    #[inline]
    pub const fn on_full_window(&mut self) {
        self.full_round = self.round;
    }

    /// Whether the window was full in this round trip or the one before.
    #[inline]
    #[must_use]
    pub const fn was_full(&self) -> bool {
        self.full_round + 1 >= self.round
    }

    /// Whether it wants to know of every packet that is sent.
    #[inline]
    #[must_use]
    pub fn follows_packets(&self) -> bool {
        self.optional.as_ref().is_some_and(|optional| optional.rate.is_some() || optional.stamps.is_some())
    }

    /// Whether every lost packet is reported to the control.
    #[inline]
    #[must_use]
    pub fn follows_losses(&self) -> bool {
        self.optional.as_ref().is_some_and(|optional| optional.stamps.is_some())
    }

    /// Whether the control reads the count of marks and reacts to them by itself.
    #[inline]
    #[must_use]
    pub fn counts_marks(&self) -> bool {
        self.optional.as_ref().is_some_and(|optional| optional.marks.is_some())
    }

    /// The application has no data while `in_flight` packets are in flight and the window has room.
    pub fn on_no_data(&mut self, in_flight: u64) {
        if let Some(rate) = self.optional.as_mut().and_then(|optional| optional.rate.as_mut()) {
            rate.limit(in_flight);
        }
    }

    /// Whether the application is the limit for a packet that is sent now; `has_no_data` says so of this moment.
    #[inline]
    #[must_use]
    pub fn is_limited(&self, has_no_data: bool) -> bool {
        let rate = self.optional.as_ref().and_then(|optional| optional.rate.as_ref());
        rate.and_then(DeliveryRate::is_limited).unwrap_or(has_no_data)
    }

    /// Packet `sequence` is sent at `now`, with which `tx_in_flight` packets are in flight. `flight` is as it was before.
    /// Always inlined: a call would cost BBR one in a hundred of all its instructions.
    #[inline(always)]
    pub fn on_sent(&mut self, now: Time, sequence: u64, flight: Flight, tx_in_flight: u64, limited: bool) {
        let Some(optional) = &mut self.optional else { return };
        let stamp = Stamp::new(tx_in_flight, optional.lost(), limited);
        if let Some(stamps) = &mut optional.stamps {
            stamps.on_sent(sequence, flight.oldest, stamp);
        }
        if let Some(rate) = &mut optional.rate {
            rate.on_sent(now, flight.outstanding() == 0, stamp);
        }
    }

    /// The delivery rate that `ack` shows, which newly reports `delivered` packets.
    #[inline]
    pub fn rate(&mut self, now: Time, ack: &Packet, delivered: u64) -> Option<RateSample> {
        let optional = self.optional.as_mut()?;
        let lost = optional.lost();
        optional.rate.as_mut()?.on_ack(now, ack.sent, delivered, lost)
    }

    /// Packets that `ack` newly reports as marked, among `delivered` that it newly reports.
    #[inline]
    pub fn marked(&mut self, ack: &Packet, delivered: u64) -> u64 {
        let marks = self.optional.as_mut().and_then(|optional| optional.marks.as_mut());
        marks.map_or(0, |marks| marks.read(ack, delivered))
    }

    /// Packet `sequence` is considered lost. Returns the report for the control, if it asks for one.
    pub fn lose(&mut self, sequence: u64) -> Option<Lost> {
        self.optional.as_mut()?.stamps.as_mut().map(|stamps| stamps.lose(sequence))
    }

    /// Losses that no acknowledgement has counted; from now on they are counted.
    #[inline]
    pub fn take_uncounted(&mut self) -> u64 {
        let stamps = self.optional.as_mut().and_then(|optional| optional.stamps.as_mut());
        stamps.map_or(0, Stamps::take_uncounted)
    }
}

impl OptionalMeasurements {
    #[inline]
    fn lost(&self) -> u64 {
        self.stamps.as_ref().map_or(0, Stamps::lost)
    }
}
