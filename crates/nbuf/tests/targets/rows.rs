//! The table of awkward targets: what is run, and where a recording is to be seen by it.

use super::support::Need;

/// Who runs it, and how it is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    RootPerf,
    RootCalls,
    UserPerf,
    UserCalls,
}

impl Mode {
    pub(crate) const ALL: [Self; 4] =
        [Self::RootPerf, Self::RootCalls, Self::UserPerf, Self::UserCalls];

    pub(crate) fn is_user(self) -> bool {
        matches!(self, Self::UserPerf | Self::UserCalls)
    }

    pub(crate) fn capture(self) -> &'static str {
        if matches!(self, Self::RootPerf | Self::UserPerf) { "perf" } else { "calls" }
    }
}

/// A difference that cannot be helped: what is seen then, to the letter.
#[derive(Clone, Debug)]
pub(crate) struct Differs {
    pub(crate) modes: Vec<Mode>,
    /// Standard output; the same as ever without.
    pub(crate) output: Option<&'static str>,
    pub(crate) status: Option<i32>,
}

/// A target.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// As in the table of docs/support.md.
    pub(crate) name: &'static str,
    /// Words for the launcher.
    pub(crate) start: String,
    /// The command: `T` is the program of targets. A shell's script is behind ` -- `.
    pub(crate) run: String,
    /// Each takes the place of `{}`.
    pub(crate) variants: Vec<String>,
    pub(crate) root_only: bool,
    pub(crate) needs: Vec<Need>,
    /// Whether the log of a recording that could not end may stay.
    pub(crate) keeps_log: bool,
    pub(crate) differs: Vec<Differs>,
    /// What the table says of recordings by tracepoints and by system calls.
    pub(crate) words: [&'static str; 2],
}

pub(crate) const SAME: &str = "the same";

pub(crate) fn row(name: &'static str, run: &str) -> Row {
    Row {
        name,
        start: String::new(),
        run: run.into(),
        variants: vec![String::new()],
        root_only: false,
        needs: Vec::new(),
        keeps_log: false,
        differs: Vec::new(),
        words: [SAME; 2],
    }
}

impl Row {
    pub(crate) fn start(mut self, words: &str) -> Self {
        self.start = words.into();
        self
    }

    pub(crate) fn each<T: ToString>(mut self, variants: impl IntoIterator<Item = T>) -> Self {
        self.variants = variants.into_iter().map(|variant| variant.to_string()).collect();
        self
    }

    pub(crate) fn by_root(mut self) -> Self {
        self.root_only = true;
        self
    }

    pub(crate) fn keeps_log(mut self) -> Self {
        self.keeps_log = true;
        self
    }

    pub(crate) fn needs(mut self, need: Need) -> Self {
        self.needs.push(need);
        self
    }

    /// Differs by system calls.
    pub(crate) fn calls(
        self,
        words: &'static str,
        output: Option<&'static str>,
        status: Option<i32>,
    ) -> Self {
        self.says(["", words]).differs(&[Mode::RootCalls, Mode::UserCalls], output, status)
    }

    pub(crate) fn says(mut self, words: [&'static str; 2]) -> Self {
        for (said, word) in self.words.iter_mut().zip(words) {
            if !word.is_empty() {
                *said = word;
            }
        }
        self
    }

    pub(crate) fn differs(
        mut self,
        modes: &[Mode],
        output: Option<&'static str>,
        status: Option<i32>,
    ) -> Self {
        self.differs.push(Differs { modes: modes.into(), output, status });
        self
    }
}

/// Processes, threads and namespaces.
pub(crate) fn processes() -> Vec<Row> {
    let gone = "our supervisor: all is ended, and the log stays; status 125";
    vec![
        row("a daemon: two forks and a session", "T twice"),
        row("the same with every descriptor closed", "T twice closed"),
        row("daemon(3)", "T by-library"),
        row("a child in a group and a session of its own", "T session"),
        row("a pipeline", "sh -c -- seq 1 1000 | sort -n | tail -1 | cat"),
        row("background jobs", "sh -c -- (sleep 0.1; echo late) & echo early; exit 4"),
        row("yes \\| head", "sh -c -- (yes; echo $? >seen) | head -1"),
        row("unshare: user", "unshare -Ur id -u"),
        row("unshare: mount", "unshare -Urm sh -c -- mount -t tmpfs x /mnt && ls -A /mnt | wc -l"),
        row("unshare: pid", "unshare -Urp --fork sh -c -- echo $$; sleep 0.01 & exit 3"),
        row(
            "unshare: pid, with a /proc of its own",
            "unshare -Urmp --fork --mount-proc sh -c -- ls -d /proc/[0-9]*",
        ),
        row(
            "unshare: net, ipc, uts",
            "unshare -Urniu sh -c -- hostname awkward; hostname; wc -l </proc/net/dev",
        ),
        row(
            "unshare: time",
            "unshare -UrT --boottime 100000 --fork sh -c -- cut -c 1 /proc/self/timens_offsets",
        ),
        row("the first process of a pid namespace", "T init-of-pids"),
        row("chroot", "T new-root"),
        row("300 vforks in turn", "T vforks 300"),
        row("200 forks at once, half of which execute", "T storm 200"),
        row("200 orphans at once", "T orphans 200"),
        row("50 times posix_spawn", "T spawns"),
        row("a chain of 100 executions", "T again 100"),
        row("40 processes deep", "T nested 40"),
        row("500 threads", "T threads 500"),
        row("a thread that executes beside others", "T thread-executes"),
        row("the same after the first thread has ended", "T thread-executes leader-ended"),
        row("the first thread ends first", "T leader-ends"),
        row("zombies", "T zombies"),
        row("its own subreaper", "T subreaper"),
        row("its own PR_SET_PDEATHSIG", "T parent-death"),
        row("its parent's name", "T parent-name")
            .start("child=1")
            .says(["our supervisor's", "our supervisor's"])
            .differs(&Mode::ALL, Some("nbuf\n"), None),
        row("clone with CLONE_UNTRACED", "T untraced").calls(
            "calls that stop fail with ENOSYS there",
            Some("read: 38\n"),
            None,
        ),
        row("it signals its own group: SIGINT, SIGTERM", "T kills-group {}").each([2, 15]),
        row("it kills its own group", "T kills-group 9")
            .keeps_log()
            .says([
                "nbuf is ended too and the log stays; status 125 by sudo",
                "the same, and the log stays",
            ])
            .differs(&[Mode::UserPerf], None, Some(125)),
        row("it kills its parent", "T kills-parent 9")
            .start("child=1")
            .keeps_log()
            .says([gone, gone])
            .differs(&[Mode::RootPerf, Mode::RootCalls, Mode::UserCalls], None, Some(125))
            .differs(&[Mode::UserPerf], Some("now\nEPERM\n"), Some(5)),
        row("it sends SIGTERM to its parent", "T kills-parent 15")
            .start("child=1")
            .says(["our supervisor ignores it", "our supervisor ignores it"])
            .differs(&[Mode::RootPerf, Mode::RootCalls, Mode::UserCalls], None, Some(5))
            .differs(&[Mode::UserPerf], Some("now\nEPERM\n"), Some(5)),
    ]
}

/// Signals, timers, terminals.
pub(crate) fn signals() -> Vec<Row> {
    let deaths = (1..=31).filter(|n| ![17, 18, 19, 20, 21, 22, 23, 28].contains(n)).chain([34, 64]);
    vec![
        row("ended by each signal", "T dies {}").start("limit=core:0").each(deaths),
        row("exit statuses", "sh -c -- exit {}").each((0..=255).step_by(15)).by_root(),
        row("some of them as a user", "sh -c -- exit {}")
            .each([0, 1, 2, 124, 125, 126, 127, 128, 255]),
        row("real-time signals, in order", "T realtime"),
        row("stopped and continued by a sibling", "T job"),
        row("job control on a pseudo-terminal", "T control"),
        row("alarm, setitimer, timer_create", "T timers"),
        row("reads that a signal interrupts", "T interrupted"),
        row("faults that are caught, on another stack", "T faults"),
        row("signals to threads, a thread cancelled", "T to-threads"),
        row("started with a signal ignored", "T masks")
            .start("ignore={}")
            .each([1, 2, 3, 13, 15, 17, 20, 21, 25, 34]),
        row("started with SIGCHLD ignored: wait", "T waits").start("ignore=17"),
        row("started with signals blocked", "T masks").start("block={}").each([
            "1",
            "2",
            "17",
            "15,14,13,10",
            "34,64",
        ]),
        row("it reads the terminal", "T terminal").start("tty=stranger"),
        row(
            "a shell on the terminal",
            "sh -c -- echo who?; read x; echo got $x; stty -a | head -1",
        )
        .start("tty=stranger"),
    ]
}
