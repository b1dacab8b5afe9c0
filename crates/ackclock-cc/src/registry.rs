//! The controls by name: one line each. Lists, checks, documentation and Python are made from it.

use alloc::boxed::Box;

use crate::erased::ErasedController;
use crate::library::{Catch, Guarded, guarded_check};
use crate::{
    Controller, Parameter, ParameterError, Parameters, Start, Value, africa, aimd, bbr, bbr3, bic, bic_linux,
    compound, compound_linux, constant, copa, cubic, dctcp, fast, fit, gaimd, hstcp, htcp, htcp_linux, hybla,
    illinois, ledbat, ledbat_plus_plus, multcp, prague, reno, scalable, vegas, veno, westwood, yeah,
};

/// Parameters as a scenario gives them: names and values.
pub type NamedValues<'a> = &'a [(&'a str, Value<'a>)];

/// The quantity that limits a sender under a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A window of packets in flight.
    Window,
    /// A sending rate.
    Rate,
}

impl Kind {
    /// The word for it in lists.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Window => "window",
            Kind::Rate => "rate",
        }
    }
}

/// Makes a control from parameters and a start; otherwise says which parameter is at fault.
pub type Build =
    dyn Fn(NamedValues<'_>, Start) -> Result<Box<dyn ErasedController>, (usize, ParameterError)> + Sync;

/// Checks parameters, and says which is at fault and why.
pub type Check = dyn Fn(NamedValues<'_>) -> Result<(), (usize, ParameterError)> + Sync;

/// Checks the values of parameters that are known only at run time.
///
/// # Errors
/// The parameter at fault and the reason: it is unknown, or its value is outside of its domain.
pub fn check(parameters: &[Parameter], values: NamedValues<'_>) -> Result<(), (usize, ParameterError)> {
    for (index, (name, value)) in values.iter().enumerate() {
        let known = parameters.iter().find(|parameter| parameter.name == *name);
        let domain = known.ok_or((index, ParameterError::Unknown))?.domain;
        if !domain.contains(*value) {
            return Err((index, ParameterError::OutsideDomain(domain)));
        }
    }
    Ok(())
}

/// The parameters with these values, and their defaults otherwise.
///
/// # Errors
/// The parameter at fault and the reason.
pub fn read<P: Parameters>(values: NamedValues<'_>) -> Result<P, (usize, ParameterError)> {
    let mut params = P::default();
    for (index, (name, value)) in values.iter().enumerate() {
        params.set(name, *value).map_err(|error| (index, error))?;
    }
    params.check().map_err(|error| (values.len().saturating_sub(1), error))?;
    Ok(params)
}

/// Settings for the kernel's recovery in the code of a control in Linux 2.6: `min_cwnd`, and whose `cong_avoid` it
/// calls. The default is that of a control that sets neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kernel26 {
    /// In an episode the window falls to half of ssthresh, and from there slow start leads back to ssthresh.
    pub half_floor: bool,
    /// The window grows by the packets acknowledged, even if the acknowledgement was too early to count.
    pub counts_bytes: bool,
}

/// One control that scenarios can name.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// The quantity that limits the sender.
    pub kind: Kind,
    /// The document that specifies it.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Effects of its code in Linux 2.6 in addition to setting the window.
    pub linux_2_6: Kernel26,
    /// Whether it can be made during a run and on any thread, unlike a class of Python or JavaScript.
    pub anytime: bool,
    build: Option<&'static Build>,
    check: &'static Check,
}

impl core::fmt::Debug for Entry {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Entry {
    /// An entry for a control of type `C`.
    #[must_use]
    pub const fn of<C: Controller>(name: &'static str, source: &'static str) -> Self {
        Entry {
            name,
            kind: Kind::Window,
            source,
            parameters: <C::Params as Parameters>::LIST,
            linux_2_6: Kernel26 { half_floor: false, counts_bytes: false },
            anytime: true,
            build: Some(&|values, start| Ok(Box::new(C::new(read::<C::Params>(values)?, start)))),
            check: &|values| read::<C::Params>(values).map(|_| ()),
        }
    }

    /// An entry for a control of type `C` in a library that catches its own panics by `K`.
    #[must_use]
    pub const fn of_library<C: Controller, K: Catch>(name: &'static str, source: &'static str) -> Self {
        Entry {
            anytime: false,
            build: Some(&|values, start| {
                let read = || read::<C::Params>(values);
                let params = guarded_check::<K, _, _>(read, |rule| (0, ParameterError::Together(rule)))?;
                Ok(Box::new(Guarded::<C, K>::of(|| C::new(params, start))))
            }),
            check: &|values| {
                let read = || read::<C::Params>(values).map(|_| ());
                guarded_check::<K, _, _>(read, |rule| (0, ParameterError::Together(rule)))
            },
            ..Entry::of::<C>(name, source)
        }
    }

    /// An entry for a rate-based control with parameters `P`. Its two ends belong to the driver.
    #[must_use]
    pub const fn of_rate<P: Parameters>(name: &'static str, source: &'static str) -> Self {
        Entry {
            name,
            kind: Kind::Rate,
            source,
            parameters: P::LIST,
            linux_2_6: Kernel26 { half_floor: false, counts_bytes: false },
            anytime: true,
            build: None,
            check: &|values| read::<P>(values).map(|_| ()),
        }
    }

    /// An entry for a control whose type is known only at run time.
    #[must_use]
    pub const fn of_dynamic(
        name: &'static str,
        source: &'static str,
        parameters: &'static [Parameter],
        build: &'static Build,
        check: &'static Check,
    ) -> Self {
        let linux_2_6 = Kernel26 { half_floor: false, counts_bytes: false };
        let (kind, build) = (Kind::Window, Some(build));
        Entry { name, kind, source, parameters, linux_2_6, anytime: false, build, check }
    }

    /// The same control, whose code in Linux 2.6 lets the window fall to half of ssthresh.
    #[must_use]
    pub const fn half_floor(self) -> Self {
        Entry { linux_2_6: Kernel26 { half_floor: true, ..self.linux_2_6 }, ..self }
    }

    /// The same control, whose code in Linux 2.6 counts acknowledged bytes.
    #[must_use]
    pub const fn counts_bytes(self) -> Self {
        Entry { linux_2_6: Kernel26 { counts_bytes: true, ..self.linux_2_6 }, ..self }
    }

    /// The same control under another name.
    #[must_use]
    pub const fn named(self, name: &'static str) -> Self {
        Entry { name, ..self }
    }

    /// Checks parameters.
    ///
    /// # Errors
    /// The index of the given parameter that is at fault, and what is wrong with it.
    pub fn check(&self, values: NamedValues<'_>) -> Result<(), (usize, ParameterError)> {
        (self.check)(values)
    }

    /// A control at the start of a connection.
    ///
    /// # Errors
    /// The index of the given parameter that is at fault, and what is wrong with it; or that the control is
    /// rate-based and has no window.
    pub fn build(
        &self,
        values: NamedValues<'_>,
        start: Start,
    ) -> Result<Box<dyn ErasedController>, (usize, ParameterError)> {
        let none = || (0, ParameterError::Together("a rate-based control has no window"));
        self.build.ok_or_else(none)?(values, start)
    }
}

/// Controls that can be named: the built-in ones, or those and others that were added at run time.
pub trait Catalogue {
    /// All entries, in the order of lists.
    fn entries(&self) -> &[Entry];

    /// The entry of that name.
    fn find(&self, name: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.name == name)
    }
}

/// The built-in controls.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltIn;

impl Catalogue for BuiltIn {
    fn entries(&self) -> &[Entry] {
        ENTRIES
    }
}

const ENTRIES: &[Entry] = &[
    Entry::of::<reno::Reno>("reno", "RFC 5681").half_floor().counts_bytes(),
    Entry::of::<gaimd::Gaimd>("gaimd", "Yang, Lam, ICNP 2000"),
    Entry::of::<aimd::Aimd>("aimd", "Chiu, Jain 1989; with the defaults of Xu, Harfoush, Rhee, INFOCOM 2004"),
    Entry::of::<multcp::Multcp>("multcp", "Crowcroft, Oechslin, CCR 28(3), 1998"),
    Entry::of::<hstcp::Hstcp<hstcp::ClosedForm>>("hstcp", "RFC 3649, section 5").half_floor(),
    Entry::of::<hstcp::Hstcp<hstcp::Table>>("hstcp-table", "RFC 3649, appendix B, applied as Linux does")
        .half_floor(),
    Entry::of::<scalable::Scalable>("scalable", "Kelly, CCR 33(2), 2003").half_floor(),
    Entry::of::<illinois::Illinois<illinois::Paper>>(
        "illinois",
        "Liu, Basar, Srikant, Performance Evaluation 65 (2008), section 3",
    )
    .half_floor(),
    Entry::of::<illinois::Illinois<illinois::Linux>>("illinois-linux", "Linux tcp_illinois.c (behaviour)")
        .half_floor(),
    Entry::of::<bic::Bic>("bic", "Xu, Harfoush, Rhee, INFOCOM 2004, section VI-A"),
    Entry::of::<bic_linux::BicLinux>("bic-linux", "Linux tcp_bic.c (behaviour)"),
    Entry::of::<compound::Compound>(
        "compound",
        "Tan, Song, Zhang, Sridharan, INFOCOM 2006; draft-sridharan-tcpm-ctcp",
    )
    .half_floor(),
    Entry::of::<compound_linux::CompoundLinux>(
        "compound-linux",
        "Linux port of Compound TCP in ns-2 (behaviour)",
    )
    .half_floor(),
    Entry::of::<cubic::Cubic<cubic::Rfc9438>>("cubic", "RFC 9438"),
    Entry::of::<cubic::Cubic<cubic::Rfc8312>>("cubic-8312", "RFC 8312"),
    Entry::of::<cubic::Cubic<cubic::Linux>>("cubic-linux", "Linux 6.12, net/ipv4/tcp_cubic.c (behaviour)"),
    Entry::of::<htcp::Htcp>("htcp", "Leith, Shorten, PFLDnet 2004; draft-leith-tcp-htcp"),
    Entry::of::<htcp_linux::HtcpLinux>("htcp-linux", "Linux tcp_htcp.c (behaviour)"),
    Entry::of::<vegas::Vegas>("vegas", "Brakmo, Peterson, JSAC 13(8), 1995").half_floor(),
    Entry::of::<fast::Fast>("fast", "Jin, Wei, Low, INFOCOM 2004"),
    Entry::of::<westwood::Westwood<westwood::Paper>>("westwood", "Mascolo, Grieco, CCR 34(2), 2004")
        .counts_bytes(),
    Entry::of::<westwood::Westwood<westwood::Linux>>("westwood-linux", "Linux tcp_westwood.c (behaviour)")
        .counts_bytes(),
    Entry::of::<veno::Veno>("veno", "Fu, Liew, JSAC 21(2), 2003"),
    Entry::of::<africa::Africa>("africa", "King, Baraniuk, Riedi, INFOCOM 2005, section III"),
    Entry::of::<fit::Fit>("fit", "Wang, Wen, Zhang, Han, INFOCOM 2011, section III"),
    Entry::of::<hybla::Hybla<hybla::Paper>>(
        "hybla",
        "Caini, Firrincieli, Int. J. Satellite Communications 22, 2004",
    )
    .half_floor(),
    Entry::of::<hybla::Hybla<hybla::Linux>>("hybla-linux", "Linux tcp_hybla.c (behaviour)").half_floor(),
    Entry::of::<yeah::Yeah>("yeah", "Baiocchi, Castellani, Vacirca, PFLDnet 2007").half_floor(),
    Entry::of::<ledbat::Ledbat>("ledbat", "RFC 6817"),
    Entry::of::<ledbat_plus_plus::LedbatPlusPlus>("ledbat++", "draft-irtf-iccrg-ledbat-plus-plus"),
    Entry::of::<copa::Copa>("copa", "Arun, Balakrishnan, NSDI 2018"),
    Entry::of::<bbr::Bbr>("bbr", "draft-cardwell-iccrg-bbr-congestion-control-00, version 1"),
    Entry::of::<bbr::BbrLinux>("bbr-linux", "Linux 6.18, net/ipv4/tcp_bbr.c (behaviour), version 1"),
    Entry::of::<bbr3::Bbr3<bbr3::Draft>>("bbr3", "draft-ietf-ccwg-bbr-06, version 3"),
    Entry::of::<bbr3::Bbr3<bbr3::Linux>>("bbr3-linux", "google/bbr, branch v3, tcp_bbr.c (behaviour)"),
    Entry::of::<dctcp::Dctcp>("dctcp", "RFC 8257"),
    Entry::of::<prague::Prague>(
        "prague",
        "draft-briscoe-iccrg-prague-congestion-control-04; L4STeam/udp_prague",
    ),
    Entry::of::<constant::Constant>("constant", "a window that stays, for tests"),
];
