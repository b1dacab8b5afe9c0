//! `ackclock-web-bind IN.wasm FOLDER`: writes the engine and the JavaScript that calls it, `engine.js`, with types.

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [input, folder] = arguments.as_slice() else {
        eprintln!("usage: ackclock-web-bind IN.wasm FOLDER");
        return ExitCode::from(2);
    };
    let written = Bindgen::new()
        .input_path(input)
        .web(true)
        .and_then(|bindgen| {
            bindgen
                .typescript(true)
                .remove_name_section(true)
                .omit_default_module_path(true)
                .out_name("engine")
                .generate(folder)
        })
        .map_err(|error| format!("{error:#}"));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("ackclock-web-bind: {problem}");
            ExitCode::FAILURE
        }
    }
}
