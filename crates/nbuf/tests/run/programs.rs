//! Programs in the kernel, which watch a command of root: what is seen without them, and that they go.

use std::process::Stdio;
use std::time::Duration;

use nbuf::internal::clock::Random;
use nbuf::internal::sys::bpf::ids;
use nbuf::internal::sys::seccomp;

use super::support::truth::in_four_tries;
use super::support::{Need, Place, requires, skip, until, with_word};
use super::{NEEDS, check, run};

/// Seven programs, one of which is at three tracepoints.
const LINKS: usize = 9;
/// With meters five more: two of system calls, and three that look for first touches of files.
const LINKS_METERS: usize = LINKS + 5;
const KILLS: u64 = 40;

#[test]
fn where_the_kernel_refuses_programs_the_same_is_seen() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    // A filter applies to the thread that sets it, and to the processes that it starts.
    let refused = || {
        seccomp::refuse(&[libc::SYS_bpf]).unwrap();
        in_four_tries(|| {
            let (ran, _) = run(&place, &["pipe", "1.5"]);
            check("pipe", ran.real_time.unwrap().lock_or_pipe_seconds, 1.5);
            assert!(ran.cache.is_some_and(|cache| cache.lookups > 0));
        });
    };
    std::thread::scope(|scope| scope.spawn(refused).join().unwrap());
}

/// At random moments from before the programs are attached until the command runs. Alone: what BPF has loaded is
/// counted on the whole machine.
#[test]
fn sigkill_leaves_no_program_map_link_or_process() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let Ok(before) = ids() else { return skip("no permission to list what the kernel has") };
    let place = Place::new();
    let word = format!("61.{}", std::process::id());
    let mut random = Random::new(20);
    let mut most = [0; 2];
    for kill in 0..KILLS {
        let which = usize::from(kill % 2 == 1);
        let options = [&["run"][..], &["run", "--meters"]][which];
        let mut nbuf = place.nbuf([options, &["--", "sleep", &word]].concat());
        let mut nbuf = nbuf.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(random.below(200)));
        let new = ids().unwrap()[2].iter().filter(|link| !before[2].contains(link)).count();
        most[which] = most[which].max(new);
        nbuf.kill().unwrap();
        nbuf.wait().unwrap();
    }
    // Two more end by themselves, and leave them to processes of their own command line, which close them.
    for option in ["--json", "--meters"] {
        let mut nbuf = place.nbuf(["run", option, "--", "sh", "-c", ":", &word]);
        assert!(nbuf.stdout(Stdio::null()).status().unwrap().success());
    }
    let has_description = std::fs::exists("/sys/kernel/btf/vmlinux").unwrap();
    let has_all = most[0] >= LINKS && most[1] >= LINKS_METERS;
    assert!(has_all || !has_description, "{most:?} links at most");
    until("what was loaded is gone", || {
        let after = ids().unwrap();
        after.iter().zip(&before).all(|(after, before)| after.iter().all(|it| before.contains(it)))
    });
    until("all have ended", || with_word(&word).is_empty());
}
