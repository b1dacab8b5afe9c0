//! Why a conversation ended.

use std::fmt;

/// Why a conversation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The peer does not know the token.
    Stranger,
    /// The peer sent something that is not part of the protocol.
    Nonsense,
    /// A line is not as the server wrote it, or not in its place.
    Forged,
    /// The peer took too long, or the connection ended.
    Gone(String),
    /// There is no connection, and trying again will not change that.
    Unreachable(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Stranger => f.write_str("does not know the token"),
            Fault::Nonsense => f.write_str("does not speak the protocol of ackclock measure"),
            Fault::Forged => f.write_str("somebody on the path has changed what the server wrote"),
            Fault::Gone(why) | Fault::Unreachable(why) => f.write_str(why),
        }
    }
}
