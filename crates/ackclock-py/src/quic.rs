//! QUIC where the extension was built with it, else how to get it.

#[cfg(feature = "quic")]
pub use ackclock_quic::simulated::Quic;

/// The place of QUIC in a build without it: a flow that wants it is refused.
#[cfg(not(feature = "quic"))]
pub struct Quic {
    #[expect(dead_code, reason = "nothing is logged")]
    pub qlog: Option<std::path::PathBuf>,
}

#[cfg(not(feature = "quic"))]
impl ackclock_sim::Transport for Quic {
    fn make_ends(
        &self,
        flow: &ackclock_scenario::Flow,
        _: &ackclock_sim::Placement,
        _: Box<dyn ackclock_cc::erased::ErasedController>,
    ) -> Result<ackclock_sim::endpoint::Ends, String> {
        Err(format!(
            "flow {}: this build has no QUIC: run make quic, or install a wheel, which has it",
            flow.name
        ))
    }
}
