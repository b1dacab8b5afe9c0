//! The program's server, and its client.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::deadline::{Lines, output, until, wait};

const PROGRAM: &str = env!("CARGO_BIN_EXE_ackclock-measure");

/// A directory, a token in it, and a server; all go away with it.
pub struct Stand {
    pub directory: PathBuf,
    pub server: Child,
    pub address: String,
    /// Of the server's certificate, over QUIC.
    pub fingerprint: String,
    transport: Vec<&'static str>,
}

pub fn measure(arguments: &[&str]) -> Output {
    output(Command::new(PROGRAM).args(arguments))
}

impl Stand {
    /// `transport` are the options of client and server.
    pub fn new(name: &str, transport: &[&'static str]) -> Stand {
        let directory = std::env::temp_dir().join(format!("ackclock-{name}-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        assert!(measure(&["token", directory.join("token").to_str().unwrap()]).status.success());
        let transport = transport.to_vec();
        let (server, address, fingerprint) = serve(&directory, &transport, "127.0.0.1:0");
        Stand { directory, server, address, fingerprint, transport }
    }

    /// Another server, at the same address.
    pub fn restart(&mut self) {
        self.server.kill().unwrap();
        wait(&mut self.server);
        (self.server, _, self.fingerprint) = serve(&self.directory, &self.transport, &self.address);
    }

    pub fn path(&self, name: &str) -> String {
        self.directory.join(name).to_str().unwrap().to_owned()
    }

    pub fn run(&self, duration: &str) -> Command {
        self.run_by("1s", duration, "2s")
    }

    /// A campaign of slots of `period` that gives up after `patience`.
    pub fn run_by(&self, period: &str, duration: &str, patience: &str) -> Command {
        let mut run = Command::new(PROGRAM);
        run.arg("run").args(&self.transport);
        run.args([&self.address, "--token", &self.path("token"), "-o", &self.path("campaign")]);
        run.args(["--period", period, "--duration", duration, "--patience", patience]);
        run.stdin(Stdio::null()).stderr(Stdio::piped());
        run
    }

    /// The whole lines of the campaign's log; none while there is no log.
    pub fn log(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("campaign/log.jsonl")).unwrap_or_default();
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        whole.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub fn server_log(&self) -> String {
        fs::read_to_string(self.path("server.jsonl")).unwrap()
    }

    /// Waits until the server's log contains `text`.
    pub fn wait_for(&self, text: &str) {
        until(&format!("{text:?} in the server's log"), || self.server_log().contains(text));
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// What a program has told people.
pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A server, its address and fingerprint.
fn serve(directory: &Path, transport: &[&str], listen: &str) -> (Child, String, String) {
    let mut server = Command::new(PROGRAM)
        .arg("serve")
        .args(transport)
        .args(["--listen", listen, "--controls", "reno,cubic", "--token"])
        .arg(directory.join("token"))
        .args(["--max-rate", "80Mbit/s", "--log"])
        .arg(directory.join("server.jsonl"))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let line = Lines::of(server.stderr.take().unwrap()).next().expect("the server says where it listens");
    let end = |character: char| character == ';' || character == ',';
    let address =
        line.strip_prefix("Listening on ").and_then(|rest| rest.split(end).next()).expect("an address");
    let fingerprint =
        line.split_once("fingerprint ").and_then(|(_, rest)| rest.split(end).next()).unwrap_or("");
    (server, address.to_owned(), fingerprint.to_owned())
}
