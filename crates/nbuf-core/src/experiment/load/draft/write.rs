//! The words of a drafted script.

use std::fmt::Write as _;

use super::{Action, Summary};

/// A script with more of them is not read by anyone.
const ACTIONS: usize = 20;

pub(super) fn script(summary: &Summary, server: &str) -> String {
    let Summary { users, turns, others, rate_per_second, think, actions } = summary;
    let mut out =
        format!("# A draft from {turns} lines of {users} users. Read it before you run it.\n");
    let left: u64 = actions.iter().skip(ACTIONS).map(|(_, count)| count).sum();
    if *others > 0 {
        let _ =
            writeln!(out, "# {others} lines are left out: they write, failed, or have parameters.");
    }
    if left > 0 {
        let kinds = actions.len() - ACTIONS;
        let _ = writeln!(out, "# {left} lines of {kinds} rarer kinds are left out.");
    }
    out += "\n[[class]]\nname = \"users\"\n";
    if let Some((mean, deviation, pauses)) = think {
        let _ = writeln!(out, "# Of {pauses} pauses of up to half an hour.");
        let _ = writeln!(
            out,
            "think = {{ kind = \"lognormal\", mean_seconds = {mean:.3}, deviation_seconds = {deviation:.3} }}"
        );
    }
    if let Some(rate) = rate_per_second {
        let _ = writeln!(out, "# For open arrivals instead of `think`:");
        let _ = writeln!(out, "# arrivals = \"open\"\n# rate_per_second = {:.3}", rate.max(1e-3));
    }
    for (action, count) in actions.iter().take(ACTIONS) {
        match action {
            Action::Get(path) => {
                let address = quoted(&format!("{}{path}", server.trim_end_matches('/')));
                let _ = writeln!(out, "\n[[class.request]]\nget = {address}\nweight = {count}");
            }
            Action::Query(query) => {
                let query = quoted(query);
                let _ = writeln!(
                    out,
                    "\n[[class.command]]\nrun = [\"psql\", \"-X\", \"-q\", \"-c\", {query}]\nweight = {count}"
                );
            }
        }
    }
    out
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\t' => out += "\\t",
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\""
}
