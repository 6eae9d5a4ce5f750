//! `cargo xtask CHORE`: the chores, by name.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use xtask::{
    accuracy, captures, cost, discs, dist, docs, faults, giant, semver, served, sqlite, stores,
    surface, tidy, truth, vm,
};

const USAGE: &str = "\
usage: cargo xtask tidy
       cargo xtask figures                (of the tree, in ARCHITECTURE.md)
       cargo xtask dist                   (the files of a release, in target/dist)
       cargo xtask dist binary            (the static binary alone)
       cargo xtask dist wheel [--target TARGET] [--program PATH]  (the Python package, with the static binary or PATH in it)
       cargo xtask dist sdist             (the Python package as source)
       cargo xtask dist check             (installs the packages in target/dist in a copy of the root directory; as root)
       cargo xtask docs                   (the documents as a site, in target/docs)
       cargo xtask surface                (compares the public surface of the library with its file)
       cargo xtask surface write          (writes that file)
       cargo xtask semver                 (compares the library with the last tag, by cargo-semver-checks)
       cargo xtask discs                  (with the measured drives in ../shared/discs, or NBUF_DISCS)
       cargo xtask cost RUNS COMMAND...   (after cargo build --release)
       cargo xtask truth                  (after cargo build --release)
       cargo xtask truth in FOLDER        (the same, and keeps the documents there)
       cargo xtask truth advice SEED      (the same)
       cargo xtask faults [TIMES [SEED]]  (power cuts and errors, TIMES as many as the tests have; 100)
       cargo xtask giant [ACCESSES]       (one volume split by time and by hash, after cargo build --release; 100000000)
       cargo xtask stores TRACE...        (Redis and memcached, after cargo build --release)
       cargo xtask served [ROUNDS]        (nbuf serve next to nbdkit and qemu-nbd, after cargo build --release; 5)
       cargo xtask served curve [ROUNDS]  (rates over sizes of the cache, in docs/serve.md; 1)
       cargo xtask sqlite FOLDER          (SQLite's own tests over nbuf-sqlite; its sources are in FOLDER)
       cargo xtask captures               (as root, after cargo build --release)
       cargo xtask accuracy [PROGRAM...]  (the same)
       cargo xtask accuracy held-out [PROGRAM...]  (kinds that the models were not made with; the same)
       cargo xtask accuracy live [SERVICE...] [--in FOLDER] [--for SECONDS] [--windows NUMBER] [--rows FILE]
                                          (programs that run already; the same)
       cargo xtask vm [backports] [PROGRAM...]  (some of them in a virtual machine of Debian 13; the same)";

fn main() -> anyhow::Result<ExitCode> {
    match env::args().nth(1).as_deref() {
        Some("tidy") => run_tidy(),
        Some("figures") => {
            let path = tidy::repository().join("ARCHITECTURE.md");
            let table = tidy::figures::table(&tidy::repository())?;
            write!(io::stdout(), "{table}")?;
            let text = accuracy::between(&fs::read_to_string(&path)?, "figures", &table)?;
            fs::write(&path, text)?;
            Ok(ExitCode::SUCCESS)
        }
        Some("dist") if env::args().nth(2).as_deref() == Some("wheel") => run_wheel(),
        Some("dist") if env::args().nth(2).as_deref() == Some("sdist") => {
            dist::source(&tidy::repository())?;
            Ok(ExitCode::SUCCESS)
        }
        Some("dist") if env::args().nth(2).as_deref() == Some("check") => run_check(),
        Some("dist") => run_dist(env::args().nth(2).as_deref()),
        Some("docs") => {
            docs::make(&tidy::repository())?;
            Ok(ExitCode::SUCCESS)
        }
        Some("semver") => run_semver(),
        Some("surface") => run_surface(env::args().nth(2).as_deref()),
        Some("discs") => {
            discs::write(&tidy::repository())?;
            Ok(ExitCode::SUCCESS)
        }
        Some("cost") => {
            let runs = env::args().nth(2).and_then(|runs| runs.parse().ok());
            let command: Vec<_> = env::args_os().skip(3).collect();
            let runs = runs.context("how many runs? cargo xtask cost 9 sqlite3 ...")?;
            let table = cost::table("target/release/nbuf", runs, &command)?;
            write!(io::stdout(), "{table}")?;
            Ok(ExitCode::SUCCESS)
        }
        Some("truth") => run_truth(),
        Some("faults") => run_faults(),
        Some("giant") => run_giant(),
        Some("stores") => {
            let traces: Vec<PathBuf> = env::args_os().skip(2).map(PathBuf::from).collect();
            let table = stores::table(&released(), &traces)?;
            write!(io::stdout(), "{table}")?;
            let path = tidy::repository().join("docs/accuracy.md");
            fs::write(&path, accuracy::between(&fs::read_to_string(&path)?, "stores", &table)?)?;
            Ok(ExitCode::SUCCESS)
        }
        Some("served") => run_served(),
        Some("sqlite") => run_sqlite(),
        Some("captures") => {
            let path = tidy::repository().join("docs/capture-calls.md");
            let table = captures::table(&tidy::repository().join("target/release/nbuf"))?;
            fs::write(&path, accuracy::between(&fs::read_to_string(&path)?, "close", &table)?)?;
            Ok(ExitCode::SUCCESS)
        }
        Some("accuracy") => run_accuracy(&env::args().skip(2).collect::<Vec<_>>()),
        Some("vm") => run_vm(),
        Some("help" | "--help" | "-h") => {
            writeln!(io::stdout(), "{USAGE}")?;
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            writeln!(io::stderr(), "{USAGE}")?;
            Ok(ExitCode::from(2))
        }
    }
}

fn run_giant() -> anyhow::Result<ExitCode> {
    let accesses = env::args().nth(2).map_or(Ok(100_000_000), |accesses| accesses.parse());
    let accesses = accesses.context("how many accesses? cargo xtask giant 100000000")?;
    write!(io::stdout(), "{}", giant::check(&released(), accesses)?)?;
    Ok(ExitCode::SUCCESS)
}

fn run_sqlite() -> anyhow::Result<ExitCode> {
    let folder = env::args_os().nth(2).context("which folder? cargo xtask sqlite FOLDER")?;
    sqlite::check(Path::new(&folder))?;
    let table = sqlite::table(&tidy::repository(), Path::new(&folder))?;
    write!(io::stdout(), "{table}")?;
    let path = tidy::repository().join("docs/library.md");
    fs::write(&path, accuracy::between(&fs::read_to_string(&path)?, "sqlite", &table)?)?;
    Ok(ExitCode::SUCCESS)
}

fn run_served() -> anyhow::Result<ExitCode> {
    if env::args().nth(2).as_deref() == Some("curve") {
        let rounds = env::args().nth(3).map_or(Ok(1), |rounds| rounds.parse());
        let rounds = rounds.context("how many rounds? cargo xtask served curve 1")?;
        return served_in_docs("curve", &served::curve(&released(), rounds)?);
    }
    let rounds = env::args().nth(2).map_or(Ok(5), |rounds| rounds.parse());
    let rounds = rounds.context("how many rounds? cargo xtask served 5")?;
    served_in_docs("served", &served::table(&released(), rounds)?)
}

/// Prints a table, and writes it where its mark is.
fn served_in_docs(mark: &str, table: &str) -> anyhow::Result<ExitCode> {
    write!(io::stdout(), "{table}")?;
    let path = tidy::repository().join("docs/serve.md");
    fs::write(&path, accuracy::between(&fs::read_to_string(&path)?, mark, table)?)?;
    Ok(ExitCode::SUCCESS)
}

fn run_truth() -> anyhow::Result<ExitCode> {
    let path = tidy::repository().join("docs/performance.md");
    let (mark, table) = match env::args().nth(2).as_deref() {
        None => ("truth", truth::table(&released(), None)?),
        Some("in") => {
            let folder =
                env::args_os().nth(3).context("which folder? cargo xtask truth in FOLDER")?;
            ("truth", truth::table(&released(), Some(Path::new(&folder)))?)
        }
        Some("advice") => {
            let seed = env::args().nth(3).and_then(|seed| seed.parse().ok());
            let seed = seed.context("which seed? cargo xtask truth advice 20261123")?;
            ("advice", truth::advice::table(&released(), seed)?)
        }
        Some(other) => {
            anyhow::bail!("there is no truth about `{other}`; give none, `in` or `advice`")
        }
    };
    write!(io::stdout(), "{table}")?;
    fs::write(&path, accuracy::between(&fs::read_to_string(&path)?, mark, &table)?)?;
    Ok(ExitCode::SUCCESS)
}

fn run_faults() -> anyhow::Result<ExitCode> {
    let number = |at: usize| env::args().nth(at).map(|text| text.parse::<u64>()).transpose();
    let (times, seed) = (number(2)?.unwrap_or(100), number(3)?);
    faults::run(&tidy::repository(), times, seed)
}

fn run_dist(part: Option<&str>) -> anyhow::Result<ExitCode> {
    let parts = match part {
        None => dist::Parts::All,
        Some("binary") => dist::Parts::Binary,
        Some(other) => anyhow::bail!("no part `{other}`; give none, `binary`, `wheel` or `check`"),
    };
    if let Some(line) = dist::missing(parts)? {
        writeln!(io::stderr(), "{line}")?;
        return Ok(ExitCode::FAILURE);
    }
    dist::make(&tidy::repository(), parts)?;
    Ok(ExitCode::SUCCESS)
}

fn run_wheel() -> anyhow::Result<ExitCode> {
    let (mut target, mut program) = (None, None);
    let mut arguments = env::args_os().skip(3);
    while let Some(name) = arguments.next() {
        match (name.to_str(), arguments.next()) {
            (Some("--target"), Some(triple)) => {
                target = Some(triple.to_string_lossy().into_owned());
            }
            (Some("--program"), Some(path)) => program = Some(PathBuf::from(path)),
            _ => anyhow::bail!("write `cargo xtask dist wheel [--target TARGET] [--program PATH]`"),
        }
    }
    dist::wheel(&tidy::repository(), target.as_deref(), program.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

/// Without the tools or the rights it fails: nothing was checked.
fn run_check() -> anyhow::Result<ExitCode> {
    if let Some(line) = dist::missing_to_check() {
        writeln!(io::stderr(), "{line}")?;
        return Ok(ExitCode::FAILURE);
    }
    for line in dist::check(&tidy::repository())? {
        writeln!(io::stdout(), "{line}")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn run_semver() -> anyhow::Result<ExitCode> {
    match semver::baseline(&tidy::repository()) {
        semver::Baseline::Missing(line) => writeln!(io::stdout(), "{line}")?,
        semver::Baseline::Tag(tag) => semver::compare(&tidy::repository(), &tag)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn run_surface(what: Option<&str>) -> anyhow::Result<ExitCode> {
    if let Some(line) = surface::missing() {
        writeln!(io::stdout(), "{line}")?;
        return Ok(ExitCode::SUCCESS);
    }
    match what {
        None => surface::compare(&tidy::repository())?,
        Some("write") => surface::write(&tidy::repository())?,
        Some(other) => anyhow::bail!("no part `{other}`; give none, or `write`"),
    }
    Ok(ExitCode::SUCCESS)
}

/// The program that is measured: the released one, or another that `NBUF` names.
fn released() -> PathBuf {
    env::var_os("NBUF")
        .map_or_else(|| tidy::repository().join("target/release/nbuf"), PathBuf::from)
}

/// Prints the tables of some programs; the tables of all programs go into the document.
fn run_accuracy(only: &[String]) -> anyhow::Result<ExitCode> {
    match only.split_first() {
        Some((part, _)) if part == "live" => return run_accuracy_live(),
        Some((part, kinds)) if part == "held-out" => {
            write!(io::stdout(), "{}", accuracy::held_out::measure(&released(), kinds)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        _ => {}
    }
    let path = tidy::repository().join("docs/accuracy.md");
    let document = fs::read_to_string(&path)?;
    let (fills, time) = accuracy::measure(&released(), only)?;
    let document = accuracy::replace(&document, &fills, &time)?;
    if only.is_empty() {
        fs::write(path, document)?;
    } else {
        write!(io::stdout(), "{document}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The table of all services goes into the document; of some it is printed alone.
fn run_accuracy_live() -> anyhow::Result<ExitCode> {
    let spec = accuracy::live::Spec::parse(released(), env::args().skip(3))?;
    let table = accuracy::live::markdown(&accuracy::live::measure(&spec)?);
    write!(io::stdout(), "{table}")?;
    if spec.only.is_empty() {
        let path = tidy::repository().join("docs/accuracy.md");
        fs::write(&path, accuracy::between(&fs::read_to_string(&path)?, "live", &table)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the counts of a virtual machine, or the one line that says why there is none.
fn run_vm() -> anyhow::Result<ExitCode> {
    let spec = vm::Spec::parse(env::args().skip(2))?;
    let text = match vm::missing() {
        Some(line) => line + "\n",
        None => vm::run(&tidy::repository(), &released(), &spec)?,
    };
    write!(io::stdout(), "{text}")?;
    Ok(ExitCode::SUCCESS)
}

fn run_tidy() -> anyhow::Result<ExitCode> {
    let problems = tidy::check(&tidy::repository())?;
    let mut out = io::stdout().lock();
    for problem in &problems {
        writeln!(out, "{problem}")?;
    }
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
