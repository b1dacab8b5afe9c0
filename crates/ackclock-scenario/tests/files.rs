//! Files that are given with a scenario: they stand in place of the disk, all of it.

use ackclock_cc::registry::BuiltIn;
use ackclock_scenario::{Draft, Files};

const SCENARIO: &str = r#"
[run]
duration = "1 s"
[dumbbell]
rate_trace = "down.trace"
delay = "10 ms"
queue = { kind = "droptail", limit = "10 packets" }
[[flow]]
controller = "reno"
"#;

fn check(files: Files) -> Result<String, String> {
    let draft = Draft::from_toml(SCENARIO, "scenario").unwrap().with_files(files);
    draft.check(&BuiltIn).map(|checked| checked.digest()).map_err(|refusal| refusal.to_string())
}

fn files(name: &str, text: &str) -> Files {
    Files::from([(name.to_owned(), text.to_owned())])
}

#[test]
fn content_counts() {
    let digest = check(files("down.trace", "1\n2\n")).unwrap();
    assert_eq!(check(files("down.trace", "1\n2\n")).unwrap(), digest);
    assert_ne!(check(files("down.trace", "1\n3\n")).unwrap(), digest);
}

#[test]
fn what_was_not_given_is_refused_and_the_disk_is_not_looked_at() {
    let none = check(Files::new()).unwrap_err();
    assert_eq!(
        none,
        "scenario:5: dumbbell.rate_trace: down.trace: there is no disk here, and no file was given"
    );
    let other = check(files("up.trace", "1\n")).unwrap_err();
    assert_eq!(other, "scenario:5: dumbbell.rate_trace: down.trace: was not given; there are: up.trace");
    let manifest = SCENARIO.replace("down.trace", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
    let draft = Draft::from_toml(&manifest, "scenario").unwrap().with_files(Files::new());
    assert!(draft.check(&BuiltIn).unwrap_err().to_string().contains("there is no disk here"));
}

#[test]
fn what_is_given_with_one_scenario_is_not_there_for_the_next() {
    check(files("down.trace", "1\n")).unwrap();
    let alone = Draft::from_toml(SCENARIO, "scenario").unwrap().check(&BuiltIn).unwrap_err();
    assert!(alone.to_string().contains("cannot be read"), "{alone}");
}
