//! Common parts of the receivers of rate-based flows: counting arrivals, and sending reports.

use ackclock_units::{Span, Time};

use crate::context::Context;
use crate::endpoint::{ReceiverView, ReceivingEnd};
use crate::packet::{Kind, Packet};
use crate::payload::{Header, Payload, Report};

/// The packets of a flow as they arrive, and where reports on them go.
#[derive(Debug)]
pub struct Intake {
    flow: u32,
    route: u32,
    report_bytes: u16,
    total: u64,
    delivered: u64,
    completed: Option<Time>,
    /// When the newest packet was sent, and when it arrived.
    newest: Option<(Time, Time)>,
    /// The last information from the sender.
    pub header: Header,
}

/// The receiver of a rate-based flow whose control has parameters `P`.
pub trait RateReceiver<P>: ReceivingEnd + 'static {
    /// A receiver that takes packets in by `intake`.
    fn new(params: P, intake: Intake) -> Self;
}

impl Intake {
    /// A flow of `total` packets, whose reports of `report_bytes` bytes enter the table of routes at `route`.
    #[must_use]
    pub fn new(flow: u32, route: u32, report_bytes: u16, total: u64) -> Self {
        let header = Header::default();
        Intake { flow, route, report_bytes, total, delivered: 0, completed: None, newest: None, header }
    }

    /// Takes in a packet that arrives.
    pub fn take(&mut self, packet: &Packet, context: &mut Context<'_>) {
        if let Some(&Payload::Header(header)) = context.payloads.remove(packet.handle()) {
            self.header = header;
        }
        self.delivered += 1;
        if self.delivered == self.total {
            self.completed = Some(context.now);
        }
        self.newest = Some((packet.sent, context.now));
    }

    /// The time between two reports: a round trip as the sender measures it.
    #[must_use]
    pub fn report_interval(&self) -> Span {
        self.header.rtt.max(Span::from_millis(1))
    }

    /// The packet that carries `report`, with the delay filled in; `highest` is the highest packet that arrived. None
    /// before the first packet.
    pub fn report(&self, context: &mut Context<'_>, highest: Option<u64>, report: Report) -> Option<Packet> {
        let (sent, arrived) = self.newest?;
        let report = Report { delay: context.now.since(arrived), ..report };
        let sequence = highest.map_or(0, |highest| highest + 1);
        let packet = Packet::new(Kind::Ack, self.flow, self.route, sequence, sent, self.report_bytes);
        Some(packet.with_handle(context.payloads.insert(Payload::Report(report))))
    }

    /// The amount delivered, and when the flow was complete.
    #[must_use]
    pub const fn view(&self) -> ReceiverView {
        ReceiverView::unordered(self.delivered, self.completed)
    }
}
