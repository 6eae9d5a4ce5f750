//! Runs pytest over the package and the extension that cargo has just built.
//!
//! Cargo builds the extension for this test with the features of the whole workspace, so that the library is
//! not compiled again. Without a Python that has what the tests import, they are skipped.
//!
//! Two processes share most files, because tests of engines mostly wait. Files that judge time run alone after them.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;

/// What the tests import.
const MODULES: &str = "duckdb, matplotlib, mypy, numpy, pandas, polars, pyarrow, pytest";

/// Files whose tests start engines or kernels of notebooks. Both choose a free port before they bind it, so that they must
/// not start at the same time.
const ENGINES: [&str; 2] = ["test_fleet.py", "test_notebooks.py"];

/// Files whose tests have limits of 0.5 to 5 seconds, which another process could break.
const ALONE: [&str; 3] = ["test_running.py", "test_types.py", "test_slow_stores.py"];

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
    let program = program(&built);
    let pytest = Pytest { here, stage: &stage, program: program.as_deref() };
    if pytest.all() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The program to compare the package with, unless the caller has named one.
fn program(built: &Path) -> Option<PathBuf> {
    if env::var_os("NBUF_PROGRAM").is_some() {
        return None;
    }
    let program = built.parent().map(|folder| folder.join("nbuf")).unwrap_or_default();
    if program.exists() {
        return Some(program);
    }
    skip("there is no program to compare the Python package with: cargo build");
    None
}

/// What each process of pytest is started with.
struct Pytest<'a> {
    here: &'a Path,
    stage: &'a Path,
    program: Option<&'a Path>,
}

impl Pytest<'_> {
    /// Runs every file of tests once; whether all passed. A new file is one of the others.
    fn all(&self) -> bool {
        let engines = ENGINES.map(|name| format!("tests/{name}"));
        let alone = ALONE.map(|name| format!("tests/{name}"));
        let elsewhere = engines.iter().chain(&alone);
        let others: Vec<String> = elsewhere.map(|path| format!("--ignore={path}")).collect();
        let shared = thread::scope(|scope| {
            let engines = scope.spawn(|| self.run("engines", &engines));
            let others = self.run("others", &others);
            engines.join().expect("pytest runs") && others
        });
        self.run("alone", &alone) && shared
    }

    /// Runs one process and then prints its whole output; whether its tests passed.
    #[expect(clippy::print_stdout, reason = "the output of a failed test must be readable")]
    fn run(&self, name: &str, arguments: &[String]) -> bool {
        // A process that an engine leaves behind would keep a pipe open.
        let path = self.stage.join(format!("{name}.log"));
        let output = File::create(&path).expect("a file for the output");
        let errors = output.try_clone().expect("a second descriptor");
        let mut pytest = Command::new("python3");
        pytest.args(["-m", "pytest", "-p", "no:cacheprovider", "--durations", "3"]).args(arguments);
        pytest.current_dir(self.here).env("PYTHONPATH", self.stage);
        pytest.env("PYTHONDONTWRITEBYTECODE", "1").stdout(output).stderr(errors);
        if let Some(program) = self.program {
            pytest.env("NBUF_PROGRAM", program);
        }
        let status = pytest.status().expect("python3 runs");
        let said = fs::read(&path).expect("the output");
        println!("pytest, {name}: {status}\n{}", String::from_utf8_lossy(&said));
        status.success()
    }
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
