//! Runs pytest over the package and the extension that cargo has just built.
//!
//! Cargo builds the extension for this test with the features of the whole workspace, so that the library is
//! not compiled again. Without a Python that has what the tests import, they are skipped.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What the tests import.
const MODULES: &str = "duckdb, matplotlib, mypy, numpy, pandas, polars, pyarrow, pytest";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    // A filter of `cargo test` names tests of Rust.
    if arguments.iter().any(|argument| argument == "--list" || !argument.starts_with('-')) {
        return ExitCode::SUCCESS;
    }
    let import = format!("import {MODULES}");
    let has_modules = Command::new("python3").args(["-c", &import]).output();
    if !has_modules.is_ok_and(|output| output.status.success()) {
        skip(&format!(
            "python3 does not import {MODULES}: pip install them, as CONTRIBUTING.md says"
        ));
        return ExitCode::SUCCESS;
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let built = built();
    let stage = stage(here, &built);
    let program = built.parent().map(|folder| folder.join("nbuf")).unwrap_or_default();
    let mut pytest = Command::new("python3");
    pytest.args(["-m", "pytest", "-p", "no:cacheprovider", "--durations", "3"]);
    pytest.current_dir(here).env("PYTHONPATH", &stage).env("PYTHONDONTWRITEBYTECODE", "1");
    if env::var_os("NBUF_PROGRAM").is_some() {
        // The caller has named one.
    } else if program.exists() {
        pytest.env("NBUF_PROGRAM", program);
    } else {
        skip("there is no program to compare the Python package with: cargo build");
    }
    let status = pytest.status().expect("python3 runs");
    if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The folder of this test and of the extension.
fn built() -> PathBuf {
    let own = env::current_exe().expect("the path of this test");
    own.parent().expect("a folder").to_owned()
}

/// The package as it is installed: its files, and the extension under its name.
fn stage(here: &Path, built: &Path) -> PathBuf {
    let stage = built.join("python-stage");
    let _ = fs::remove_dir_all(&stage);
    let package = stage.join("nbuf");
    fs::create_dir_all(&package).expect("a folder for the package");
    for entry in fs::read_dir(here.join("python/nbuf")).expect("the package") {
        let entry = entry.expect("a file of the package");
        if entry.file_name() != "__pycache__" {
            symlink(entry.path(), package.join(entry.file_name())).expect("a link");
        }
    }
    symlink(built.join("lib_nbuf.so"), package.join("_nbuf.abi3.so")).expect("a link");
    stage
}

/// Says that tests do not run and why. Where `NBUF_SKIP_LOG` names a file, a line is appended to it.
#[expect(clippy::print_stderr, reason = "a skip is said aloud")]
fn skip(reason: &str) {
    eprintln!("SKIP (counted): {reason}");
    let Some(log) = env::var_os("NBUF_SKIP_LOG") else { return };
    let mut log = OpenOptions::new().create(true).append(true).open(log).expect("the log of skips");
    writeln!(log, "{reason}").expect("the log of skips");
}
