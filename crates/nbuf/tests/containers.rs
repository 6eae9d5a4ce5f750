//! Commands that run a container: nbuf sizes the container, as typed, and leaves nothing.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use support::{NBUF, Need, Place, requires, skip, until};

const IMAGE: &str = "localhost/nbuf-containers-test:1";
const FILE_MIB: u64 = 24;

/// An image of one program and one file, in a store of this test's own.
struct Store {
    place: Place,
}

impl Store {
    /// Nothing where no container can be run here; says why.
    fn make() -> Option<Self> {
        let store = Self { place: Place::new() };
        let at = |name: &str| store.place.path(name);
        fs::create_dir(at("image")).unwrap();
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reads.c");
        let made = Command::new("gcc")
            .args(["-static", "-O1", "-o"])
            .arg(at("image/reads"))
            .arg(source)
            .status();
        assert!(made.unwrap().success());
        store.place.file("image/file", usize::try_from(FILE_MIB << 20).unwrap());
        let tar = Command::new("tar")
            .arg("-C")
            .arg(at("image"))
            .args(["-cf"])
            .arg(at("image.tar"))
            .arg(".")
            .status();
        assert!(tar.unwrap().success());
        let imported =
            store.engine().arg("import").arg(at("image.tar")).arg(IMAGE).output().unwrap();
        if !imported.status.success() {
            skip(&format!("podman import: {}", String::from_utf8_lossy(&imported.stderr)));
            return None;
        }
        let tried = store
            .engine()
            .args(Self::run_options())
            .args([IMAGE, "/reads", "/file", "1", "0"])
            .output();
        let tried = tried.unwrap();
        if !tried.status.success() {
            skip(&format!("podman run: {}", String::from_utf8_lossy(&tried.stderr)));
            return None;
        }
        // What is not written yet cannot be dropped from the cache before a run.
        let synced = Command::new("sync").arg("-f").arg(at("root")).status();
        assert!(synced.unwrap().success());
        Some(store)
    }

    fn words(&self) -> Vec<String> {
        let path = |name: &str| self.place.path(name).to_str().unwrap().to_owned();
        let options = ["--root", &path("root"), "--runroot", &path("runroot"), "--runtime", "runc"];
        std::iter::once("podman").chain(options).map(str::to_owned).collect()
    }

    fn engine(&self) -> Command {
        let words = self.words();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command
    }

    /// Limits of its own, because podman's are more than root without `CAP_SYS_RESOURCE` may set.
    fn run_options() -> [&'static str; 6] {
        [
            "run",
            "--rm",
            "--network=none",
            "--ulimit=nofile=512:512",
            "--ulimit=nproc=512:512",
            "--log-driver=none",
        ]
    }

    /// The words of a command that keeps so much and reads its file so often.
    fn command(&self, times: u32, mib: u32) -> Vec<String> {
        let mut words = self.words();
        words.extend(Self::run_options().map(str::to_owned));
        words.extend(
            [IMAGE, "/reads", "/file", &times.to_string(), &mib.to_string()].map(str::to_owned),
        );
        words
    }

    fn containers(&self) -> String {
        let listed = self.engine().args(["ps", "-a", "-q"]).output().unwrap();
        String::from_utf8(listed.stdout).unwrap()
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.engine().args(["rm", "-f", "-a"]).output();
        let _ = self.engine().args(["rmi", "-f", "-a"]).output();
        // The engine mounts its store onto itself.
        let _ = Command::new("umount")
            .arg(self.place.path("root/overlay"))
            .stderr(Stdio::null())
            .status();
    }
}

/// Groups of ours and of engines on this machine.
fn groups() -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![PathBuf::from("/sys/fs/cgroup")]);
    while let Some(group) = open.pop() {
        let below = fs::read_dir(&group).into_iter().flatten().flatten();
        open.extend(
            below.filter(|it| it.file_type().is_ok_and(|kind| kind.is_dir())).map(|it| it.path()),
        );
        let path = group.to_string_lossy();
        if ["nbuf-", "libpod", "conmon"].iter().any(|name| path.contains(name)) {
            found.push(group);
        }
    }
    found.sort();
    found
}

#[test]
fn a_container_is_sized_as_typed_and_nothing_is_left() {
    let needs =
        [Need::Tracepoints, Need::Program("podman"), Need::Program("runc"), Need::Program("gcc")];
    let Some(_lock) = requires(&needs) else { return };
    // The engine's own groups are there from here on.
    let Some(store) = Store::make() else { return };
    let before = groups();

    let words = store.command(3, 32);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let sized = store.place.size(&["--json", "--runs", "8"], &words);
    let document = sized.json();
    if document["recommend"]["limit_bytes"].is_null() && sized.stderr.contains("only systemd") {
        return skip("groups for containers are made in cgroup v1 only");
    }
    // Whether the number holds, or the runs are alike, is another question: what the engine's runtime reads at the
    // start is seen in some of them.
    assert!([0, 1, 3, 4].contains(&sized.status), "{sized:?}");
    let limit = document["recommend"]["limit_bytes"].as_u64().unwrap() >> 20;
    // What it keeps and its file; and as the spread of other memory what its runtime needs at the start, if a look
    // finds it in one run and not in another.
    assert!((32 + FILE_MIB..160).contains(&limit), "{limit} MiB\n{}", sized.stderr);
    let files = document["files"].to_string();
    assert!(files.contains("/file") && !files.contains("podman"), "{files}");
    assert_eq!(store.containers(), "");
    assert_eq!(groups(), before);

    goes_by_its_number(&store);
    leaves_nothing_when_killed(&store, &before);
}

fn goes_by_its_number(store: &Store) {
    // One that runs already goes by its number; without one that runs the error says what to do.
    let at = store.place.path("id").to_str().unwrap().to_owned();
    let mut started = store.engine();
    started.args(Store::run_options()).args([
        "-d",
        "--cidfile",
        &at,
        IMAGE,
        "/reads",
        "/file",
        "100000",
        "8",
    ]);
    assert!(started.stdout(Stdio::null()).status().unwrap().success());
    let number = fs::read_to_string(&at).unwrap();
    let live = |number: &str| {
        let options = ["size", "--json", "--for", "2s", "--container", number];
        store.place.nbuf(options).output().unwrap()
    };
    let watched = live(&number[..12]);
    let text = String::from_utf8_lossy(&watched.stdout).into_owned();
    assert!(watched.status.success() && text.contains("nbuf.live/1"), "{watched:?}");
    assert!(text.contains("\"/reads\"") && !text.contains("conmon"), "{text}");
    assert!(store.engine().args(["rm", "-f", "-a"]).output().unwrap().status.success());
    let refused = live(&number[..12]);
    assert_eq!(refused.status.code(), Some(125));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("no container `") && said.lines().count() == 1, "{said}");
}

fn leaves_nothing_when_killed(store: &Store, before: &[PathBuf]) {
    let mut nbuf = Command::new(NBUF);
    nbuf.args(["size", "-q", "--"]).args(store.command(100_000, 8)).stdin(Stdio::null());
    let mut running = nbuf.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let is_container = |group: &PathBuf| {
        let path = group.to_string_lossy();
        path.contains("nbuf-") && path.contains("libpod-")
    };
    until("a container in a group of ours", || groups().iter().any(is_container));
    running.kill().unwrap();
    running.wait().unwrap();
    until("the groups are gone", || groups() == before);
}
