//! `ackclock-kernel`: the controls in the kernel's TCP.

use std::process::ExitCode;

use ackclock_kernel::kernel;
use clap::{Parser, Subcommand};

/// Congestion controls of ackclock in the Linux kernel's TCP, as eBPF: no modules, gone when unloaded.
///
/// Examples:
///   ackclock-kernel load fit
///   iperf3 -c HOST -C ack_fit
///   ackclock-kernel unload
#[derive(Parser)]
#[command(version, verbatim_doc_comment)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// The controls that there are, and which are loaded.
    List,
    /// Load controls; they stay until they are unloaded or the machine restarts.
    Load {
        /// Their names.
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Unload controls, by default all; connections keep theirs until they end.
    Unload {
        /// Their names.
        names: Vec<String>,
    },
}

fn run(verb: Verb) -> Result<(), String> {
    match verb {
        Verb::List => {
            for one in kernel::status()? {
                let state = if one.is_loaded { "loaded" } else { "-" };
                println!("{:<10} {:<14} {state}", one.name, one.in_kernel);
            }
            Ok(())
        }
        Verb::Load { names } => names.iter().try_for_each(|name| kernel::load(name)),
        Verb::Unload { names } if names.is_empty() => {
            kernel::names().into_iter().try_for_each(kernel::unload)
        }
        Verb::Unload { names } => names.iter().try_for_each(|name| kernel::unload(name)),
    }
}

fn main() -> ExitCode {
    match run(Arguments::parse().verb) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("ackclock-kernel: {message}");
            ExitCode::FAILURE
        }
    }
}
