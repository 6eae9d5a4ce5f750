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
    let mut most = 0;
    for _ in 0..KILLS {
        let mut nbuf = place.nbuf(["run", "--", "sleep", &word]);
        let mut nbuf = nbuf.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(random.below(200)));
        let new = ids().unwrap()[2].iter().filter(|link| !before[2].contains(link)).count();
        most = most.max(new);
        nbuf.kill().unwrap();
        nbuf.wait().unwrap();
    }
    // One more ends by itself, and leaves them to a process of its own command line, which closes them.
    assert!(place.nbuf(["run", "--", "sh", "-c", ":", &word]).status().unwrap().success());
    let has_description = std::fs::exists("/sys/kernel/btf/vmlinux").unwrap();
    assert!(most >= LINKS || !has_description, "{most} links at most");
    until("what was loaded is gone", || {
        let after = ids().unwrap();
        after.iter().zip(&before).all(|(after, before)| after.iter().all(|it| before.contains(it)))
    });
    until("all have ended", || with_word(&word).is_empty());
}
