//! A flame graph: a box for each function under its callers, as wide as its share of the samples.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use nbuf::experiment::result::RunProfile;

use super::super::markup::escape;
use super::super::page::shortened;

/// The width of the picture.
const WIDTH: f64 = 1200.0;
const ROW: f64 = 18.0;
/// Boxes that are narrower are left out.
const NARROWEST: f64 = 0.6;
/// Width to allow a character.
const CHARACTER: f64 = 7.0;
/// Deeper frames are left out.
const DEPTH: usize = 100;

/// A function under its callers.
#[derive(Default)]
struct Node<'a> {
    samples: u64,
    callees: BTreeMap<&'a str, Node<'a>>,
}

/// The picture; nothing where there are no samples.
pub(super) fn graph(profile: &RunProfile) -> Option<String> {
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
    let mut drawn = Drawn { all: root.samples as f64, deepest: 0, boxes: String::new() };
    drawn.node("all", &root, 0, 0);
    let height = (drawn.deepest + 1) as f64 * ROW;
    Some(format!(
        "<svg class=\"flame\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"Flame graph of {} \
         samples\">\n<style>.flame{{display:block;width:100%;min-width:700px;height:auto}}.flame rect{{stroke:var(--paper)}}\
         .flame rect:hover{{stroke:var(--ink)}}.flame text{{font:12px ui-monospace,monospace;fill:#1f2328;\
         pointer-events:none}}</style>\n{}</svg>\n",
        root.samples, drawn.boxes
    ))
}

struct Drawn {
    all: f64,
    deepest: usize,
    boxes: String,
}

impl Drawn {
    /// `before` is how many samples are to the left of it. Callers are above.
    fn node(&mut self, name: &str, node: &Node<'_>, depth: usize, before: u64) {
        let width = node.samples as f64 / self.all * WIDTH;
        if width < NARROWEST {
            return;
        }
        self.deepest = self.deepest.max(depth);
        let (x, y) = (before as f64 / self.all * WIDTH, depth as f64 * ROW);
        let share = 100.0 * node.samples as f64 / self.all;
        let _ = write!(
            self.boxes,
            "<g><rect x=\"{x:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"{ROW}\" rx=\"2\" fill=\"{}\">\
             <title>{}: {} samples, {share:.1} %</title></rect>",
            colour(name),
            escape(name),
            node.samples,
        );
        let room = columns(width - 6.0);
        if room >= 3 {
            let _ = write!(
                self.boxes,
                "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x + 3.0,
                y + 13.0,
                escape(&shortened(name, room))
            );
        }
        self.boxes.push_str("</g>\n");
        let mut before = before;
        for (name, callee) in &node.callees {
            self.node(name, callee, depth + 1, before);
            before += callee.samples;
        }
    }
}

/// Characters that fit.
fn columns(width: f64) -> usize {
    (1_u8..200).take_while(|&count| f64::from(count) * CHARACTER <= width).count()
}

/// The kernel is orange, inlined functions are green, others yellow to red by their names.
fn colour(name: &str) -> String {
    let sum = name.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let (hue, vary) = match name {
        name if name.ends_with("_[k]") => (28, sum % 8),
        name if name.ends_with("_[i]") => (110, sum % 20),
        _ => (40, sum % 18),
    };
    let light = 62 + (sum >> 8) % 12;
    format!("hsl({},85%,{light}%)", hue + vary)
}

#[cfg(test)]
mod tests {
    use super::super::profile::tests::sample;
    use super::*;

    #[test]
    fn a_box_is_as_wide_as_its_share() {
        let graph = graph(&sample()).unwrap();
        for part in [
            "viewBox=\"0 0 1200 72\"",
            "<title>main: 400 samples, 100.0 %</title>",
            "x=\"0.0\" y=\"54\" width=\"300.0\"",
            "<title>&lt;x&gt;: 100 samples, 25.0 %</title>",
        ] {
            assert!(graph.contains(part), "{part}: {graph}");
        }
        assert_eq!(super::graph(&RunProfile::default()), None);
    }

    #[test]
    fn deep_and_narrow_stacks_are_cut() {
        let mut profile = sample();
        profile.stacks[0].frames = vec!["f".into(); 5000];
        profile.stacks[1].samples = 0;
        let graph = graph(&profile).unwrap();
        assert_eq!(graph.matches("<rect").count(), DEPTH + 1);
    }
}
