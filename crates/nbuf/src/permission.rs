//! Not permitted to capture: what exactly would permit it, here.

use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nbuf::experiment::capture::refusal;
use nbuf::experiment::notice::causes;
use nbuf::experiment::record::CaptureError as Error;
use nbuf::experiment::start::is_root;

use crate::shell::quoted;

/// The directories where `sudo` looks for programs by default.
const SUDO_PATH: [&str; 6] =
    ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
/// What recording needs: events, names of opened files, the kernel's descriptions of its events
/// and inodes by number, and rings larger than the locked memory of an ordinary user.
const CAPABILITIES: [(&str, u32); 4] =
    [("perfmon", 38), ("sys_admin", 21), ("dac_read_search", 2), ("ipc_lock", 14)];

/// An error that is about permission becomes the message with the remedy; any other stays.
pub(crate) fn explain(error: Error) -> anyhow::Error {
    match refusal(&error) {
        Some(cause) => anyhow::Error::msg(Circumstances::look().remedy(cause)),
        None => error.into(),
    }
}

/// The same on one line: the first remedy of several, for those who can do without.
pub(crate) fn brief(error: &Error) -> String {
    refusal(error).map_or_else(|| causes(error), |cause| Circumstances::look().brief(cause))
}

/// What decides which remedy is the right one.
#[derive(Clone, Debug)]
struct Circumstances {
    is_root: bool,
    /// Those we have.
    effective: u64,
    /// Those that root can have here: what tells a container from an ordinary user.
    bounding: u64,
    /// How a container shows itself, if it does.
    container: Option<&'static str>,
    /// Its name, which is its host name unless a user chose another.
    host: String,
    /// Value of the sysctl, if the kernel's descriptions of events can be read without us.
    paranoid: Option<i64>,
    program: PathBuf,
    arguments: Vec<OsString>,
    directory: PathBuf,
}

impl Circumstances {
    fn look() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let status = read("/proc/self/status");
        let set = |name| {
            let hex = status.lines().find_map(|line| line.strip_prefix(name));
            hex.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0)
        };
        let containers = ["/.dockerenv", "/run/.containerenv"];
        let described = "/sys/kernel/tracing/events/filemap/mm_filemap_get_pages/format";
        let paranoid = read("/proc/sys/kernel/perf_event_paranoid").trim().parse().ok();
        Self {
            is_root: is_root(),
            effective: set("CapEff:"),
            bounding: set("CapBnd:"),
            container: containers.into_iter().find(|path| Path::new(path).exists()),
            host: read("/proc/sys/kernel/hostname").trim().to_owned(),
            paranoid: paranoid.filter(|_| fs::read(described).is_ok()),
            program: std::env::current_exe().unwrap_or_else(|_| "nbuf".into()),
            arguments: std::env::args_os().collect(),
            directory: std::env::current_dir().unwrap_or_else(|_| "/".into()),
        }
    }

    fn remedy(&self, cause: &io::Error) -> String {
        let mut text = format!("not permitted to read the kernel's tracepoints ({cause})");
        if self.is_root || !lacking(self.bounding).is_empty() {
            self.contained(&mut text);
        } else {
            self.ordinary(&mut text);
        }
        text
    }

    fn brief(&self, cause: &io::Error) -> String {
        let way = if self.is_root || !lacking(self.bounding).is_empty() {
            "record from outside this container, or start it with --privileged".to_owned()
        } else {
            format!("run `{}` to use them", self.with_sudo())
        };
        format!("no permission to use the kernel's tracepoints ({cause}); {way}")
    }

    /// For a user who may become root here.
    fn ordinary(&self, text: &mut String) {
        let missing = lacking(self.effective);
        if let Some(paranoid) = self.paranoid.filter(|&p| p > -1 && missing.contains(&"perfmon")) {
            let _ = write!(
                text,
                "; the tracepoints themselves are readable, but kernel.perf_event_paranoid is \
                 {paranoid}. Lift it:\n    sudo sysctl kernel.perf_event_paranoid=-1\n\
                 or run it as root:\n    {}",
                self.with_sudo()
            );
            return;
        }
        let names: Vec<String> =
            CAPABILITIES.iter().map(|(name, _)| format!("cap_{name}")).collect();
        let _ = write!(
            text,
            "; run it as root, the command runs as yourself:\n    {}\n\
             or let every user who may execute this nbuf record with it:\n    sudo setcap {}+ep {}\n\
             (/sys/kernel/tracing is readable by root only, which cap_dac_read_search covers)",
            self.with_sudo(),
            names.join(","),
            quoted(self.program.as_os_str()),
        );
    }

    /// For a container, where being root is not enough.
    fn contained(&self, text: &mut String) {
        let missing = lacking(if self.is_root { self.effective } else { self.bounding });
        let mut why: Vec<String> = Vec::new();
        why.extend(self.container.map(|sign| format!("this is a container ({sign})")));
        if !missing.is_empty() {
            let names: Vec<_> =
                missing.iter().map(|n| format!("CAP_{}", n.to_uppercase())).collect();
            why.push(format!("root here is without {}", names.join(", ")));
        }
        if why.is_empty() {
            why.push(
                "root has its capabilities here, so a filter of system calls, a security module or a user \
                 namespace refuses"
                    .to_owned(),
            );
        }
        let mut add: Vec<String> =
            CAPABILITIES.iter().map(|(n, _)| format!("--cap-add {}", n.to_uppercase())).collect();
        if missing.is_empty() {
            // What it has is not what it lacks.
            add = vec!["--security-opt seccomp=unconfined".to_owned()];
        }
        let command = self.command_line();
        let _ = write!(
            text,
            "; {}. Start the container with\n    docker run {} ...\nor with --privileged, and be \
             root in it; or record from outside it, on the host, as root (without --as-root the command \
             would run as yourself):\n    {} -- nsenter --target \
             \"$(docker inspect --format '{{{{.State.Pid}}}}' {})\" --all --wdns={} {}",
            why.join("; "),
            add.join(" "),
            self.ours(),
            quoted(self.host.as_ref()),
            quoted(self.directory.as_os_str()),
            command,
        );
    }

    /// The command line again, under `sudo`, by a path that `sudo` will find.
    fn with_sudo(&self) -> String {
        let found = self
            .program
            .parent()
            .is_some_and(|parent| SUDO_PATH.iter().any(|directory| Path::new(directory) == parent));
        let typed = self.arguments.first().cloned().unwrap_or_default();
        let is_path = typed.as_encoded_bytes().contains(&b'/');
        let program = if found || is_path { typed } else { self.program.clone().into() };
        let words = std::iter::once(&program).chain(self.arguments.iter().skip(1));
        let words: Vec<String> = words.map(|word| quoted(word)).collect();
        format!("sudo {}", words.join(" "))
    }

    /// Our part of the command line, without a path that the host does not have.
    fn ours(&self) -> String {
        let ours = self.arguments.iter().skip(1).take_while(|word| *word != "--");
        let words: Vec<String> = ours.map(|word| quoted(word)).collect();
        format!("sudo nbuf --as-root {}", words.join(" "))
    }

    /// The command's part.
    fn command_line(&self) -> String {
        let command = self.arguments.iter().skip_while(|word| *word != "--").skip(1);
        command.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

/// What is missing in a set of capabilities.
fn lacking(set: u64) -> Vec<&'static str> {
    let has = |bit: u32| set >> bit & 1 == 1;
    CAPABILITIES.into_iter().filter(|&(_, bit)| !has(bit)).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    const ALL: u64 = 1 << 38 | 1 << 21 | 1 << 2 | 1 << 14;

    fn ordinary() -> Circumstances {
        let words = ["nbuf", "record", "-o", "a b.parquet", "--", "sh", "-c", "echo 'x'"];
        Circumstances {
            is_root: false,
            effective: 0,
            bounding: ALL,
            container: None,
            host: "0123456789ab".into(),
            paranoid: None,
            program: "/opt/nbuf".into(),
            arguments: words.map(OsString::from).to_vec(),
            directory: "/srv".into(),
        }
    }

    fn check(circumstances: &Circumstances, want: &Expect) {
        let cause = io::Error::from_raw_os_error(13);
        want.assert_eq(&(circumstances.remedy(&cause) + "\n"));
    }

    #[test]
    fn an_ordinary_user_is_told_of_sudo_and_capabilities() {
        check(
            &ordinary(),
            &expect![[r#"
            not permitted to read the kernel's tracepoints (Permission denied (os error 13)); run it as root, the command runs as yourself:
                sudo /opt/nbuf record -o 'a b.parquet' -- sh -c 'echo '\''x'\'''
            or let every user who may execute this nbuf record with it:
                sudo setcap cap_perfmon,cap_sys_admin,cap_dac_read_search,cap_ipc_lock+ep /opt/nbuf
            (/sys/kernel/tracing is readable by root only, which cap_dac_read_search covers)
        "#]],
        );
    }

    #[test]
    fn the_sysctl_is_named_only_where_it_is_the_obstacle() {
        check(
            &Circumstances { paranoid: Some(2), ..ordinary() },
            &expect![[r#"
            not permitted to read the kernel's tracepoints (Permission denied (os error 13)); the tracepoints themselves are readable, but kernel.perf_event_paranoid is 2. Lift it:
                sudo sysctl kernel.perf_event_paranoid=-1
            or run it as root:
                sudo /opt/nbuf record -o 'a b.parquet' -- sh -c 'echo '\''x'\'''
        "#]],
        );
        let text = Circumstances { paranoid: Some(-1), ..ordinary() };
        assert!(!text.remedy(&io::ErrorKind::Other.into()).contains("sysctl"));
    }

    #[test]
    fn in_a_container_the_remedy_lies_outside() {
        let root = Circumstances { is_root: true, effective: 1 << 2, ..ordinary() };
        check(
            &root,
            &expect![[r#"
                not permitted to read the kernel's tracepoints (Permission denied (os error 13)); root here is without CAP_PERFMON, CAP_SYS_ADMIN, CAP_IPC_LOCK. Start the container with
                    docker run --cap-add PERFMON --cap-add SYS_ADMIN --cap-add DAC_READ_SEARCH --cap-add IPC_LOCK ...
                or with --privileged, and be root in it; or record from outside it, on the host, as root (without --as-root the command would run as yourself):
                    sudo nbuf --as-root record -o 'a b.parquet' -- nsenter --target "$(docker inspect --format '{{.State.Pid}}' 0123456789ab)" --all --wdns=/srv sh -c 'echo '\''x'\'''
            "#]],
        );
        let docker =
            Circumstances { container: Some("/.dockerenv"), bounding: 1 << 2, ..ordinary() };
        check(
            &docker,
            &expect![[r#"
                not permitted to read the kernel's tracepoints (Permission denied (os error 13)); this is a container (/.dockerenv); root here is without CAP_PERFMON, CAP_SYS_ADMIN, CAP_IPC_LOCK. Start the container with
                    docker run --cap-add PERFMON --cap-add SYS_ADMIN --cap-add DAC_READ_SEARCH --cap-add IPC_LOCK ...
                or with --privileged, and be root in it; or record from outside it, on the host, as root (without --as-root the command would run as yourself):
                    sudo nbuf --as-root record -o 'a b.parquet' -- nsenter --target "$(docker inspect --format '{{.State.Pid}}' 0123456789ab)" --all --wdns=/srv sh -c 'echo '\''x'\'''
            "#]],
        );
        check(
            &Circumstances { is_root: true, effective: ALL, ..ordinary() },
            &expect![[r#"
                not permitted to read the kernel's tracepoints (Permission denied (os error 13)); root has its capabilities here, so a filter of system calls, a security module or a user namespace refuses. Start the container with
                    docker run --security-opt seccomp=unconfined ...
                or with --privileged, and be root in it; or record from outside it, on the host, as root (without --as-root the command would run as yourself):
                    sudo nbuf --as-root record -o 'a b.parquet' -- nsenter --target "$(docker inspect --format '{{.State.Pid}}' 0123456789ab)" --all --wdns=/srv sh -c 'echo '\''x'\'''
            "#]],
        );
    }
}
