//! `ackclock-kernel`: the controls in the kernel's TCP.

use std::io::{BufWriter, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use ackclock_kernel::{kernel, trace};
use clap::Parser;
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Load ackclock's congestion controls into the Linux kernel's TCP as eBPF programs, without kernel modules.
///
/// Examples:
///   ackclock kernel load fit
///   iperf3 -c HOST -C ack_fit
///   ackclock kernel unload
///
/// Exit status: 0 done, 1 failed, 2 for bad input such as an unknown name.
#[derive(Parser)]
#[command(version, verbatim_doc_comment, bin_name = "ackclock kernel")]
enum Verb {
    /// List all controls and whether they are loaded.
    List {
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Show loaded controls, how many connections of this network namespace use them, and which process traces.
    Status {
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Write every window change to standard output as CSV, until Ctrl-C; ackclock kernel trace turns this into a
    /// result for all metrics and plots.
    Trace {
        /// Duration of the trace, seconds; until Ctrl-C by default.
        #[arg(long)]
        duration_s: Option<f64>,
    },
    /// Load controls; they stay loaded until unloaded or the machine restarts.
    Load {
        /// Names of the controls.
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Unload controls, all by default; existing connections keep theirs until they end.
    Unload {
        /// Names of the controls.
        names: Vec<String>,
    },
}

impl Verb {
    /// The names of controls that were given.
    fn names(&self) -> &[String] {
        match self {
            Verb::Load { names } | Verb::Unload { names } => names,
            Verb::List { .. } | Verb::Status { .. } | Verb::Trace { .. } => &[],
        }
    }
}

fn run(verb: Verb) -> Result<(), String> {
    match verb {
        Verb::List { json } => list(json),
        Verb::Status { json } => status(json),
        Verb::Trace { duration_s } => follow(duration_s),
        Verb::Load { names } => names.iter().try_for_each(|name| kernel::load(name)),
        Verb::Unload { names } if names.is_empty() => {
            kernel::names().into_iter().try_for_each(kernel::unload)
        }
        Verb::Unload { names } => names.iter().try_for_each(|name| kernel::unload(name)),
    }
}

fn list(json: bool) -> Result<(), String> {
    let controls = kernel::status()?;
    if json {
        let described = controls.iter().map(
            |control| json!({ "name": control.name, "in_kernel": control.in_kernel, "loaded": control.is_loaded }),
        );
        println!("{}", Value::Array(described.collect()));
        return Ok(());
    }
    for control in controls {
        let state = if control.is_loaded { "loaded" } else { "-" };
        println!("{:<16} {:<16} {state}", control.name, control.in_kernel);
    }
    Ok(())
}

fn status(json: bool) -> Result<(), String> {
    let loaded: Vec<_> = kernel::status()?.into_iter().filter(|control| control.is_loaded).collect();
    let connections = kernel::connections()?;
    let count = |control: &kernel::Status| connections.get(control.in_kernel).copied().unwrap_or(0);
    if json {
        let described = loaded.iter().map(
            |control| json!({ "name": control.name, "in_kernel": control.in_kernel, "connections": count(control) }),
        );
        let controls = Value::Array(described.collect());
        println!("{}", json!({ "controls": controls, "traced_by": trace::listener() }));
        return Ok(());
    }
    if loaded.is_empty() {
        println!("no controls are loaded");
    }
    for control in &loaded {
        println!("{:<16} {:<16} {} connections", control.name, control.in_kernel, count(control));
    }
    if let Some(process) = trace::listener() {
        println!("traced by process {process}");
    }
    Ok(())
}

fn follow(duration_s: Option<f64>) -> Result<(), String> {
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&ended))
            .map_err(|error| format!("signals: {error}"))?;
    }
    #[expect(clippy::disallowed_methods, reason = "a duration of the user's time")]
    let start = Instant::now();
    let goes_on = || {
        let over = duration_s.is_some_and(|seconds| start.elapsed().as_secs_f64() >= seconds);
        !over && !ended.load(Ordering::Relaxed)
    };
    let missed = trace::write(&mut BufWriter::new(stdout().lock()), &goes_on)?;
    if missed > 0 {
        return Err(format!(
            "{missed} changes arrived faster than they could be written; the trace has gaps"
        ));
    }
    Ok(())
}

fn main() -> ExitCode {
    let verb = Verb::parse();
    // Before anything is loaded or unloaded.
    let outcome = match kernel::check_names(verb.names()) {
        Err(message) => Err((message, 2)),
        Ok(()) => run(verb).map_err(|message| (message, 1)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err((message, status)) => {
            eprintln!("ackclock-kernel: {message}");
            ExitCode::from(status)
        }
    }
}
