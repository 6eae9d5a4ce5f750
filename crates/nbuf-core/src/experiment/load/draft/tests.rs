//! Drafts from logs of real servers, and from constructed lines.

use std::fmt::Write as _;

use super::super::script::{Arrivals, Script, Think, What};
use super::*;
use crate::experiment::result::{WatchDisc, WatchDocument};
use crate::units::Bytes;

/// As written by `PostgreSQL` 15 with `log_line_prefix = '%m [%p] %c %u@%d '` and `log_min_duration_statement = 0`.
const POSTGRES: &str = "\
2026-11-25 21:31:41.577 UTC [23216] 6b0753bd.5ab0 @ LOG:  database system is ready to accept connections
2026-11-25 21:31:41.723 UTC [23225] 6b0753bd.5ab9 postgres@postgres LOG:  duration: 0.038 ms  statement: begin
2026-11-25 21:31:41.726 UTC [23225] 6b0753bd.5ab9 postgres@postgres LOG:  duration: 0.364 ms  statement: insert into pgbench_branches(bid,bbalance) values(1,0)
2026-11-25 21:31:42.816 UTC [23234] 6b0753be.5ac2 postgres@postgres LOG:  duration: 0.049 ms  execute P_0: SELECT abalance FROM pgbench_accounts WHERE aid = $1;
2026-11-25 21:31:42.816 UTC [23234] 6b0753be.5ac2 postgres@postgres DETAIL:  parameters: $1 = '1169'
2026-11-25 21:31:42.920 UTC [23237] 6b0753be.5ac5 postgres@postgres LOG:  duration: 10.000 ms  statement: select 1,
\t 'a';
2026-11-25 21:31:43.030 UTC [23237] 6b0753be.5ac5 postgres@postgres LOG:  duration: 10.000 ms  statement: select 1,
\t 'a';
2026-11-25 21:31:43.140 UTC [23237] 6b0753be.5ac5 postgres@postgres LOG:  duration: 10.000 ms  statement: select 1,
\t 'a';
";

const NGINX: &str = "\
192.0.2.1 - - [25/Nov/2026:20:30:01 +0000] \"GET /a?x=1 HTTP/1.1\" 200 612 \"-\" \"curl/8\"
192.0.2.1 - joe [25/Nov/2026:21:30:03 +0100] \"GET /b HTTP/1.1\" 304 0 \"http://h/\" \"Mozilla/5.0 (X11)\"
2001:db8::1 - - [25/Nov/2026:20:30:05 +0000] \"POST /form HTTP/1.1\" 200 1 \"-\" \"-\"
192.0.2.1 - - [25/Nov/2026:20:30:07 +0000] \"GET /a?x=1 HTTP/1.1\" 200 612 \"-\" \"curl/8\"
192.0.2.1 - - [25/Nov/2026:23:30:07 +0000] \"GET /gone HTTP/1.1\" 404 9 \"-\" \"curl/8\"
192.0.2.9 - - [25/Nov/2026:20:30:09 +0000] \"\\x16\\x03\\x01\" 400 157 \"-\" \"-\"
";

#[track_caller]
fn read_back(draft: &Draft) -> Script {
    Script::parse(&draft.script).unwrap_or_else(|error| panic!("{error}\n{}", draft.script))
}

#[test]
fn an_access_log_becomes_requests_with_weights_and_pauses() {
    let draft = draft(NGINX, "http://127.0.0.1:8080/").unwrap();
    assert_eq!(draft.problems, []);
    let class = &read_back(&draft).classes[0];
    let all: Vec<(String, f64)> =
        class.actions.iter().map(|action| (action.what.name(), action.weight)).collect();
    let want = [("GET http://127.0.0.1:8080/a?x=1", 2.0), ("GET http://127.0.0.1:8080/b", 1.0)];
    assert_eq!(all, want.map(|(name, weight)| (name.to_owned(), weight)));
    // Two and four seconds; three hours are between two sessions.
    let want = Think::Lognormal { mean_seconds: 3.0, deviation_seconds: 1.0 };
    assert_eq!(class.think, want);
    assert!(draft.script.contains("# A draft from 6 lines of 3 users."), "{}", draft.script);
    assert!(draft.script.contains("# 3 lines are left out"), "{}", draft.script);
}

#[test]
fn a_log_of_postgresql_becomes_queries_that_only_read() {
    let draft = draft(POSTGRES, "").unwrap();
    assert_eq!(draft.problems, []);
    let class = &read_back(&draft).classes[0];
    let [action] = &class.actions[..] else { panic!("{}", draft.script) };
    let What::Command { run } = &action.what else { panic!("{action:?}") };
    assert_eq!(run, &["psql", "-X", "-q", "-c", "select 1,\n 'a'"]);
    // A pause is from the end of a statement to the beginning of the next: 0.1 s twice, and 3 ms.
    let Think::Lognormal { mean_seconds, .. } = class.think else { panic!("{class:?}") };
    assert!((mean_seconds - 0.203 / 3.0).abs() < 0.002, "{mean_seconds}");
}

#[test]
fn heavy_and_light_users_are_classes_with_their_own_think_times() {
    let mut log = String::new();
    for (user, ms, pause, query) in
        [("a", 900, 4, "select sum(x) from t"), ("b", 2, 1, "select 1"), ("c", 3, 1, "select 1")]
    {
        for turn in 0..4 {
            // A line has the end of a statement.
            let seconds = f64::from(turn * pause) + f64::from(ms * (turn + 1)) / 1000.0;
            let _ = writeln!(
                log,
                "2026-11-25 21:31:{seconds:06.3} UTC [7] {user}.1 LOG:  duration: {ms}.000 ms  statement: {query}"
            );
        }
    }
    let draft = draft(&log, "").unwrap();
    let script = read_back(&draft);
    let [heavy, light] = &script.classes[..] else { panic!("{}", draft.script) };
    assert_eq!((&*heavy.name, heavy.share.to_bits()), ("heavy", 1_f64.to_bits()));
    assert_eq!((&*light.name, light.share.to_bits()), ("light", 2_f64.to_bits()));
    let mean = |class: &super::super::script::Class| match class.think {
        Think::Lognormal { mean_seconds, .. } => mean_seconds,
        ref other => panic!("{other:?}"),
    };
    assert!((mean(heavy) - 4.0).abs() < 0.01 && (mean(light) - 1.0).abs() < 0.01, "{script:?}");
    assert_eq!(heavy.actions[0].what.name(), "psql -X -q -c select sum(x) from t");
    assert!(draft.script.contains("costs 0.900 seconds of its answer"), "{}", draft.script);
}

#[test]
fn a_recording_of_watch_becomes_arrivals_of_tasks_and_their_cost() {
    let interval = |created, user_seconds, reads| {
        let mut seen = WatchDocument {
            schema: WatchDocument::SCHEMA.to_owned(),
            seconds: 2.0,
            discs: vec![WatchDisc {
                reads,
                read_bytes: Bytes(reads << 12),
                ..WatchDisc::default()
            }],
            ..WatchDocument::default()
        };
        (seen.queue.created, seen.cpu.user_seconds) = (created, user_seconds);
        crate::experiment::document::write_line(&seen).unwrap()
    };
    // What was cut off by a kill is left out.
    let text = interval(30, 0.5, 40) + &interval(10, 0.5, 0) + "{\"schema\":\"nbuf.wat";
    let drafted = draft(&text, "").unwrap();
    assert_eq!((drafted.unread, drafted.problems[0].0), (1, 3));
    assert!(!drafted.problems[0].1.contains(" at line "), "{drafted:?}");
    let one = draft(&interval(10, 0.5, 0), "").unwrap().script;
    assert!(one.contains("from 1 interval of 2.0 s of nbuf watch"), "{one}");
    let class = &read_back(&drafted).classes[0];
    assert_eq!(class.arrivals, Arrivals::Open { rate_per_second: 10.0 });
    for said in [
        "from 2 intervals of 4.0 s of nbuf watch",
        "0.0250 s of processors, and 1.00 operations of discs with 4096 bytes",
        "15.000 in the busiest interval",
        "# Replace `true`",
    ] {
        assert!(drafted.script.contains(said), "no {said}: {}", drafted.script);
    }
    let none = draft(&interval(0, 1.0, 1), "").unwrap_err();
    assert!(none.what.contains("no task was made"), "{none}");
    let other = draft("{\"schema\":\"nbuf.watch/1\",\"number\":1}\n", "").unwrap_err();
    assert!(other.line == 1 && other.what.contains("no interval of nbuf watch: "), "{other}");
}

#[test]
fn what_may_write_is_never_in_a_draft() {
    for query in [
        "delete from t",
        "select 1; drop table t",
        "select * into u from t",
        "with d as (delete from t returning *) select * from d",
        "select * from t for update",
        "select * from t where a = $1",
    ] {
        let line = "2026-11-25 21:31:42.920 UTC [1] LOG:  duration: 1.000 ms  statement: ";
        let log = format!("{line}select 7\n{line}{query}\n");
        let draft = draft(&log, "").unwrap();
        assert_eq!(read_back(&draft).classes[0].actions.len(), 1, "{query}: {}", draft.script);
    }
}

#[test]
fn errors_have_their_line() {
    let bad = NGINX.replace("21:30:03 +0100", "21:61:03 +0100");
    let found = draft(&bad, "http://h").unwrap();
    assert_eq!((found.unread, found.problems[0].0), (1, 2), "{found:?}");
    let bad = POSTGRES.replace("[23225] 6b0753bd.5ab9 ", "");
    assert_eq!(draft(&bad, "").unwrap().problems[0].0, 2);
    for (log, line) in [("", 1), ("hello\n", 1), ("2026-11-25 21:31:42 UTC [1] LOG:  hello\n", 1)] {
        assert_eq!(draft(log, "").unwrap_err().line, line, "{log}");
    }
}

proptest::proptest! {
    /// No log panics, and every draft is a script.
    #[test]
    fn every_draft_is_a_script(
        from in 0_usize..2,
        cuts in proptest::collection::vec((0_usize..2000, proptest::char::any()), 0..8),
    ) {
        let mut text: Vec<char> = [NGINX, POSTGRES][from].chars().collect();
        for (at, c) in cuts {
            let at = at % text.len();
            text[at] = c;
        }
        if let Ok(draft) = draft(&text.into_iter().collect::<String>(), "http://h") {
            read_back(&draft);
        }
    }
}
