//! `cargo xtask dist check`: installs the packages in `target/dist`, tries them, and removes them again.
//!
//! It installs into a copy of this machine's root directory that takes every change in memory
//! (`packaging/in-copy-of-root`). So dpkg finds the real libraries of the machine, and nothing is left.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::COMPLETIONS;
use crate::process::output;

/// A kind of package, and the commands that handle it.
struct Kind {
    /// The end of its file's name.
    suffix: &'static str,
    install: &'static [&'static str],
    /// Prints what it needs; the file's name follows.
    requires: &'static [&'static str],
    /// What that must name.
    needs: &'static [&'static str],
    list: &'static [&'static str],
    remove: &'static [&'static str],
    /// Where it has the completions, in the order of `COMPLETIONS`.
    completions: [&'static str; 3],
    /// The files that other kinds of packages have elsewhere.
    files: &'static [&'static str],
}

const KINDS: [Kind; 2] = [
    Kind {
        suffix: ".deb",
        // It refuses a package whose dependencies are not installed.
        install: &["dpkg", "--install"],
        requires: &["sh", "-c", "dpkg-deb --field \"$0\" Depends"],
        needs: &["libc6 ", "libgcc-s1"],
        list: &["dpkg", "--listfiles", "nbuf"],
        remove: &["dpkg", "--purge", "nbuf"],
        completions: [
            "/usr/share/bash-completion/completions/nbuf",
            "/usr/share/zsh/vendor-completions/_nbuf",
            "/usr/share/fish/vendor_completions.d/nbuf.fish",
        ],
        files: &[
            "/usr/share/doc/nbuf/LICENSE-APACHE",
            "/usr/share/doc/nbuf/LICENSE-MIT",
            "/usr/share/doc/nbuf/copyright",
        ],
    },
    Kind {
        suffix: ".rpm",
        // The machine's own packages are not in the database of rpm, so `requires` is compared below.
        install: &["rpm", "--install", "--nodeps"],
        requires: &["rpm", "--query", "--requires", "--package"],
        needs: &["libc.so.6", "libgcc_s.so.1"],
        list: &["rpm", "--query", "--list", "nbuf"],
        remove: &["rpm", "--erase", "nbuf"],
        completions: [
            "/usr/share/bash-completion/completions/nbuf",
            "/usr/share/zsh/site-functions/_nbuf",
            "/usr/share/fish/vendor_completions.d/nbuf.fish",
        ],
        files: &["/usr/share/licenses/nbuf/LICENSE-APACHE", "/usr/share/licenses/nbuf/LICENSE-MIT"],
    },
];

/// The files of every package, besides its completions and manual pages.
const FILES: [&str; 5] = [
    "/usr/bin/nbuf",
    "/usr/lib/systemd/system/nbuf-serve@.service",
    "/usr/lib/systemd/system/nbuf-serve@.socket",
    "/usr/share/doc/nbuf/CHANGELOG.md",
    "/usr/share/doc/nbuf/README.md",
];
/// Where manual pages are.
const MAN: &str = "/usr/share/man/man1/";
/// Where the program writes its manual pages, to compare them.
const PAGES: &str = "/var/tmp/pages-of-the-program";
/// Where the packages are in the copy.
const PACKAGES: &str = "packages-to-check";
/// Kept in memory here.
const MEMORY: &str = "/dev/shm";

/// Checks every package in `target/dist`; a line for each.
pub fn check(repository: &Path) -> Result<Vec<String>> {
    let dist = repository.join("target/dist");
    let mut lines = Vec::new();
    for kind in &KINDS {
        let package = find(&dist, kind.suffix)?;
        let copy = Copy::new(repository)?;
        let line = copy.check(kind, &package);
        lines.push(line.with_context(|| format!("{} fails", package.display()))?);
    }
    Ok(lines)
}

/// One line about the first thing that the check needs and the machine does not have.
pub fn missing_to_check() -> Option<String> {
    let is_root =
        fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    if !is_root {
        return Some("packages can be installed by root alone; run it as root".to_owned());
    }
    let programs = [("dpkg", "dpkg"), ("rpm", "rpm"), ("unshare", "util-linux"), ("man", "man-db")];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has = |name: &str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    let (program, package) = programs.into_iter().find(|(program, _)| !has(program))?;
    Some(format!("no program `{program}`; install it: `apt-get install {package}`"))
}

/// The one package of a kind.
fn find(dist: &Path, suffix: &str) -> Result<PathBuf> {
    let entries = fs::read_dir(dist).context("there is no target/dist; run `cargo xtask dist`")?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(suffix) {
            found.push(path);
        }
    }
    match <[PathBuf; 1]>::try_from(found) {
        Ok([package]) => Ok(package),
        Err(found) => bail!(
            "target/dist has {} packages {suffix} and must have one; run `cargo xtask dist`",
            found.len()
        ),
    }
}

/// The changes to a copy of the root directory. They go when this is dropped.
struct Copy {
    changes: PathBuf,
    script: PathBuf,
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.changes);
    }
}

impl Copy {
    fn new(repository: &Path) -> Result<Self> {
        let changes = Path::new(MEMORY).join(format!("dist-check-{}", std::process::id()));
        fs::create_dir(&changes).with_context(|| format!("cannot make {}", changes.display()))?;
        Ok(Self { changes, script: repository.join("packaging/in-copy-of-root") })
    }

    /// Installs a package, tries it and removes it; a line about it.
    fn check(&self, kind: &Kind, package: &Path) -> Result<String> {
        let name = package.file_name().context("a package has a name")?;
        fs::create_dir_all(self.at(PACKAGES)).context("cannot make a folder for packages")?;
        fs::copy(package, self.at(PACKAGES).join(name)).context("cannot copy the package")?;
        let name = format!("/{PACKAGES}/{}", name.to_string_lossy());
        let requires = self.inside(&[kind.requires, &[&name]].concat())?;
        for needed in kind.needs {
            ensure!(requires.contains(needed), "its dependencies do not have {needed}: {requires}");
        }
        if kind.suffix == ".rpm" {
            self.has_libraries(&requires)?;
        }
        self.inside(&[kind.install, &[&name]].concat())?;
        let listed = self.files(&self.inside(kind.list)?);
        let version = self.tries(kind, &listed)?;
        self.inside(kind.remove)?;
        let left: Vec<_> = listed.iter().filter(|path| self.has(path)).collect();
        ensure!(left.is_empty(), "files stay after it was removed: {left:?}");
        Ok(format!("{}: {version}, {} files, gone when removed", package.display(), listed.len()))
    }

    /// Whether the copy has a file of this name now. What it removed of the machine's files is a character device.
    fn has(&self, path: &str) -> bool {
        use std::os::unix::fs::FileTypeExt as _;
        fs::symlink_metadata(self.at(path)).is_ok_and(|it| !it.file_type().is_char_device())
    }

    /// Runs what was installed, and compares it with itself; its version.
    fn tries(&self, kind: &Kind, listed: &BTreeSet<String>) -> Result<String> {
        let version = self.inside(&["nbuf", "--version"])?.trim().to_owned();
        ensure!(version.starts_with("nbuf "), "its version is `{version}`");
        // It ends with 1 where the machine does not permit everything.
        let doctor = self.inside(&["sh", "-c", "nbuf doctor || [ $? -eq 1 ]"])?;
        ensure!(!doctor.trim().is_empty(), "`nbuf doctor` prints nothing");
        self.inside(&["mkdir", PAGES])?;
        self.inside(&["nbuf", "-q", "man", PAGES])?;
        let pages = fs::read_dir(self.at(PAGES)).context("`nbuf man` wrote no page")?;
        let mut want: BTreeSet<String> =
            FILES.iter().chain(kind.files).map(ToString::to_string).collect();
        for page in pages {
            want.insert(format!("{MAN}{}", page?.file_name().to_string_lossy()));
        }
        want.extend(kind.completions.map(str::to_owned));
        fs::remove_dir_all(self.at(PAGES))?;
        let differing =
            differing(&want, &listed.iter().map(|path| plain(path).to_owned()).collect());
        ensure!(differing.is_empty(), "its files differ:\n{}", differing.join("\n"));
        for ((shell, _), path) in COMPLETIONS.iter().zip(kind.completions) {
            let printed = self.inside(&["nbuf", "completions", shell])?;
            ensure!(
                fs::read_to_string(self.at(path))? == printed,
                "{path} is not what `nbuf completions {shell}` prints"
            );
        }
        let page = self.inside(&["man", "nbuf"])?;
        ensure!(page.contains("nbuf") && page.contains("NAME"), "`man nbuf` shows no page");
        Ok(version)
    }

    /// Fails if the machine has no library of a name that the package needs.
    fn has_libraries(&self, requires: &str) -> Result<()> {
        let known = self.inside(&["ldconfig", "-p"])?;
        for library in libraries(requires) {
            ensure!(
                known.lines().any(|line| line.split_whitespace().next() == Some(library)),
                "it needs {library}, which this machine does not have"
            );
        }
        Ok(())
    }

    /// Those of the listed paths that are files and not folders.
    fn files(&self, list: &str) -> BTreeSet<String> {
        let paths = list.lines().filter(|path| self.at(path).is_file());
        paths.map(str::to_owned).collect()
    }

    /// A path of the copy that was changed.
    fn at(&self, path: &str) -> PathBuf {
        self.changes.join("upper").join(path.trim_start_matches('/'))
    }

    /// Runs a command in the copy; its output.
    fn inside(&self, command: &[&str]) -> Result<String> {
        let printed = output(Command::new(&self.script).arg(&self.changes).args(command))?;
        String::from_utf8(printed).with_context(|| format!("{command:?} prints no text"))
    }
}

/// A path without the end that a packed file has.
fn plain(path: &str) -> &str {
    path.strip_suffix(".gz").unwrap_or(path)
}

/// What is missing, and what is too much.
fn differing(want: &BTreeSet<String>, have: &BTreeSet<String>) -> Vec<String> {
    let missing = want.difference(have).map(|path| format!("missing: {path}"));
    let unexpected = have.difference(want).map(|path| format!("not expected: {path}"));
    missing.chain(unexpected).collect()
}

/// The names of libraries among what an .rpm needs, as in `libc.so.6(GLIBC_2.34)(64bit)`.
fn libraries(requires: &str) -> BTreeSet<&str> {
    let names = requires.lines().filter_map(|line| line.split(['(', ' ']).next());
    names.filter(|name| name.contains(".so")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_named_once() {
        let requires = "libc.so.6(GLIBC_2.34)(64bit)\nlibc.so.6()(64bit)\nlibm.so.6()(64bit)\n\
                        rpmlib(CompressedFileNames) <= 3.0.4-1\n/bin/sh\n";
        assert_eq!(libraries(requires), BTreeSet::from(["libc.so.6", "libm.so.6"]));
    }

    #[test]
    fn files_of_one_list_alone_differ() {
        let set = |paths: &[&str]| paths.iter().map(ToString::to_string).collect();
        let lines = differing(&set(&["/a", "/b"]), &set(&["/b", "/c"]));
        assert_eq!(lines, ["missing: /a", "not expected: /c"]);
        assert_eq!(plain("/usr/share/man/man1/nbuf.1.gz"), "/usr/share/man/man1/nbuf.1");
    }

    #[test]
    fn one_package_of_each_kind_is_checked() {
        let folder = std::env::temp_dir().join(format!("xtask-check-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let said = || find(&folder, ".deb").map_err(|error| error.to_string());
        assert!(said().is_err_and(|error| error.contains("has 0 packages .deb")));
        fs::write(folder.join("nbuf_1_amd64.deb"), "").expect("a file");
        assert_eq!(said(), Ok(folder.join("nbuf_1_amd64.deb")));
        fs::write(folder.join("nbuf_2_amd64.deb"), "").expect("a file");
        assert!(said().is_err_and(|error| error.contains("has 2 packages .deb")));
        fs::remove_dir_all(&folder).expect("it goes");
    }
}
