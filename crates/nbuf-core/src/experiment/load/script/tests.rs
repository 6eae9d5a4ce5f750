//! Scripts that are read, and scripts that are refused.

use expect_test::expect;
use proptest::prelude::*;

use super::*;

const GOOD: &str = r#"
seed = 1969

[[class]]
name = "heavy"
share = 1
think = { kind = "lognormal", mean_seconds = 5, deviation_seconds = 2.5 }
command = [
    { run = ["cc", "-c", "main.c"], weight = 2 },
    { run = ["true"] },
]

[[class]]
name = "web"
arrivals = "open"
rate_per_second = 20

[[class.request]]
get = "http://127.0.0.1:8080/index"
timeout_seconds = 1
"#;

#[test]
fn a_script_is_read() {
    let script = Script::parse(GOOD).unwrap();
    let [heavy, web] = &script.classes[..] else { panic!("{script:?}") };
    assert_eq!((script.seed, heavy.share, heavy.arrivals), (1969, 1.0, Arrivals::Closed));
    let think = Think::Lognormal { mean_seconds: 5.0, deviation_seconds: 2.5 };
    assert_eq!(heavy.think, think);
    let names: Vec<_> = heavy.actions.iter().map(|a| (a.what.name(), a.weight)).collect();
    assert_eq!(names, [("cc -c main.c".to_owned(), 2.0), ("true".to_owned(), 1.0)]);
    assert_eq!(web.arrivals, Arrivals::Open { rate_per_second: 20.0 });
    let get = "http://127.0.0.1:8080/index".to_owned();
    assert_eq!(web.actions[0].what, What::Request { get, timeout: Duration::from_secs(1) });
    assert!(script.has_requests());
}

#[test]
fn a_server_is_read_and_must_say_when_it_is_ready() {
    let with = |server: &str| Script::parse(&format!("{GOOD}\n[[server]]\n{server}"));
    let script = with("run = ['postgres', '-D', 'data']\nready = ['pg_isready']\n").unwrap();
    assert_eq!(script.servers[0].run, ["postgres", "-D", "data"]);
    assert_eq!(script.servers[0].ready, ["pg_isready"]);
    for (server, said) in [
        ("run = ['a']\n", "a server does not say when users can begin: add `ready = "),
        ("ready = ['a']\n", "a server runs nothing"),
        ("run = ['a']\nstop = ['b']\n", "a server has no key `stop`"),
    ] {
        let error = with(server).unwrap_err();
        assert!(error.what.contains(said), "{error}");
    }
}

#[test]
fn errors_have_their_place_and_what_was_meant() {
    let think = |think: &str| format!("[[class]]\nname = 'a'\nthink = {think}\n");
    let command = |command: &str| format!("[[class]]\nname = 'a'\ncommand = [{command}]\n");
    let request = |get: &str| format!("[[class]]\nname = 'a'\nrequest = [{{ get = '{get}' }}]\n");
    let two = command("{ run = ['true'] }");
    let texts = [
        String::new(),
        "[[clas]]\nname = 'a'\n".to_owned(),
        "[[class]]\nname = 'a'\nthinks = 1\n".to_owned(),
        "[[class]]\nname = 7\n".to_owned(),
        "[[class]]\nname = 'ä', \n".to_owned(),
        "[[class]]\nname = 'a'\n".to_owned(),
        "[[class]]\nname = 'a'\narrivals = 'opened'\n".to_owned(),
        "[[class]]\nname = 'a'\narrivals = 'open'\n".to_owned(),
        "[[class]]\nname = 'a'\nrate_per_second = 1\n".to_owned(),
        think("5"),
        think("{ kind = 'exponental' }"),
        think("{ kind = 'exponential', mean_seconds = -1 }"),
        think("{ kind = 'fixed', mean_seconds = 1 }"),
        think("{ kind = 'fixed' }"),
        command("{ run = 'true' }"),
        command("{ run = [] }"),
        command("{ run = ['true'], weigth = 2 }"),
        command("{ run = ['true'], weight = nan }"),
        request("https://example.org/"),
        request("http:///x"),
        format!("{two}{two}"),
        format!("seed = -1\n{two}"),
    ];
    let errors = texts.map(|text| Script::parse(&text).unwrap_err().to_string());
    expect![[r#"
        line 1, column 1: a script has no class of users: add one, which begins with `[[class]]`
        line 1, column 3: a script has no key `clas`: did you mean `class`? Known are `seed`, `class`, `server`
        line 3, column 1: a class has no key `thinks`: did you mean `think`? Known are `name`, `share`, `think`, `arrivals`, `rate_per_second`, `command`, `request`
        line 2, column 8: `name` is a number: write a text in quotes
        line 2, column 11: this is no TOML: unexpected key or value, expected newline, `#`
        line 1, column 1: a class does nothing: add a command, which begins with `[[class.command]]`, or a request, which begins with `[[class.request]]`
        line 3, column 12: there are no arrivals `opened`: did you mean `open`? Known are `closed`, `open`
        line 1, column 1: a class has open arrivals without a rate: add `rate_per_second = 10`, the arrivals of the whole class in a second
        line 1, column 1: a class has a rate and closed arrivals: remove `rate_per_second`, or write `arrivals = "open"`
        line 3, column 9: a think time is a number: write a table with some of `kind`, `seconds`, `mean_seconds`, `deviation_seconds`, `file`
        line 3, column 18: there is no think time `exponental`: did you mean `exponential`? Known are `fixed`, `exponential`, `lognormal`, `recorded`
        line 3, column 48: `mean_seconds` must be a number from 0 to 86400
        line 3, column 42: a think time of this kind has no `mean_seconds`: remove it
        line 3, column 9: a think time of this kind has no `seconds`: add it
        line 3, column 20: `run` must be a list of words, as ["sh", "-c", "sleep 1"]
        line 3, column 12: a command runs nothing: add `run = ["PROGRAM", "ARGUMENT"]`
        line 3, column 30: a command has no key `weigth`: did you mean `weight`? Known are `run`, `weight`
        line 3, column 39: `weight` must be a number from 0.000001 to 1000000
        line 3, column 20: `https://example.org/` is no address that nbuf can ask: begin it with `http://HOST`
        line 3, column 20: `http:///x` is no address that nbuf can ask: begin it with `http://HOST`
        line 4, column 1: two classes have the name `a`: rename one
        line 1, column 8: `seed` must be a whole number of 0 or more"#]].assert_eq(&errors.join("\n"));
}

/// A script with classes, or an error with a place in the text; what the fuzz target checks too.
fn check_any(text: &str) -> Result<(), TestCaseError> {
    match Script::parse(text) {
        Ok(script) => prop_assert!(!script.classes.is_empty()),
        Err(error) => {
            prop_assert!(error.line >= 1 && error.column >= 1);
            prop_assert!(error.line <= text.matches('\n').count() + 1, "{error}");
        }
    }
    Ok(())
}

proptest! {
    /// Any text, and any change of a good one, is a script or an error with a place in it.
    #[test]
    fn nothing_panics(text in ".{0,200}", at in 0..GOOD.len(), put in ".{0,3}") {
        let mut changed = GOOD.to_owned();
        changed.replace_range(at..=at, &put);
        for text in [&text, &changed] {
            check_any(text)?;
        }
    }

    /// The same with lines left out, repeated and exchanged, and with words of other lines.
    #[test]
    fn nothing_panics_when_lines_move(
        moves in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4), 1..8),
    ) {
        let mut lines: Vec<String> = GOOD.lines().map(str::to_owned).collect();
        for (from, to, kind) in moves {
            let (from, to) = (from.index(lines.len()), to.index(lines.len()));
            match kind {
                0 if lines.len() > 1 => drop(lines.remove(from)),
                1 => lines.insert(to, lines[from].clone()),
                2 => lines.swap(from, to),
                _ => {
                    let value = lines[from].split_once('=').map_or("", |(_, value)| value).to_owned();
                    let key = lines[to].split_once('=').map_or("x", |(key, _)| key).to_owned();
                    lines[to] = format!("{key}={value}");
                }
            }
        }
        check_any(&lines.join("\n"))?;
    }
}
