//! `cargo xtask dist`: the files of a release, in `target/dist`.
//!
//! A static binary for every Linux of the host's architecture, its manual pages and completions, packages of
//! the glibc build, and checksums. docs/decisions/0009-one-static-binary.md has the reasons.

mod check;
mod tools;
mod wheel;

pub use check::{check, missing_to_check};
pub use wheel::{source, wheel};

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::process::{output, run};

/// What to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// The static binary alone.
    Binary,
    /// Everything.
    All,
}

/// The profile in Cargo.toml that releases are built with.
const PROFILE: &str = "release-lto";
/// The folder of the package that is released.
const PACKAGE: &str = "crates/nbuf";
/// More than that is not worth a download.
const BINARY_BYTES_MAX: u64 = 18 << 20;
/// Shells, and the names that they look for.
const COMPLETIONS: [(&str, &str); 3] =
    [("bash", "nbuf.bash"), ("zsh", "_nbuf"), ("fish", "nbuf.fish")];

/// Makes these parts from the sources of `repository`. What target/dist held before goes.
pub fn make(repository: &Path, parts: Parts) -> Result<()> {
    let (musl, gnu) = (target("musl"), target("gnu"));
    let release = Release { repository, dist: repository.join("target/dist") };
    if release.dist.exists() {
        fs::remove_dir_all(&release.dist).context("cannot remove target/dist")?;
    }
    fs::create_dir_all(&release.dist).context("cannot make target/dist")?;
    release.binary(&musl)?;
    if parts == Parts::All {
        release.pages()?;
        release.build(&gnu)?;
        release.packages(&gnu)?;
    }
    release.checksums()
}

/// One line about the first thing that these parts need and the machine does not have.
pub fn missing(parts: Parts) -> Result<Option<String>> {
    tools::missing(parts, &target("musl"))
}

/// The host's architecture with this C library.
fn target(c_library: &str) -> String {
    format!("{}-unknown-linux-{c_library}", std::env::consts::ARCH)
}

/// Where a release is made, from which sources.
struct Release<'a> {
    repository: &'a Path,
    dist: PathBuf,
}

impl Release<'_> {
    /// `target/dist/nbuf`, which needs nothing but a kernel.
    fn binary(&self, musl: &str) -> Result<()> {
        let built = self.build(musl)?;
        let bytes = fs::metadata(&built)?.len();
        ensure!(
            bytes < BINARY_BYTES_MAX,
            "the static binary has {bytes} bytes, more than {BINARY_BYTES_MAX}; leave features of \
             dependencies out (`cargo bloat --profile {PROFILE} --crates`)"
        );
        fs::copy(&built, self.dist.join("nbuf")).context("cannot copy the static binary")?;
        Ok(())
    }

    /// Builds the program for a target; its path.
    fn build(&self, target: &str) -> Result<PathBuf> {
        let mut cargo = self.cargo();
        cargo.args(["build", "--locked", "--bin", "nbuf"]);
        cargo.args(["--profile", PROFILE, "--target", target]);
        if !target.ends_with("musl") {
            // The static binary has a limit (docs/decisions/0018-object-stores-by-object-store.md).
            cargo.args(["--features", "object-stores"]);
        }
        let compiler = format!("CC_{}", target.replace('-', "_"));
        if target.ends_with("musl") && std::env::var_os(&compiler).is_none() {
            cargo.env(compiler, tools::MUSL_COMPILER);
        }
        run(&mut cargo)?;
        Ok(self.repository.join("target").join(target).join(PROFILE).join("nbuf"))
    }

    /// The manual pages and the completions, from the program itself.
    fn pages(&self) -> Result<()> {
        let nbuf = self.dist.join("nbuf");
        let man = self.dist.join("man");
        fs::create_dir(&man)?;
        run(Command::new(&nbuf).args(["-q", "man"]).arg(&man))?;
        let completions = self.dist.join("completions");
        fs::create_dir(&completions)?;
        for (shell, file) in COMPLETIONS {
            let script = output(Command::new(&nbuf).args(["completions", shell]))?;
            fs::write(completions.join(file), script)?;
        }
        Ok(())
    }

    /// The .deb and the .rpm, of the glibc build.
    fn packages(&self, gnu: &str) -> Result<()> {
        let target = ["--target", gnu, "--profile", PROFILE, "--output"];
        let date = output(self.at("git").args(["log", "-1", "--format=%ct"]));
        // Without git, as in an archive of the sources, the files have the date of today.
        let date = date.ok().and_then(|date| String::from_utf8(date).ok());
        let dated = |mut cargo: Command| {
            cargo.envs(date.as_deref().map(|date| ("SOURCE_DATE_EPOCH", date.trim())));
            cargo
        };
        let manifest = format!("{PACKAGE}/Cargo.toml");
        let mut deb = dated(self.cargo());
        run(deb
            .args(["deb", "--quiet", "--no-build", "--manifest-path", &manifest])
            .args(target)
            .arg(&self.dist))?;
        let mut rpm = dated(self.cargo());
        run(rpm.args(["generate-rpm", "--package", PACKAGE]).args(target).arg(&self.dist))
    }

    /// `SHA256SUMS`, for `sha256sum --check`.
    fn checksums(&self) -> Result<()> {
        let entries = fs::read_dir(&self.dist)?.collect::<Result<Vec<_>, _>>()?;
        let mut names: Vec<_> = entries
            .iter()
            .filter(|entry| entry.path().is_file())
            .map(fs::DirEntry::file_name)
            .collect();
        names.sort();
        let sums = output(Command::new("sha256sum").arg("--").args(names).current_dir(&self.dist))?;
        fs::write(self.dist.join("SHA256SUMS"), sums).context("cannot write SHA256SUMS")
    }

    fn cargo(&self) -> Command {
        self.at(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()))
    }

    fn at(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.repository);
        command
    }
}
