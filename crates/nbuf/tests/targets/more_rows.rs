//! More of the table: how a program is started, what it may, and the calls it makes.

use super::rows::{Mode, Row, row};
use super::support::Need;

/// How a command is started, and odd programs.
pub(crate) fn starts() -> Vec<Row> {
    let closed = ["0", "1", "2", "0,1", "0,2", "1,2", "0,1,2"];
    let opened = ["3", "3,4,5,6,7,8,9", "5,200"];
    vec![
        row("standard descriptors closed, in all ways", "T standard")
            .start("close={}")
            .each(closed),
        row("descriptors 3 to 9 inherited, none of ours", "T descriptors")
            .start("open={}")
            .each(opened),
        row("few descriptors: a limit of 64", "T descriptors").start("limit=files:64"),
        row("every descriptor closed", "T closes-all"),
        row("/proc/self: environ, cmdline, exe, limits", "T surroundings a b")
            .start("umask=027 nice=3"),
        row("no address space randomisation", "T surroundings").start("personality=262144"),
        row("a stack of 256 KiB", "T surroundings").start("limit=stack:262144"),
        row("arguments and variables of 1 MiB", "T lengths").start("long=10"),
        row("names for argv[0]: none, empty, -sh, 5000 bytes", "T odd-names"),
        row("a script without #!", "./script a b"),
        row("a script whose interpreter is missing", "./missing"),
        row("a directory", "./folder"),
        row("a file that may not be executed", "./plain"),
        row("no such file", "./nothing"),
        row("no such program", "nbuf-no-such-program"),
        row("memfd_create and fexecve", "T in-memory"),
        row("a program that is deleted", "T deleted"),
        row("a program that may not be read", "T unreadable"),
        row("a program on tmpfs", "T on-tmpfs"),
        row("limits of its own: files, memory, stack", "T limits").start("limit=core:0"),
        row("RLIMIT_NPROC of 0", "T few-processes"),
        row("nice, scheduling, ionice, mlockall", "T priorities"),
    ]
}

/// Users, capabilities, filters, tracing.
pub(crate) fn rights() -> Vec<Row> {
    let kept = "set-id and capabilities of files give nothing";
    let status = "a filter, no_new_privs and a tracer are to be seen";
    vec![
        row("who it is", "T identity"),
        row("setresuid and setresgid as root", "T become"),
        row("capabilities dropped, not dumpable", "T capabilities"),
        row("a set-user-ID copy of id", "./suid -u")
            .says(["", kept])
            .differs(&[Mode::RootCalls], Some("0\n"), None)
            .differs(&[Mode::UserCalls], Some("65534\n"), None),
        row("a set-group-ID copy of id", "./sgid -g")
            .says(["", kept])
            .differs(&[Mode::RootCalls], Some("0\n"), None)
            .differs(&[Mode::UserCalls], Some("65534\n"), None),
        row("a copy of grep with a capability", "./capable CapEff: /proc/self/status")
            .needs(Need::Program("setcap"))
            .says(["", kept])
            .differs(&[Mode::UserCalls], Some("CapEff:\t0000000000000000\n"), None),
        row("the same under no_new_privs", "./suid -u").start("nonew=1"),
        row("su as root", "su nobody -s /bin/sh -c -- id -u").needs(Need::Program("su")).by_root(),
        row("ping as root", "sh -c -- ping -c 1 127.0.0.1 >/dev/null; echo $?")
            .needs(Need::Program("ping"))
            .by_root(),
        row("newuidmap without arguments", "newuidmap").needs(Need::Program("newuidmap")),
        row("sudo as root", "sudo -n id -u").needs(Need::Program("sudo")).by_root(),
        row("what /proc/self/status says of it", "T status Seccomp: NoNewPrivs: TracerPid:\t0")
            .calls(status, Some("TRACED"), None),
        row("a strict filter", "T strict").calls(
            "is refused: there is a filter",
            Some("EINVAL\n"),
            Some(2),
        ),
        row("a filter that answers with an error", "T refuses"),
        row("a filter that traps", "T traps"),
        row("a filter that kills", "T kills {}").start("limit=core:0").each(["process", "thread"]),
        row("a filter that logs", "T logs"),
        row("a filter that asks another process", "T notifies"),
        row("a filter that asks a tracer, without one", "T asks-tracer").calls(
            "our tracer lets the call be made",
            Some("call ok\n"),
            None,
        ),
        row("landlock", "T sandboxed"),
        row("it traces a child, as strace does", "T traces").calls(
            "tracing is refused",
            Some("refused EPERM\nno stop, ended with 0\n"),
            None,
        ),
        row("it seizes a child", "T traces seize").calls(
            "tracing is refused",
            Some("seized EPERM\nno stop, ended with 0\n"),
            None,
        ),
        row("it asks its parent to trace it", "T traced-by-parent").start("child=1").calls(
            "tracing is refused",
            Some("traced EPERM\n"),
            None,
        ),
        row("it reads a child's memory", "T memory-of-child"),
    ]
}

/// Calls and files.
pub(crate) fn calls() -> Vec<Row> {
    vec![
        row("io_uring", "T ring"),
        row("io_submit", "T asynchronous"),
        row("epoll, eventfd, signalfd, timerfd, inotify", "T events"),
        row("fanotify that asks for leave", "T watches-files"),
        row("userfaultfd", "T own-faults"),
        row("pidfd", "T by-descriptor"),
        row("usage, keys, membarrier, an odd name", "T counters"),
        row("sendfile, splice, tee, vmsplice, copy_file_range", "T moves"),
        row("mmap, mremap, madvise", "T maps"),
        row("flock, POSIX and OFD locks", "T locks"),
        row("O_PATH, rename, calls that fail", "T paths"),
        row("O_DIRECT, fallocate, SEEK_DATA", "T direct"),
        row("SCM_RIGHTS and SCM_CREDENTIALS", "T passes"),
        row("a 32-bit program", "./small")
            .calls("the same; its calls are not seen", None, None)
            .needs(Need::Program("cc")),
    ]
}
