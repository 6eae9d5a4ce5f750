//! Commands whose processes leave the group that nbuf measures, as container engines move them.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use nbuf::internal::sys::cgroup::{Group, Hierarchies};
use support::{Need, Place, requires, skip};

/// Ends many processes, which leave every group; goes into the groups whose lists of processes are its
/// arguments, reads, and stays a while.
const LEAVES: &str = "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do cat file >/dev/null; done
    for list; do echo $$ >$list || exit 99; done; cat file file >/dev/null; sleep 0.3";

#[test]
fn nothing_is_verified_of_a_command_that_left_its_group() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    // It goes to a group next to the one that it is put into.
    let group = match Group::create(&Hierarchies::of_this_process()) {
        Ok(group) => group,
        Err(error) => return skip(&format!("no group: {error}")),
    };
    let lists = group.paths().into_iter().map(|group| group.processes.into_string().unwrap());
    let lists: Vec<String> = lists.collect();
    if lists.is_empty() {
        return skip("systemd made the group, and processes cannot enter it by themselves");
    }
    let place = Place::new();
    place.file("file", 16 << 20);
    let check = |name: &str, arguments: &[String], left: bool| {
        let command: Vec<&str> = ["sh", "-c", LEAVES, name]
            .into_iter()
            .chain(arguments.iter().map(String::as_str))
            .collect();
        let sized = place.size(&["--json"], &command);
        // Whether the number holds (0, or 1), and whether the runs are alike (3, 4), is another question.
        let answers: &[i32] = if left { &[0] } else { &[0, 1, 3, 4] };
        assert!(answers.contains(&sized.status), "{sized:?}");
        let document = sized.json();
        let warnings = document["warnings"].to_string();
        assert_eq!(warnings.contains("left the cgroup of the command for /"), left, "{warnings}");
        assert_eq!(sized.stderr.contains("not verified: "), left, "{}", sized.stderr);
        let verified = document["verify"].as_array().unwrap().len();
        assert_eq!(verified == 0, left, "{document:#}");
        assert_eq!(document["verdict"] == "unproved", left, "{document:#}");
    };
    check("stays", &[], false);
    check("leaves", &lists, true);
}
