//! The digests of scenarios: one scenario per line of standard input, as JSON, and its digest or its refusal per line of
//! standard output. Tests of the page hold what a browser's engine gives against it.

use std::io::{self, BufRead, Write};

use ackclock_scenario::{Draft, Files};
use ackclock_sim::{BuiltIn, Simulation};

fn digest(line: &str) -> Result<String, String> {
    let request: serde_json::Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let files: Files = serde_json::from_value(request["files"].clone()).map_err(|error| error.to_string())?;
    let (text, name) = (request["text"].as_str().unwrap_or_default(), "scenario");
    let draft =
        if request["isJson"] == true { Draft::from_json(text, name) } else { Draft::from_toml(text, name) };
    let checked = draft
        .and_then(|draft| draft.with_files(files).check(&BuiltIn))
        .map_err(|refusal| refusal.to_string())?;
    let mut simulation = Simulation::new(checked.scenario, &BuiltIn, 0, false)?;
    while !simulation.advance(1_000_000) {}
    let (summary, _) = simulation.finish(&BuiltIn).map_err(|error| error.to_string())?;
    Ok(summary.digest)
}

fn main() -> io::Result<()> {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        writeln!(output, "{}", digest(&line?).unwrap_or_else(|refusal| refusal))?;
    }
    Ok(())
}
