//! A flame graph: a box for each function under its callers, as wide as its share of the samples.

use std::collections::BTreeMap;

use nbuf::experiment::result::RunProfile;
use nbuf::units::grouped;

use super::super::chart::Look;
use super::super::svg::{Block, Boxes};
use super::super::table::{Table, number, text};

/// Functions with a smaller share of the samples are left out.
const SHARE_MIN: f64 = 0.001;
/// Deeper frames are left out.
const DEPTH: usize = 100;
const PLAIN: Look = Look::Nth(4);
const KERNEL: Look = Look::Nth(1);
const INLINED: Look = Look::Nth(2);

/// A function under its callers.
#[derive(Default)]
struct Node<'a> {
    samples: u64,
    callees: BTreeMap<&'a str, Node<'a>>,
}

/// The picture; nothing where there are no samples.
pub(super) fn graph(profile: &RunProfile) -> Option<Boxes> {
    let mut root = Node::default();
    for stack in &profile.stacks {
        root.samples += stack.samples;
        let mut node = &mut root;
        for frame in stack.frames.iter().take(DEPTH) {
            node = node.callees.entry(frame).or_default();
            node.samples += stack.samples;
        }
    }
    if root.samples == 0 {
        return None;
    }
    let columns = [text("function"), text("called by"), number("samples"), number("share")];
    let mut graph = Boxes {
        title: format!("Flame graph of {} samples", grouped(root.samples)),
        blocks: Vec::new(),
        keys: vec![
            (PLAIN, "programs and libraries"),
            (INLINED, "inlined functions"),
            (KERNEL, "kernel"),
        ],
        table: Table::new("Samples by function and caller", columns),
    };
    add(&mut graph, ["all", ""], &root, [0, 0, root.samples]);
    Some(graph)
}

/// Adds a function and its callees. The numbers are its depth, the samples left of it, and all.
fn add(
    graph: &mut Boxes,
    [name, caller]: [&str; 2],
    node: &Node<'_>,
    [depth, before, all]: [u64; 3],
) {
    let share = |samples: u64| samples as f64 / all as f64;
    if share(node.samples) < SHARE_MIN {
        return;
    }
    let look = match name {
        name if name.ends_with("_[k]") => KERNEL,
        name if name.ends_with("_[i]") => INLINED,
        _ => PLAIN,
    };
    graph.blocks.push(Block {
        line: usize::try_from(depth).unwrap_or(DEPTH),
        from: share(before),
        to: share(before + node.samples),
        label: name.to_owned(),
        row: Some((look, graph.table.len())),
    });
    let percent = format!("{:.1} %", 100.0 * share(node.samples));
    graph.table.row([name.to_owned(), caller.to_owned(), grouped(node.samples), percent]);
    let mut before = before;
    for (callee, node) in &node.callees {
        add(graph, [callee, name], node, [depth + 1, before, all]);
        before += node.samples;
    }
}

#[cfg(test)]
mod tests {
    use super::super::profile::tests::sample;
    use super::*;

    #[test]
    fn a_box_is_as_wide_as_its_share_and_has_a_row() {
        let graph = graph(&sample()).unwrap();
        let last = graph.blocks.last().unwrap();
        assert_eq!((last.line, last.from, last.to, last.label.as_str()), (3, 0.0, 0.25, "<x>"));
        assert_eq!((graph.blocks.len(), graph.table.len()), (4, 4));
        assert!(graph.table.draw(80).contains("<x>       main           100   25.0 %"));
        let drawn = graph.figure();
        assert!(drawn.contains("d=\"M0.0 60h215.0v20h-215.0z\""), "{drawn}");
        assert!(super::graph(&RunProfile::default()).is_none());
    }

    #[test]
    fn deep_and_narrow_stacks_are_cut() {
        let mut profile = sample();
        profile.stacks[0].frames = vec!["f".into(); 5000];
        profile.stacks[1].samples = 0;
        assert_eq!(graph(&profile).unwrap().blocks.len(), DEPTH + 1);
    }
}
