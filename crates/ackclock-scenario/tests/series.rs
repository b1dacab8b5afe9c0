//! Rates, delays and losses over time from files: what they mean, and what is refused.

use ackclock_cc::registry::BuiltIn;
use ackclock_scenario::{Change, Checked, Draft, Event, Files, Loss, NoiseKind, When};
use ackclock_units::{Rate, Span};

/// A scenario of 10 s with these keys in its dumbbell, and the file `a.csv`.
fn check(keys: &str, csv: &str) -> Result<Checked, String> {
    let rate = if keys.contains("rate_series") { "" } else { "rate = \"10 Mbit/s\"\n" };
    let delay = if keys.contains("delay_series") { "" } else { "delay = \"10 ms\"\n" };
    let text = format!(
        "[run]\nduration = \"10 s\"\n[dumbbell]\n{rate}{delay}{keys}\n\
         queue = {{ kind = \"droptail\", limit = \"9 packets\" }}\n[[flow]]\ncontroller = \"reno\"\n"
    );
    let files = Files::from([("a.csv".to_owned(), csv.to_owned())]);
    let draft = Draft::from_toml(&text, "a.toml").unwrap().with_files(files);
    draft.check(&BuiltIn).map_err(|refusal| refusal.to_string())
}

fn rates(more: &str, csv: &str) -> Result<Checked, String> {
    check(&format!("rate_series = {{ file = \"a.csv\"{more} }}"), csv)
}

/// What happens to link `link`, at which milliseconds.
fn changes(events: &[Event], link: usize) -> Vec<(u64, Change)> {
    let of_link = events.iter().filter(|event| event.link == link);
    of_link
        .map(|event| match event.when {
            When::At(at) => (at.0 / 1_000_000_000, event.change.clone()),
            other => panic!("{other:?}"),
        })
        .collect()
}

fn mbps(rate: f64) -> Change {
    Change::Rate(Rate((rate * 1e6) as u64))
}

/// 2 Mbit/s from the first line on, 4.5 after 1.5 s, nothing from 3 s to 4 s, then 8 Mbit/s, which stays.
#[test]
fn a_rate_holds_until_the_next_line_and_zero_is_an_outage() {
    let checked = rates("", "0,2\n1.5,4.5\n3,0\n4,8\n5,8\n").unwrap();
    let expected = vec![
        (0, mbps(2.0)),
        (1500, mbps(4.5)),
        (3000, Change::Up(false)),
        (4000, mbps(8.0)),
        (4000, Change::Up(true)),
    ];
    assert_eq!(changes(&checked.scenario.events, 0), expected);
    // The other direction has the mean: 1.5 s of 2, 1.5 s of 4.5, 1 s of 0 and 2 s of 8 are 25.75 Mbit in 6 s.
    assert!(changes(&checked.scenario.events, 1).is_empty());
    let mean = (25.75e6_f64 / 6.0).round() as u64;
    assert_eq!(checked.scenario.links.iter().map(|link| link.rate.0).collect::<Vec<_>>(), [mean, mean]);
}

/// All of these say the same.
#[test]
fn forms_of_one_table() {
    let plain = rates("", "0,2\n1,4\n2,3\n").unwrap();
    let named = ", time = \"when\", column = \"down\"";
    let forms = [
        ("", "\u{feff}0,2\r\n1,4\r\n2,3\r\n"),
        ("", "# seconds, Mbit/s\n\n0, 2\n 1 ,4\n\n2,3"),
        ("", "0\t2\n1\t4\n2\t3\n"),
        ("", "0;2\n1;4\n2;3\n"),
        ("", "0 2\n1   4\n 2 3\n"),
        ("", "time,rate\n0,2\n1,4\n2,3\n"),
        ("", "\"time, s\",\"rate\"\n\"0\",\"2\"\n1,4\n2,3\n"),
        (named, "when,up,down\n0,9,2\n1,9,4\n2,9,3\n"),
        (", column = 3", "0,9,2\n1,9,4\n2,9,3\n"),
        (", unit = \"kbit/s\"", "0,2000\n1,4000\n2,3000\n"),
        ("", "0,2 Mbit/s\n1,4000kbit\n2,3e6 bps\n"),
        (", time_unit = \"ms\"", "0,2\n1000,4\n2000,3\n"),
        ("", "1700000000.5,2\n1700000001.5,4\n1700000002.5,3\n"),
        (", every = \"1 s\"", "2\n4\n3\n"),
        (", scale = 0.5", "0,4\n1,8\n2,6\n"),
    ];
    for (more, csv) in forms {
        let same = rates(more, csv).unwrap_or_else(|refusal| panic!("{csv:?}: {refusal}"));
        assert_eq!(same.digest(), plain.digest(), "{csv:?}");
        // What is complete says the same, and so does what it says itself.
        let files = Files::from([("a.csv".to_owned(), csv.to_owned())]);
        let draft = Draft::from_toml(&same.toml, "b.toml").unwrap().with_files(files);
        let again = draft.check(&BuiltIn).unwrap_or_else(|refusal| panic!("{}: {refusal}", same.toml));
        assert_eq!((again.digest(), &again.toml), (plain.digest(), &same.toml), "{csv:?}");
    }
}

/// From 2 to 4 Mbit/s in a second and on to 2 in half a second, in steps of 250 ms that have the rate in their middle:
/// 2.25, 2.75, 3.25, 3.75, then 3.5 and 2.5; and 2 after the last line.
#[test]
fn a_straight_line_has_steps() {
    let checked = rates(", between = \"linear\", step = \"250 ms\"", "0,2\n1,4\n1.5,2\n").unwrap();
    let values = [2.25, 2.75, 3.25, 3.75, 3.5, 2.5, 2.0];
    let expected: Vec<_> = (0..).map(|step| step * 250).zip(values.map(mbps)).collect();
    assert_eq!(changes(&checked.scenario.events, 0), expected);
}

/// Three lines a second apart, so that all begins again every 3 s.
#[test]
fn a_table_begins_again() {
    let checked = rates(", repeat = true", "0,2\n1,4\n2,0\n").unwrap();
    let every = |first: u64| When::Every {
        first: Span::from_seconds(first),
        every: Span::from_seconds(3),
        until: Span::from_seconds(10),
    };
    let events: Vec<_> =
        checked.scenario.events.iter().map(|event| (event.when, event.change.clone())).collect();
    let expected = [
        (every(0), mbps(2.0)),
        (every(0), Change::Up(true)),
        (every(1), mbps(4.0)),
        (every(2), Change::Up(false)),
    ];
    assert_eq!(events, expected);
}

/// 20 ms, and 40 ms of round trip after a second: one way 10 and 20 ms, in both directions. The mean, 15 ms twice, is the
/// round trip of the flow. Losses are of the one direction.
#[test]
fn delays_are_of_both_directions_and_losses_of_one() {
    let checked = check(
        "delay_series = { file = \"a.csv\", column = \"rtt\", scale = 0.5 }\n\
         loss_series = { file = \"a.csv\", column = \"loss\", unit = \"%\" }",
        "time,rtt,loss\n0,20,0\n1,40,2.5\n",
    )
    .unwrap();
    let delay = |ms| Change::Delay(Span::from_millis(ms));
    let loss = |probability| Change::Loss(Loss::Bernoulli { probability });
    let events = &checked.scenario.events;
    let expected = vec![(0, delay(10)), (1000, delay(20)), (0, loss(0.0)), (1000, loss(0.025))];
    assert_eq!(changes(events, 0), expected);
    assert_eq!(changes(events, 1), expected[..2]);
    assert_eq!(checked.scenario.flows[0].rtt, Span::from_millis(30));
}

/// Without a unit a loss is a share.
#[test]
fn losses_without_a_unit_are_shares() {
    let series = "loss_series = { file = \"a.csv\", column = 2 }";
    let checked = check(series, "0,0.25\n1,0\n").unwrap();
    let loss = |probability| Change::Loss(Loss::Bernoulli { probability });
    assert_eq!(changes(&checked.scenario.events, 0), [(0, loss(0.25)), (1000, loss(0.0))]);
}

/// A mark at the start of the file says nothing: one opportunity in 2 ms, which is 6 Mbit/s.
#[test]
fn traces_have_marks_and_ends_of_lines_as_well() {
    let of = |text: &str| {
        let scenario = "[run]\nduration = \"1 s\"\n[dumbbell]\nrate_trace = \"a\"\ndelay = \"1 ms\"\n\
                        queue = { kind = \"droptail\", limit = \"9 packets\" }\n[[flow]]\ncontroller = \"reno\"\n";
        let draft = Draft::from_toml(scenario, "a").unwrap();
        draft.with_files(Files::from([("a".to_owned(), text.to_owned())])).check(&BuiltIn).unwrap().scenario
    };
    assert_eq!(of("\u{feff}1\r\n# two\r\n\r\n2\r\n"), of("1\n2\n"));
    assert_eq!(of("2\n").links[0].rate, Rate(6_000_000));
}

#[test]
fn what_is_refused() {
    let refused = |more: &str, csv: &str, problem: &str| {
        let refusal = rates(more, csv).unwrap_err();
        assert!(refusal.contains(problem), "{csv:?}: {refusal}");
    };
    let delays = |csv: &str| check("delay_series = { file = \"a.csv\" }", csv);
    // Its mean is 11.9 h, then 12.1 h.
    assert!(delays("0 11.4h\n1 12.4h\n").is_ok());
    assert!(
        delays("0 11.7h\n1 12.5h\n").unwrap_err().contains("dumbbell.delay_series: must be at most 12 h")
    );
    refused("", "", "dumbbell.rate_series.file: a.csv: has no line");
    refused("", "time,rate\n", "a.csv: has no values");
    refused("", "0,0\n1,0\n", "a.csv: has no rate above 0 bit/s");
    refused("", "0,2\n1,-4\n", "a.csv:2: must not be negative, is -4");
    refused("", "0,2\n0,4\n", "a.csv:2: expected a time after the one above");
    refused("", "0,2\n\n# a gap\n1,NaN\n", "a.csv:4: expected a number, found \"NaN\": leave the line out");
    refused("", "0,2\n1,\n", "a.csv:2: is empty: leave the line out");
    refused("", "0;2,5\n", "a.csv:1: \"2,5\" has a decimal comma: write 2.5");
    refused(
        "",
        "0,2\n1,4,5\n",
        "a.csv:2: has 3 columns, and the first line has 2; a number has a decimal point",
    );
    refused("", "0,2 furlongs\n", "a.csv:1: expected a number, found \"2 furlongs\"");
    refused("", "0,2 ms\n", "a.csv:1: 2 ms: unknown unit; expected a rate");
    refused("", "2\n", "rate_series.column: a.csv has 1 columns, and 2 is not one of them");
    refused(", column = \"up\"", "time,rate\n0,1\n", "a.csv has no column \"up\"; there are: time, rate");
    refused(", column = \"up\"", "0,1\n", "a.csv has no header, and no column \"up\": give its number");
    refused(", column = 0", "0,1\n", "rate_series.column: expected a number from 1 on, found 0");
    refused(", unit = \"ms\"", "0,1\n", "rate_series.unit: 1000 ms: unknown unit");
    refused(", step = \"1 ms\"", "0,1\n", "rate_series.step: applies only with between = \"linear\"");
    refused(", time = 1, every = \"1 s\"", "0,1\n", "rate_series.time: give either time or every, not both");
    let both = check("rate = \"1 Mbit/s\"\nrate_series = { file = \"a.csv\" }", "0,1\n").unwrap_err();
    assert!(both.ends_with("dumbbell.rate_series: give either rate or rate_series, not both"), "{both}");
    // What a file says is not set in the middle of it.
    for (key, to) in [("rate", "\"1 Mbit/s\""), ("up", "false"), ("rate_series.scale", "2")] {
        let event = format!("\n[[event]]\nat = \"1 s\"\nset = \"dumbbell.{key}\"\nto = {to}\n");
        let text = rates("", "0,1\n").unwrap().draft().toml() + &event;
        let files = Files::from([("a.csv".to_owned(), "0,1\n".to_owned())]);
        let refused = Draft::from_toml(&text, "a.toml").unwrap().with_files(files).check(&BuiltIn);
        assert!(refused.is_err(), "{key}");
    }
}

/// The dumbbell of a measured path.
fn measured(name: &str, content: &str, more: &str) -> Result<Checked, String> {
    let text = format!(
        "path = \"{name}\"\n[run]\nduration = \"10 s\"\n[dumbbell]\n{more}\n[[flow]]\ncontroller = \"reno\"\n"
    );
    let files = Files::from([(name.to_owned(), content.to_owned())]);
    let draft = Draft::from_toml(&text, "a.toml").unwrap().with_files(files);
    draft.check(&BuiltIn).map_err(|refusal| refusal.to_string())
}

/// 12 Mbit/s for a second and 8 for another are 10 on average, and 30 ms of round trip are 300 kbit, 37.5 packets of 1000 B.
#[test]
fn a_file_is_a_path() {
    let forms = [
        "0,12,20\n1,8,40\n",
        "time_s,rtt_ms,throughput_mbps\n0,20,12\n1,40,8\n",
        "seconds;rate (kbit/s);ping\n0;12000;20\n1;8000;40\n",
        "# a modem\nloss rate\tdelay [us]\tMbps\ttimestamp\n0\t10000\t12\t1700000000\n0\t20000\t8\t1700000001\n",
    ];
    for csv in forms {
        let checked = measured("a.csv", csv, "").unwrap_or_else(|refusal| panic!("{csv:?}: {refusal}"));
        let link = &checked.scenario.links[0];
        assert_eq!((link.rate, link.delay), (Rate(10_000_000), Span::from_millis(15)), "{csv:?}");
        assert_eq!(checked.toml.matches("limit = \"38 packets\"").count(), 1, "{}", checked.toml);
        assert!(!checked.toml.contains("path ="), "{}", checked.toml);
    }
    // A trace has rates only: one opportunity in 2 ms.
    let trace = measured("./a", "2\n", "delay = \"15 ms\"").unwrap();
    assert_eq!(trace.scenario.links[0].rate, Rate(6_000_000));
    // What the scenario says comes first.
    let own =
        measured("a.csv", forms[0], "delay = \"5 ms\"\nqueue = { kind = \"codel\", limit = \"9 packets\" }")
            .unwrap();
    assert_eq!(own.scenario.links[0].delay, Span::from_millis(5));
    for (csv, problem) in [
        ("0,12\n", "path: the file says nothing of delays: set dumbbell.delay, half of the round trip"),
        ("1,2,3,4\n", "path: a.csv: has 4 columns and no header"),
        ("time,loss\n1,2\n", "path: a.csv: has no column of rates (time, loss): name it, such as rate_mbps"),
        ("a,rate\n1,2\n", "path: a.csv: has no column of times (a, rate)"),
    ] {
        let refusal = measured("a.csv", csv, "").unwrap_err();
        assert!(refusal.contains(problem), "{csv:?}: {refusal}");
    }
    let unknown = measured("goe", "", "").unwrap_err();
    assert!(unknown.contains("path: unknown value \"goe\", did you mean \"geo\"?"), "{unknown}");
}

#[test]
fn bursts_are_two_columns_of_times() {
    let loss = "loss = { kind = \"bursts\", file = \"a.csv\" }";
    let ms = Span::from_millis;
    for csv in ["0.5,0.6\n2,3\n", "from until\n# seconds\n0.5 0.6\n2000ms 3000ms\n"] {
        let intervals = vec![(ms(500), ms(600)), (ms(2000), ms(3000))].into();
        assert_eq!(check(loss, csv).unwrap().scenario.links[0].loss, Loss::Bursts { intervals }, "{csv:?}");
    }
    for (csv, problem) in [
        ("1\n", "loss.file: a.csv:1: expected two times in s, from when and until when"),
        ("1,2\n3,3\n", "loss.file: a.csv:2: a burst must end after it begins"),
        ("1,3\n2,4\n", "loss.file: a.csv:2: a burst must not begin before the end of the one above"),
        ("from,until\n", "loss.file: a.csv: has no burst"),
        ("1,x\n", "loss.file: a.csv:1: expected a number, found \"x\""),
    ] {
        let refusal = check(loss, csv).unwrap_err();
        assert!(refusal.contains(problem), "{csv:?}: {refusal}");
    }
}

#[test]
fn states_in_time_or_in_packets() {
    let loss = |keys: &str| check(&format!("loss = {{ kind = \"gilbert_elliott\", {keys} }}"), "");
    let times = loss("good_time = \"635 ms\", bad_time = \"16.7 ms\", loss_bad = 0.5").unwrap();
    let (good, bad) = (Span::from_millis(635), Span::from_micros(16_700));
    let expected = Loss::GilbertElliottInTime { good, bad, loss_good: 0.0, loss_bad: 0.5 };
    assert_eq!(times.scenario.links[0].loss, expected);
    for (keys, problem) in [
        ("to_bad = 0.1", "loss.to_good: is required"),
        ("to_good = 0.1", "loss.to_bad: is required, or good_time and bad_time instead"),
        ("good_time = \"1 s\"", "loss.bad_time: is required"),
        ("bad_time = \"1 s\"", "loss.good_time: is required"),
        (
            "to_bad = 0.1, bad_time = \"1 s\"",
            "loss.bad_time: give either to_bad and to_good, of packets, or good_time",
        ),
        ("good_time = \"1 us\", bad_time = \"1 s\"", "loss.good_time: must be at least 0.1 ms, is 1 us"),
    ] {
        let refusal = loss(keys).unwrap_err();
        assert!(refusal.contains(problem), "{keys}: {refusal}");
    }
}

#[test]
fn tables_of_netem() {
    let noise = |more: &str| {
        format!("delay_noise = {{ kind = \"table\", file = \"a.csv\", sigma = \"5 ms\"{more} }}")
    };
    let table = "# normal\n\n-32768 0\n 8192\n";
    let refused = check(&noise(""), table).unwrap_err();
    assert!(refused.ends_with("a.csv:3: expected whole numbers from -32767 to 32767"), "{refused}");
    let read = check(&noise(", correlation = \"25 %\""), &table.replace("32768", "32767")).unwrap();
    let noise_of = read.scenario.links[0].noise.clone().unwrap();
    assert_eq!(noise_of.kind, NoiseKind::Table(Span::from_millis(5), vec![-32_767, 0, 8192].into()));
    assert_eq!(noise_of.correlation, 0.25);
    let held = check(&noise(", correlation = 0.5, hold = \"1 s\""), "1\n").unwrap_err();
    assert!(held.ends_with("delay_noise.correlation: does not apply with hold: leave one out"), "{held}");
    assert!(check(&noise(""), "# nothing\n").unwrap_err().ends_with("a.csv: has no number"));
}
