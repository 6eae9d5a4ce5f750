//! The programs, their data and what they do with it.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

/// A program that is sized.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// Whether it reads rather than maps, so that time can be predicted.
    pub(super) reads: bool,
    /// Shell that makes its data, in its folder.
    pub(crate) data: &'static str,
    /// Whether its data is a tree of files.
    pub(crate) tree: bool,
    /// Shell before every run.
    pub(crate) before: Option<&'static str>,
    /// What is sized.
    pub(crate) script: &'static str,
}

pub(super) const READS: Program =
    Program { name: "", reads: true, data: "true", tree: false, before: None, script: "" };
pub(super) const MAPS: Program = Program { reads: false, ..READS };

/// Makes the program that reads a file in one of many ways, and the file.
const MOVES_DATA: &str = concat!(
    "cat >moves.c <<'END'\n",
    include_str!("../../../crates/nbuf/tests/moves.c"),
    "\nEND\ncc -O1 -o moves moves.c && head -c 96M /dev/urandom >file"
);
const MOVES: Program = Program { data: MOVES_DATA, ..READS };

/// What is recorded both ways besides.
const RECORDED: [Program; 1] = [Program {
    name: "sha256sum",
    tree: true,
    script: "sha256sum tree/*/* >/dev/null; sha256sum tree/*/* >/dev/null",
    ..READS
}];

/// Everything that is measured.
pub(super) const PROGRAMS: [Program; 15] = [
    Program {
        name: "sqlite3",
        data: "sqlite3 db \"CREATE TABLE t(id INTEGER PRIMARY KEY, v BLOB);
            WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 120000)
            INSERT INTO t SELECT x, randomblob(900) FROM c;\"
            cat >q.sql <<'END'
WITH RECURSIVE c(n, r) AS (SELECT 1, 1 UNION ALL
    SELECT n + 1, (r * 1103515245 + 12345) % 2147483648 FROM c WHERE n < 40000)
SELECT sum(length(v)) FROM c JOIN t ON t.id = (c.r >> 8) % ((c.r >> 12) % 120000 + 1) + 1;
WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 20)
SELECT sum(length(v)) FROM c JOIN t ON t.id BETWEEN c.n * 991 % 100000 AND c.n * 991 % 100000 + 2000;
END",
        script: "sqlite3 db '.read q.sql'",
        ..READS
    },
    // Lookups, of which few rows get most, between scans that are larger than the cache.
    Program {
        name: "scans",
        data: "sqlite3 db \"CREATE TABLE t(id INTEGER PRIMARY KEY, v BLOB);
            WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 400000)
            INSERT INTO t SELECT x, randomblob(420) FROM c;\"
            for seed in 1 2 3 4 5; do
            echo 'SELECT sum(length(v)) FROM t;
WITH RECURSIVE c(n, r) AS (SELECT 1, '$seed' * 7654321 UNION ALL
    SELECT n + 1, (r * 1103515245 + 12345) % 2147483648 FROM c WHERE n < 12000)
SELECT sum(length(v)) FROM c
    JOIN t ON t.id = CAST(400000 * pow(c.r / 2147483648.0, 3) AS INT) * 7919 % 400000 + 1;'
            done >q.sql",
        script: "sqlite3 db '.read q.sql'",
        ..READS
    },
    Program {
        name: "grep",
        tree: true,
        script: "grep -r nowhere tree; grep -r nowhere tree; true",
        ..READS
    },
    Program {
        name: "tar",
        tree: true,
        script: "tar cf - tree | cat >/dev/null; tar cf - tree | cat >/dev/null",
        ..READS
    },
    Program {
        name: "git",
        tree: true,
        data: "git init -q . && git add tree &&
            git -c user.name=n -c user.email=e commit -qm tree && git gc -q",
        // What `git status` finds to look up again it looks up once.
        before: Some("git status --short"),
        script: "git grep -c nowhere; git grep -c nowhere; git status --short",
        ..READS
    },
    Program {
        name: "postgres",
        data: "chmod 755 . && mkdir pg && chown 65534:65534 pg && bin=$(pg_config --bindir) &&
            run() { setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/ PATH=$bin:$PATH \"$@\"; }
            run initdb -D pg -U n >/dev/null &&
            run pg_ctl -D pg -w -l pg/log -o \"-k $PWD/pg -c listen_addresses=\" start >/dev/null &&
            run pgbench -h $PWD/pg -U n -i -s 5 -q postgres 2>/dev/null &&
            run psql -h $PWD/pg -U n -q postgres -c 'vacuum freeze' -c checkpoint &&
            run pg_ctl -D pg -m fast -w stop >/dev/null",
        script: "bin=$(pg_config --bindir)
            run() { setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/ PATH=$bin:$PATH \"$@\"; }
            run pg_ctl -D pg -w -l pg/log \\
                -o \"-k $PWD/pg -c listen_addresses= -c shared_buffers=1MB -c autovacuum=off\" start
            run pgbench -h $PWD/pg -U n -n -S -c 1 -t 6000 --random-seed=1 postgres
            run pg_ctl -D pg -m fast -w stop",
        ..READS
    },
    Program {
        name: "make",
        data: "i=0; while [ $i -lt 24 ]; do
                { echo '#include <stdio.h>'; echo '#include <stdlib.h>'; j=0
                  while [ $j -lt 150 ]; do
                    echo \"int f_${i}_$j(int x) { printf(\\\"%d\\\", x); return x * $j; }\"
                    j=$((j + 1)); done; } >f$i.c
                i=$((i + 1)); done
            printf 'all: $(patsubst %%.c,%%.o,$(wildcard *.c))\\n' >Makefile",
        before: Some("rm -f *.o"),
        script: "make -j2",
        ..MAPS
    },
    Program {
        name: "python",
        data: "cp -a \"$(/usr/bin/python3 -c 'import os; print(os.path.dirname(os.__file__))')\" lib",
        script: "export PYTHONPATH=$PWD/lib PYTHONDONTWRITEBYTECODE=1; for i in 1 2 3; do
            /usr/bin/python3 -c 'import asyncio, email, http.server, json, sqlite3, unittest, xml.dom.minidom'
            done",
        ..MAPS
    },
    Program {
        name: "node",
        data: "cp \"$(command -v node)\" node",
        script: "for i in 1 2 3; do ./node -e 'require(\"http\"); require(\"crypto\")'; done",
        ..MAPS
    },
    Program {
        name: "splice",
        script: "./moves splice file out 65536 1; ./moves splice file out 4096 1 random",
        ..MOVES
    },
    Program {
        name: "sendfile",
        script: "./moves sendfile file out 65536 1; ./moves sendfile file out 4096 1 random",
        ..MOVES
    },
    Program {
        name: "copy_file_range",
        before: Some("rm -f out"),
        script: "./moves copy file out 131072 2",
        ..MOVES
    },
    Program {
        name: "readahead",
        script: "./moves readahead file out 65536 1; ./moves readahead file out 4096 1 random",
        ..MOVES
    },
    Program {
        name: "io_uring",
        script: "./moves ring file out 65536 1; ./moves ring file out 4096 1 random",
        ..MOVES
    },
    Program {
        name: "io_uring-workers",
        script: "./moves ring-async file out 65536 1; ./moves ring-async file out 4096 1 random",
        ..MOVES
    },
];

impl Program {
    /// One of those that are measured, or of those that are only recorded.
    pub(crate) fn by_name(name: &str) -> Option<&'static Self> {
        PROGRAMS.iter().chain(&RECORDED).find(|program| program.name == name)
    }

    /// Makes the data.
    pub(crate) fn prepare(&self, folder: &Path) -> Result<()> {
        if self.tree {
            tree(&folder.join("tree"))?;
        }
        let mut shell = Command::new("sh");
        shell.args(["-c", self.data]).current_dir(folder).stdin(Stdio::null());
        let output = shell.output()?;
        if !output.status.success() {
            bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
        }
        // What is dirty cannot be dropped from the cache.
        Command::new("sync").arg("-f").arg(folder).status()?;
        Ok(())
    }
}

/// Some 2,000 files of 1 to 64 KiB of text, the same every time.
///
/// The figures of docs/accuracy.md are from this tree, so its numbers stay those of xorshift64: other numbers would make
/// other files. The random numbers of the library are not in reach either, because xtask builds without it.
pub(crate) fn tree(folder: &Path) -> Result<()> {
    let mut state = 1_u64;
    let mut random = move || {
        // xorshift64 (Marsaglia 2003)
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for directory in 0..40 {
        let folder = folder.join(directory.to_string());
        fs::create_dir_all(&folder)?;
        for file in 0..50 {
            let bytes = 1024 + random() % (63 << 10);
            let mut text = String::new();
            while (text.len() as u64) < bytes {
                let _ = writeln!(text, "{:016x} {:016x}", random(), random());
            }
            fs::write(folder.join(file.to_string()), text)?;
        }
    }
    Ok(())
}
