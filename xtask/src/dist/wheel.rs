//! `cargo xtask dist wheel`: the Python package with the program in it.
//!
//! docs/decisions/0015-python-by-arrow-capsules.md has the reasons.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::target;
use crate::process::run;

/// The folder of the package.
const PACKAGE: &str = "crates/nbuf-python";
/// What makes wheels, what links them to an old C library or for another processor, and what links programs so.
const TOOLS: [&str; 3] = ["maturin==1.16.0", "ziglang==0.17.1", "cargo-zigbuild==0.24.1"];
/// The oldest C libraries that run it: glibc 2.17 of 2012, and musl 1.2 of 2020.
const PLATFORMS: [(&str, &str); 2] = [("gnu", "manylinux2014"), ("musl", "musllinux_1_2")];
/// More than that is not worth a download.
const WHEEL_BYTES_MAX: u64 = 15 << 20;

/// Makes the wheel for a target in `target/dist`, with this program, which is static. By default the target is the
/// host's architecture with glibc, and the program the one that is there. For another architecture it is built first.
pub fn wheel(repository: &Path, triple: Option<&str>, program: Option<&Path>) -> Result<()> {
    let dist = repository.join("target/dist");
    let triple = triple.map_or_else(|| target("gnu"), str::to_owned);
    let platform = PLATFORMS.iter().find(|(library, _)| triple.ends_with(library));
    let &(_, platform) = platform
        .with_context(|| format!("no kind of wheel for {triple}; name a Linux with gnu or musl"))?;
    let tools = Tools::installed(repository)?;
    let program = match program {
        Some(program) => program.to_owned(),
        None if triple.starts_with(std::env::consts::ARCH) => dist.join("nbuf"),
        None => tools.program(&triple.replace("-gnu", "-musl"))?,
    };
    ensure!(
        program.is_file(),
        "there is no program {}; make it by `cargo xtask dist binary`, or name one by --program",
        program.display()
    );
    fs::create_dir_all(&dist).context("cannot make target/dist")?;
    let data = Data::with(&repository.join(PACKAGE), &program)?;
    let built = dist.join("wheel");
    let _ = fs::remove_dir_all(&built);
    let mut command = tools.command("maturin")?;
    command.current_dir(repository.join(PACKAGE));
    command.args(["build", "--release", "--locked", "--strip", "--zig"]);
    command.args(["--compatibility", platform]);
    command.args(["--target", &triple, "--out"]).arg(&built);
    let made = run(&mut command);
    drop(data);
    made?;
    for entry in fs::read_dir(&built)? {
        let entry = entry?;
        let bytes = entry.metadata()?.len();
        ensure!(
            bytes < WHEEL_BYTES_MAX,
            "the wheel has {bytes} bytes, more than {WHEEL_BYTES_MAX}; leave features of dependencies out"
        );
        fs::rename(entry.path(), dist.join(entry.file_name()))?;
    }
    fs::remove_dir(&built).context("cannot remove an empty folder")
}

/// Makes the source distribution in `target/dist`: the package and the library, without the program. Its lock file
/// has the packages of the whole workspace, so that a build from it must not be `--locked`.
pub fn source(repository: &Path) -> Result<()> {
    let mut command = Tools::installed(repository)?.command("maturin")?;
    command.current_dir(repository.join(PACKAGE)).args(["sdist", "--out"]);
    run(command.arg(repository.join("target/dist")))
}

/// Programs that make wheels, in an environment of their own below `target`.
struct Tools<'a> {
    repository: &'a Path,
    programs: PathBuf,
}

impl<'a> Tools<'a> {
    fn installed(repository: &'a Path) -> Result<Self> {
        let environment = repository.join("target/tools/wheel");
        let programs = environment.join("bin");
        if !programs.join("maturin").is_file() {
            run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
        }
        let mut pip = Command::new(programs.join("python3"));
        run(pip.args(["-m", "pip", "-q", "--disable-pip-version-check", "install"]).args(TOOLS))?;
        Ok(Self { repository, programs })
    }

    /// One of them, which finds the others.
    fn command(&self, name: &str) -> Result<Command> {
        let mut command = Command::new(self.programs.join(name));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.programs.clone()).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(folders)?);
        Ok(command)
    }

    /// The static program for a target with musl.
    fn program(&self, triple: &str) -> Result<PathBuf> {
        let mut build = self.command("cargo-zigbuild")?;
        build.current_dir(self.repository).args(["zigbuild", "--locked", "--bin", "nbuf"]);
        run(build.args(["--profile", super::PROFILE, "--target", triple]))?;
        Ok(self.repository.join("target").join(triple).join(super::PROFILE).join("nbuf"))
    }
}

/// The folder of scripts that maturin puts into the wheel for pip to put next to Python. It goes when this is dropped: a
/// wheel for trying has no program.
struct Data(PathBuf);

impl Data {
    fn with(package: &Path, program: &Path) -> Result<Self> {
        let data = Self(package.join("nbuf.data/scripts"));
        fs::create_dir_all(&data.0).context("cannot make the folder of the program")?;
        fs::copy(program, data.0.join("nbuf"))
            .with_context(|| format!("cannot copy {}", program.display()))?;
        Ok(data)
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
