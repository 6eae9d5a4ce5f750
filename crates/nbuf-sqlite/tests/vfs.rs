//! Databases through the cache, by the program `sqlite3`, next to the same without it.

mod support;

use std::fs;
use std::process::Command;

use support::{Session, has_sqlite, library, once, plain, skip, through};

const ROWS: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY, v INT, b BLOB);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
    INSERT INTO t SELECT i, i * 7 % 1000, zeroblob(20) FROM n;
    CREATE INDEX of_v ON t(v);";
const SUMS: &str = "SELECT count(*), sum(id), sum(v), sum(length(b)) FROM t;";
const EXPECTED: &str = "100000|5000050000|49950000|2000000";

#[test]
fn a_hundred_thousand_rows_are_there_for_every_process() {
    if !has_sqlite() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (parameters, journal) in [
        ("", "delete"),
        ("&nbuf_size=64KiB&nbuf_policy=lru", "delete"),
        ("&nbuf_size=32KiB&nbuf_page=32KiB", "truncate"),
        ("&nbuf_size=16KiB&nbuf_page=512", "persist"),
        ("", "wal"),
        ("&nbuf_size=64KiB&nbuf_page=1KiB", "wal"),
    ] {
        let path = folder.path().join("x.db");
        let mut session = Session::open(&through(&path, parameters));
        assert_eq!(session.ask(&format!("PRAGMA journal_mode={journal};")), journal);
        assert_eq!(session.ask(ROWS), "");
        assert_eq!(session.ask(SUMS), EXPECTED);
        assert_eq!(once(&plain(&path), SUMS), EXPECTED, "{journal}");
        let check = "PRAGMA integrity_check;";
        assert_eq!((session.ask(check), once(&plain(&path), check)), ("ok".into(), "ok".into()));
        assert!(session.figure("hits") > 0 || parameters.contains("32KiB"));
        assert!(session.figure("bypassed_reads") < 100, "{}", session.ask("PRAGMA nbuf_stats;"));
        drop(session);
        fs::remove_file(&path).unwrap();
        let _ = fs::remove_file(folder.path().join("x.db-wal"));
        let _ = fs::remove_file(folder.path().join("x.db-shm"));
    }
}

#[test]
fn a_second_transaction_hits_what_the_first_one_read() {
    if !has_sqlite() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    once(&plain(&path), ROWS);
    let mut session = Session::open(&through(&path, ""));
    // SQLite's own cache has ten pages, so it asks again.
    session.ask("PRAGMA cache_size=10;");
    assert_eq!(session.ask(SUMS), EXPECTED);
    let (misses, hits) = (session.figure("misses"), session.figure("hits"));
    assert!(misses > 500, "{misses}");
    assert_eq!(session.ask(SUMS), EXPECTED);
    assert_eq!(session.figure("misses"), misses, "all is in the cache");
    assert!(session.figure("hits") > hits + 500);
    // A second connection of the process has the same cache.
    session.ask(&format!(".connection 1\n.open '{}'", through(&path, "")));
    assert_eq!(session.ask(SUMS), EXPECTED);
    assert_eq!(session.figure("misses"), misses);
    assert_eq!(session.ask(".vfsname"), "nbuf/unix");
    assert_eq!(session.ask(".open :memory:\nPRAGMA nbuf_stats;"), "", "no cache, no figures");
}

#[test]
fn vacuum_attach_truncation_and_other_page_sizes_keep_all_rows() {
    if !has_sqlite() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("x.db"), folder.path().join("y.db"));
    let mut session = Session::open(&through(&path, "&nbuf_size=256KiB"));
    session.ask("PRAGMA auto_vacuum=incremental;");
    session.ask(ROWS);
    session.ask(&format!("ATTACH '{}' AS y;", through(&other, "&nbuf_size=64KiB")));
    assert_eq!(session.ask("CREATE TABLE y.u AS SELECT id, v FROM t WHERE id % 10 = 0;"), "");
    assert_eq!(session.ask("DELETE FROM t WHERE id > 1000; PRAGMA incremental_vacuum;"), "");
    let short = "1000|500500|499500|20000";
    let check = "PRAGMA integrity_check;";
    for pages in [512, 1024, 65536, 4096] {
        assert_eq!(session.ask(&format!("PRAGMA page_size={pages}; VACUUM;")), "");
        assert_eq!(session.ask(SUMS), short);
        assert_eq!((session.ask(check), once(&plain(&path), check)), ("ok".into(), "ok".into()));
    }
    // Another process makes the file shorter, and then longer than it ever was.
    once(&plain(&path), "DELETE FROM t WHERE id > 10; VACUUM;");
    assert_eq!(session.ask(SUMS), "10|55|385|200");
    once(&plain(&path), "DROP TABLE t; VACUUM;");
    once(&plain(&path), ROWS);
    assert_eq!(session.ask(SUMS), EXPECTED);
    assert_eq!(
        session.ask("SELECT count(*), sum(v) FROM y.u;"),
        once(&plain(&other), "SELECT count(*), sum(v) FROM u;")
    );
    assert_eq!(session.ask(check), "ok");
}

#[test]
fn a_file_that_is_cut_off_is_found_out() {
    if !has_sqlite() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    once(&plain(&path), ROWS);
    let mut session = Session::open(&through(&path, ""));
    session.ask("PRAGMA cache_size=1;");
    assert_eq!(session.ask(SUMS), EXPECTED);
    fs::File::options().write(true).open(&path).unwrap().set_len(100 * 4096 + 77).unwrap();
    // As without the cache: the pages that are gone are not served from it.
    let said = session.ask(SUMS);
    assert!(said.ends_with("is malformed (11)"), "{said}");
    let said = once(&plain(&path), SUMS);
    assert!(said.ends_with("is malformed (11)"), "{said}");
}

#[test]
fn a_database_that_is_only_read_is_read_and_not_written() {
    if !has_sqlite() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    once(&plain(&path), ROWS);
    for mode in ["&mode=ro", "&immutable=1", "&nolock=1&mode=ro"] {
        let mut session = Session::open(&through(&path, mode));
        assert_eq!(session.ask(SUMS), EXPECTED, "{mode}");
        let said = session.ask("DELETE FROM t;");
        assert!(said.contains("attempt to write a readonly database"), "{mode}: {said}");
        assert_eq!(session.ask(SUMS), EXPECTED, "{mode}");
        let bypassed = session.figure("bypassed_reads");
        assert_eq!(bypassed > 100, mode != "&mode=ro", "{mode}: {bypassed}");
    }
}

#[test]
fn a_wrong_parameter_is_refused_with_its_reason() {
    if !has_sqlite() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let name = through(&folder.path().join("x.db"), "&nbuf_size=much");
    let mut session = Session::start(Command::new("sqlite3").arg("-cmd").arg(".log stderr"));
    session.ask(&format!(".load {}", library().display()));
    let said = session.ask(&format!(".open '{name}'"));
    assert!(said.contains("nbuf_size is `much`: give bytes, such as 64MiB"), "{said}");
    assert!(said.contains("unable to open database"), "{said}");
}

#[test]
fn the_second_entry_point_makes_it_the_default() {
    if !has_sqlite() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    let mut session = Session::start(Command::new("sqlite3").env("NBUF_SIZE", "1MiB"));
    session.ask(&format!(".load {} sqlite3_nbufdefault_init", library().display()));
    session.ask(&format!(".open '{}'", path.display()));
    assert_eq!(session.ask(ROWS), "");
    assert_eq!((session.ask(".vfsname"), session.figure("pages")), ("nbuf/unix".into(), 256));
    assert_eq!(
        session.ask("CREATE TEMP TABLE u AS SELECT * FROM t; SELECT count(*) FROM u;"),
        "100000"
    );
    assert_eq!(once(&plain(&path), SUMS), EXPECTED);
}

#[test]
fn a_full_disc_loses_no_transaction() {
    if !has_sqlite() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let disc = folder.path().join("disc");
    fs::create_dir(&disc).unwrap();
    let script =
        format!("mount -t tmpfs -o size=3m none '{0}' && exec sqlite3 \"$@\"", disc.display());
    let unshare = ["--mount", "sh", "-c", "mount -t tmpfs -o size=1m none /mnt"];
    if !Command::new("unshare").args(unshare).output().is_ok_and(|tried| tried.status.success()) {
        return skip("a small file system of its own needs root: unshare --mount");
    }
    for journal in ["delete", "wal"] {
        let mut session =
            Session::start(Command::new("unshare").args(["--mount", "sh", "-c", &script, "sh"]));
        session.ask(&format!(".load {}", library().display()));
        session.ask(&format!(".open '{}'", through(&disc.join("x.db"), "&nbuf_size=64KiB")));
        assert_eq!(session.ask(&format!("PRAGMA journal_mode={journal};")), journal);
        session.ask("CREATE TABLE t(v);");
        let mut rows = 0;
        let said = loop {
            let said = session.ask("INSERT INTO t VALUES(randomblob(100000));");
            if !said.is_empty() {
                break said;
            }
            rows += 1;
            assert!(rows < 100);
        };
        assert!(said.contains("full") || said.contains("I/O error"), "{said}");
        assert!(rows > 5, "{rows}");
        for _ in 0..2 {
            let count = "SELECT count(*), sum(length(v)) FROM t; PRAGMA integrity_check;";
            assert_eq!(session.ask(count), format!("{rows}|{}\nok", rows * 100_000), "{journal}");
            // A fresh connection, which has nothing in its own cache.
            session.ask(&format!(".open '{}'", through(&disc.join("x.db"), "")));
        }
    }
}

#[test]
fn a_file_that_another_process_makes_shorter_is_read_on() {
    if !has_sqlite() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    // Pages of the cache are larger than those of the database, so a read may reach behind the end.
    let mut session = Session::open(&through(&path, "&nbuf_page=32KiB&nbuf_size=64KiB"));
    assert_eq!(session.ask("PRAGMA mmap_size=268435456;"), "0", "nothing is mapped");
    session.ask(ROWS);
    once(&plain(&path), "DELETE FROM t WHERE id > 20000; VACUUM;");
    assert_eq!(session.ask("SELECT count(*), max(id) FROM t;"), "20000|20000");
    assert_eq!(session.ask("PRAGMA integrity_check;"), "ok");
}
