//! Kinds of programs that the models were not made with, each as far as its program is installed.
//!
//! A kind that cannot run has a line that says how to install it; a kind without a number has a row, too. Nothing of this
//! is in docs/accuracy.md.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Result;

use super::programs::{MAPS, Program, READS};
use super::{Cell, Place, Window, cell, table};

/// A program, and what it needs.
#[derive(Debug)]
struct Kind {
    /// Shell that succeeds if the program is installed.
    needs: &'static str,
    /// How to install it.
    install: &'static str,
    program: Program,
}

/// A file of 64 MiB.
const FILE: &str = "head -c 64M /dev/urandom >file";

/// fio reads a file twice at random, by one of its engines.
macro_rules! fio {
    ($engine:literal) => {
        Kind {
            needs: concat!("fio --enghelp | grep -qw ", $engine),
            install: "apt-get install fio",
            program: Program {
                name: concat!("fio-", $engine),
                data: FILE,
                script: concat!(
                    "fio --name=f --filename=file --rw=randread --bs=4k --size=64M --loops=2 --randseed=1 ",
                    "--invalidate=0 --thread --ioengine=",
                    $engine
                ),
                ..READS
            },
        }
    };
}

/// Reads pages of a file twice in a fixed order, after this advice about all of it.
macro_rules! fadvise {
    ($name:literal, $advice:literal) => {
        Kind {
            needs: "command -v python3",
            install: "apt-get install python3",
            program: Program {
                name: concat!("fadvise-", $name),
                data: FILE,
                script: concat!(
                    "python3 -c 'import os
f = os.open(\"file\", os.O_RDONLY)
for again in range(2):
    os.posix_fadvise(f, 0, 0, os.POSIX_FADV_",
                    $advice,
                    ")
    for i in range(12000): os.pread(f, 4096, i * 7919 % 16384 * 4096)'"
                ),
                ..READS
            },
        }
    };
}

const REDIS: Kind = Kind {
    needs: "command -v redis-server && command -v redis-benchmark",
    install: "apt-get install redis-server redis-tools",
    program: Program {
        name: "redis",
        data: "redis-server --port 0 --unixsocket $PWD/s --dir $PWD --save '' --enable-debug-command yes \\
                >/dev/null 2>&1 &
            i=0; until redis-cli -s $PWD/s ping 2>/dev/null | grep -q PONG; do
                i=$((i + 1)); [ $i -lt 300 ] || exit 1; sleep 0.1; done
            redis-cli -s $PWD/s debug populate 300000 k 100 && redis-cli -s $PWD/s save
            redis-cli -s $PWD/s shutdown nosave; wait",
        script: "redis-server --port 0 --unixsocket $PWD/s --dir $PWD --save '' >/dev/null &
            until redis-cli -s $PWD/s ping 2>/dev/null | grep -q PONG; do sleep 0.1; done
            redis-benchmark -s $PWD/s -t get -n 50000 -r 300000 -q
            redis-cli -s $PWD/s shutdown nosave; wait",
        ..MAPS
    },
};

const MARIADB: Kind = Kind {
    needs: "command -v mariadbd && command -v mariadb-install-db",
    install: "apt-get install mariadb-server",
    program: Program {
        name: "mariadb",
        data: "mariadb-install-db --no-defaults --datadir=$PWD/db --user=root >/dev/null || exit 1
            mariadbd --no-defaults --datadir=$PWD/db --socket=$PWD/s --skip-networking --user=root >/dev/null 2>&1 &
            i=0; until mariadb-admin --no-defaults --socket=$PWD/s ping 2>/dev/null; do
                i=$((i + 1)); [ $i -lt 300 ] || exit 1; sleep 0.2; done
            mariadb --no-defaults --socket=$PWD/s -e 'CREATE DATABASE n; CREATE TABLE n.t (PRIMARY KEY (id)) AS
                SELECT seq AS id, repeat(md5(seq), 8) AS v FROM seq_1_to_200000' &&
            mariadb-admin --no-defaults --socket=$PWD/s shutdown; wait",
        script: "mariadbd --no-defaults --datadir=$PWD/db --socket=$PWD/s --skip-networking --user=root \\
                --innodb-buffer-pool-size=16M --innodb-flush-method=fsync 2>/dev/null &
            until mariadb-admin --no-defaults --socket=$PWD/s ping 2>/dev/null; do sleep 0.2; done
            for i in 1 2; do mariadb --no-defaults --socket=$PWD/s -e 'SELECT sum(length(v)) FROM n.t'; done
            mariadb-admin --no-defaults --socket=$PWD/s shutdown; wait",
        ..MAPS
    },
};

const JAVA: Kind = Kind {
    needs: "command -v java",
    install: "apt-get install default-jre-headless",
    program: Program {
        name: "jvm",
        script: "for i in 1 2 3; do java -XX:+PrintFlagsFinal -version >/dev/null 2>&1; done",
        ..MAPS
    },
};

const DUCKDB_NEEDS: &str = "python3 -c 'import duckdb'";
const DUCKDB_INSTALL: &str = "pip install duckdb";

const DUCKDB: Kind = Kind {
    needs: DUCKDB_NEEDS,
    install: DUCKDB_INSTALL,
    program: Program {
        name: "duckdb",
        data: "python3 -c 'import duckdb
duckdb.connect(\"d.db\").execute(\"CREATE TABLE t AS SELECT hash(range) AS v, range AS k FROM range(6000000)\")'",
        script: "python3 -c 'import duckdb
c = duckdb.connect(\"d.db\", read_only=True, config={\"memory_limit\": \"64MB\", \"threads\": 1})
for again in range(3): c.execute(\"SELECT sum(v % 7), max(k) FROM t\").fetchall()'",
        ..READS
    },
};

const DUCKDB_PARQUET: Kind = Kind {
    needs: DUCKDB_NEEDS,
    install: DUCKDB_INSTALL,
    program: Program {
        name: "duckdb-parquet",
        data: "python3 -c 'import duckdb
duckdb.sql(\"SELECT hash(range) AS v, range AS k FROM range(6000000)\").write_parquet(\"t.parquet\")'",
        script: "python3 -c 'import duckdb
c = duckdb.connect(config={\"memory_limit\": \"64MB\", \"threads\": 1})
for again in range(3): c.read_parquet(\"t.parquet\").aggregate(\"sum(v % 7), max(k)\").fetchall()'",
        ..READS
    },
};

const ROCKSDB: Kind = Kind {
    needs: "command -v db_bench",
    install: "apt-get install rocksdb-tools",
    program: Program {
        name: "rocksdb",
        data: "db_bench --benchmarks=fillrandom,compact --num=400000 --value_size=200 --db=$PWD/r \\
            --compression_type=none",
        script: "db_bench --benchmarks=readrandom --use_existing_db=1 --num=400000 --reads=60000 --db=$PWD/r \\
            --compression_type=none --cache_size=1048576 --seed=1",
        ..READS
    },
};

const LMDB: Kind = Kind {
    needs: "python3 -c 'import lmdb'",
    install: "pip install lmdb",
    program: Program {
        name: "lmdb",
        data: "python3 -c 'import lmdb
e = lmdb.open(\"l\", map_size=1 << 30)
with e.begin(write=True) as t:
    for i in range(300000): t.put(b\"%08d\" % (i * 7919 % 300000), b\"v\" * 200)'",
        script: "python3 -c 'import lmdb
e = lmdb.open(\"l\", readonly=True, lock=False)
with e.begin() as t:
    for i in range(200000): t.get(b\"%08d\" % (i * i % 300000))'",
        ..MAPS
    },
};

const SQLITE: Kind = Kind {
    needs: "command -v sqlite3",
    install: "apt-get install sqlite3",
    program: Program {
        name: "sqlite-mmap",
        data: "sqlite3 db \"CREATE TABLE t(id INTEGER PRIMARY KEY, v BLOB);
            WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 120000)
            INSERT INTO t SELECT x, randomblob(700) FROM c;\"",
        script: "sqlite3 db \"PRAGMA mmap_size=1073741824;
            WITH RECURSIVE c(n, r) AS (SELECT 1, 1 UNION ALL
            SELECT n + 1, (r * 1103515245 + 12345) % 2147483648 FROM c WHERE n < 60000)
            SELECT sum(length(v)) FROM c JOIN t ON t.id = (c.r >> 8) % 120000 + 1;\"",
        ..MAPS
    },
};

const GO: Kind = Kind {
    needs: "command -v go",
    install: "apt-get install golang-go",
    program: Program {
        name: "go-build",
        data: "printf 'module m\\n' >go.mod
            printf 'package main\\nimport \"net/http\"\\nfunc main() { http.ListenAndServe(\":0\", nil) }\\n' >main.go",
        before: Some("rm -rf cache out"),
        script: "GOCACHE=$PWD/cache GOPATH=$PWD/path GOFLAGS=-mod=mod go build -p 1 -o out .",
        ..MAPS
    },
};

const CARGO: Kind = Kind {
    needs: "command -v cargo",
    install: "the toolchain of this repository",
    program: Program {
        name: "cargo-build",
        data: "mkdir -p src && printf '[package]\\nname = \"m\"\\nedition = \"2021\"\\n[workspace]\\n' >Cargo.toml
            { i=0; while [ $i -lt 400 ]; do
                echo \"pub fn f$i(x: &[u64]) -> Vec<String> { x.iter().map(|x| format!(\\\"{x} {}\\\", $i)).collect() }\"
                i=$((i + 1)); done; } >src/lib.rs",
        before: Some("rm -rf target"),
        script: "cargo build --offline --target-dir target",
        ..MAPS
    },
};

const KINDS: [Kind; 24] = [
    REDIS,
    MARIADB,
    JAVA,
    DUCKDB,
    DUCKDB_PARQUET,
    ROCKSDB,
    LMDB,
    SQLITE,
    GO,
    CARGO,
    fio!("sync"),
    fio!("psync"),
    fio!("vsync"),
    fio!("pvsync"),
    fio!("pvsync2"),
    fio!("mmap"),
    fio!("libaio"),
    fio!("posixaio"),
    fio!("io_uring"),
    fadvise!("normal", "NORMAL"),
    fadvise!("random", "RANDOM"),
    fadvise!("sequential", "SEQUENTIAL"),
    fadvise!("willneed", "WILLNEED"),
    fadvise!("noreuse", "NOREUSE"),
];

/// Measures the kinds whose names begin with one of these, or all, and returns their table.
pub fn measure(nbuf: &Path, only: &[String]) -> Result<String> {
    let place = Place::make("nbuf-held-out")?;
    let wanted = |kind: &&Kind| {
        let name = kind.program.name;
        only.is_empty() || only.iter().any(|start| name.starts_with(start.as_str()))
    };
    let (mut cells, mut missing) = (Vec::new(), Vec::new());
    for kind in KINDS.iter().filter(wanted) {
        let name = kind.program.name;
        if !kind.is_installed() {
            missing.push(format!("{name}: not installed: {}", kind.install));
            continue;
        }
        let data = place.path().join(name);
        match measured(nbuf, &kind.program, &data) {
            Ok(cell) => cells.push(cell),
            Err(error) => missing.push(format!("{name}: {error:#}")),
        }
        // Some have much data, and the next one needs the room.
        let _ = fs::remove_dir_all(&data);
    }
    Ok(table::held_out(&cells, &missing))
}

fn measured(nbuf: &Path, program: &Program, data: &Path) -> Result<Cell> {
    fs::create_dir_all(data)?;
    program.prepare(data)?;
    cell(nbuf, program, data, Window::Own, None)
}

impl Kind {
    fn is_installed(&self) -> bool {
        let mut shell = Command::new("sh");
        shell.args(["-c", self.needs]).stdin(Stdio::null());
        let status = shell.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_kind_has_a_name_of_its_own_and_scripts_that_a_shell_accepts() {
        let mut names = HashSet::new();
        for Kind { needs, install, program } in &KINDS {
            assert!(names.insert(program.name), "{}", program.name);
            assert!(!install.is_empty(), "{}", program.name);
            for script in [*needs, program.data, program.script] {
                let status = Command::new("sh").args(["-n", "-c", script]).status().unwrap();
                assert!(status.success(), "{}: {script}", program.name);
            }
        }
    }
}
