//! Two processes at one database: what each reads, and what a killed one leaves.

mod support;

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use support::{Session, has_sqlite, once, plain, through};

const TABLE: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY, v INT, b BLOB);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
    INSERT INTO t SELECT i, 0, zeroblob(300) FROM n;";
/// Reads every page.
const DIGEST: &str = "SELECT count(*), sum(v), sum(v * id % 1009), sum(length(b)) FROM t;";

/// A change that touches some pages, and sometimes makes the file longer or shorter.
fn change(dice: &mut Dice) -> String {
    let (id, v) = (dice.below(2000), dice.below(1000));
    match dice.below(6) {
        0 => format!("DELETE FROM t WHERE id BETWEEN {id} AND {id} + 50;"),
        1 => format!("INSERT OR REPLACE INTO t VALUES({id}, {v}, zeroblob({}));", v * 20),
        2 => format!("BEGIN; UPDATE t SET v = v + {v} WHERE id % 7 = 3; ROLLBACK;"),
        _ => format!("UPDATE t SET v = v + {v} WHERE id BETWEEN {id} AND {id} + 30;"),
    }
}

/// A process through the cache and two others, one of them without it, change and read in turn.
fn in_turn(journal: &str, parameters: &str, seed: u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    once(&plain(&path), &format!("PRAGMA journal_mode={journal}; {TABLE}"));
    let names = [through(&path, parameters), plain(&path), through(&path, parameters)];
    let mut sessions = names.map(|name| Session::open(&name));
    for session in &mut sessions {
        // Few pages of its own, so that it asks; and checkpoints now and then.
        session.ask("PRAGMA cache_size=5; PRAGMA wal_autocheckpoint=40; PRAGMA busy_timeout=5000;");
    }
    let mut dice = Dice(seed);
    for round in 0..100 {
        let who = usize::try_from(dice.below(3)).unwrap();
        assert_eq!(sessions[who].ask(&change(&mut dice)), "");
        if journal == "wal" && dice.below(4) == 0 {
            let how =
                ["PASSIVE", "FULL", "RESTART", "TRUNCATE"][usize::try_from(dice.below(4)).unwrap()];
            let who = usize::try_from(dice.below(3)).unwrap();
            sessions[who].ask(&format!("PRAGMA wal_checkpoint({how});"));
        }
        let read = sessions.each_mut().map(|session| session.ask(DIGEST));
        assert_eq!(read[0], read[1], "round {round} of {journal}");
        assert_eq!(read[2], read[1], "round {round} of {journal}");
    }
    for session in &mut sessions {
        assert_eq!(session.ask("PRAGMA integrity_check;"), "ok");
    }
    assert!(sessions[0].figure("hits") > 100, "{}", sessions[0].ask("PRAGMA nbuf_stats;"));
    assert!(sessions[0].figure("drops") > 5, "{}", sessions[0].ask("PRAGMA nbuf_stats;"));
}

#[test]
fn processes_see_each_others_changes_outside_wal() {
    if !has_sqlite() {
        return;
    }
    in_turn("delete", "&nbuf_size=2MiB", 1);
    in_turn("persist", "&nbuf_size=64KiB&nbuf_page=16KiB&nbuf_policy=clock", 2);
}

#[test]
fn processes_see_each_others_changes_in_wal_mode() {
    if !has_sqlite() {
        return;
    }
    in_turn("wal", "&nbuf_size=2MiB", 3);
    in_turn("wal", "&nbuf_size=128KiB&nbuf_page=32KiB", 4);
    in_turn("wal", "&nbuf_size=128KiB&nbuf_page=512&nbuf_policy=lru", 5);
}

#[test]
fn a_snapshot_stays_while_another_process_checkpoints() {
    if !has_sqlite() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    once(&plain(&path), &format!("PRAGMA journal_mode=wal; {TABLE}"));
    let mut reader = Session::open(&through(&path, ""));
    let mut writer = Session::open(&plain(&path));
    reader.ask("PRAGMA cache_size=5;");
    let mut dice = Dice(7);
    for round in 0..40 {
        let before = reader.ask(&format!("BEGIN; {DIGEST}"));
        for _ in 0..3 {
            writer.ask(&change(&mut dice));
            writer.ask("PRAGMA wal_checkpoint(PASSIVE);");
            assert_eq!(reader.ask(DIGEST), before, "round {round}");
        }
        reader.ask("COMMIT;");
        writer.ask("PRAGMA wal_checkpoint(TRUNCATE);");
        assert_eq!(reader.ask(DIGEST), writer.ask(DIGEST), "round {round}");
    }
}

#[test]
fn modes_of_the_journal_change_under_an_open_connection() {
    if !has_sqlite() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    once(&plain(&path), TABLE);
    let mut session = Session::open(&through(&path, ""));
    session.ask("PRAGMA cache_size=5;");
    let mut dice = Dice(9);
    for round in 0..24 {
        let journal = ["wal", "delete", "wal", "truncate"][round % 4];
        session.ask(DIGEST);
        let own = round % 3 == 0;
        let change = format!("PRAGMA journal_mode={journal}; {}", change(&mut dice));
        let said = if own {
            session.ask(&change)
        } else {
            // A connection in WAL mode holds a lock; it lets another one change the mode only when it is closed.
            session.ask(&format!(".open :memory:\n.open '{}'", through(&path, "")));
            once(&through(&path, "&nbuf_size=64KiB"), &change)
        };
        assert_eq!(said, journal, "round {round}");
        // A connection that begins a WAL under an exclusive lock keeps that lock.
        session.ask(DIGEST);
        session.ask("PRAGMA locking_mode=exclusive; SELECT count(*) FROM t; UPDATE t SET v = v + 1 WHERE id = 5;");
        session.ask("PRAGMA locking_mode=normal; SELECT count(*) FROM t;");
        assert_eq!(session.ask(DIGEST), once(&plain(&path), DIGEST), "round {round}");
        assert_eq!(session.ask("PRAGMA integrity_check;"), "ok");
    }
}

/// Transfers between accounts, so that the sum shows a transaction in part.
fn transfers(path: &Path, journal: &str, kills: u64) {
    let name = through(path, "&nbuf_size=64KiB");
    once(&name, &format!("PRAGMA journal_mode={journal}; {TABLE} UPDATE t SET v = 1000;"));
    // It looks on all the time, and has pages of its own in its cache.
    let mut witness = Session::open(&name);
    witness.ask("PRAGMA cache_size=5; PRAGMA busy_timeout=5000;");
    for kill in 0..kills {
        let mut session = Session::open(&name);
        session.ask("PRAGMA cache_size=5; PRAGMA busy_timeout=5000; PRAGMA wal_autocheckpoint=20;");
        let transfer = "BEGIN; UPDATE t SET v = v - 1 WHERE id % 2 = 0;
            UPDATE t SET v = v + 1 WHERE id % 2 = 1; COMMIT;";
        session.send(&transfer.repeat(40));
        sleep(Duration::from_millis(5 + 7 * (kill % 8)));
        let sum = witness.ask("SELECT sum(v) FROM t;");
        assert!(sum == "2000000" || sum.contains("database is locked"), "kill {kill}: {sum}");
        drop(session);
        let all = "SELECT sum(v), count(*) FROM t; PRAGMA integrity_check;";
        let sound = "2000000|2000\nok";
        assert_eq!(witness.ask(all), sound, "kill {kill} of {journal}");
        assert_eq!(once(&plain(path), all), sound, "kill {kill} of {journal}");
        assert_eq!(once(&name, all), sound, "kill {kill} of {journal}");
        assert_eq!(witness.ask(DIGEST), once(&plain(path), DIGEST), "kill {kill} of {journal}");
    }
}

#[test]
fn a_killed_process_leaves_whole_transactions() {
    if !has_sqlite() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let kills = std::env::var("NBUF_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(6);
    transfers(&folder.path().join("x.db"), "delete", kills);
    transfers(&folder.path().join("y.db"), "wal", kills);
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}
