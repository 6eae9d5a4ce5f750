//! The profile as a page: the message, the flame graph, the tables.

use nbuf::experiment::result::{RunDocument, RunProfile};

use super::super::page::{Answer, Mood, Page, Part, sentence};
use super::flame;
use super::profile::{files, sampled, segments, unnamed, waits};

/// Functions of a segment that have a row.
const FUNCTIONS: usize = 12;

/// What the words of the page mean.
const WORDS: &str = "\
segment: a program, a library, the kernel, or memory without a file that was executed
sample: a look at a running thread, at equal steps of its processor's time
flame graph: a box for each function under its caller, as wide as its share of the samples
_[k], _[i]: a function of the kernel; a function that its caller has inlined
fill: a page that was put into the page cache";

/// The whole page.
pub(crate) fn page(ran: &RunDocument, profile: &RunProfile) -> String {
    let notes: Vec<String> = ran.notes.iter().map(ToString::to_string).collect();
    let answer = match profile.segments.first().filter(|segment| segment.samples > 0) {
        Some(first) => {
            let share = 100.0 * first.samples as f64 / profile.samples.max(1) as f64;
            let function = first.functions.first().map_or("", |function| &function.name);
            format!(
                "{share:.0} % of the samples are in {}; its first function is {function}",
                first.name
            )
        }
        None => {
            "no sample was taken: the command used less processor time than a sample".to_owned()
        }
    };
    let mut lead = vec![Part::Text(sentence(&super::line(ran)))];
    lead.extend(notes.iter().map(|note| Part::Bad(sentence(note))));
    lead.extend([waits(ran), unnamed(profile)].into_iter().flatten().map(Part::Note));
    let graph = flame::graph(profile).map(Part::Boxes);
    let tables = [segments(profile, FUNCTIONS), files(profile)];
    let command = ran.command.join(" ");
    Page::new("run", command.as_str(), WORDS)
        .title(format!("nbuf run: profile of {command}"))
        .answers([Answer::new(Mood::of(&notes), sentence(&answer))])
        .lead(lead)
        .section("Flame graph", graph.into_iter().chain([Part::Note(sampled(profile))]))
        .section("Where it ran", tables.into_iter().filter_map(Part::table))
        .html()
}

#[cfg(test)]
mod tests {
    use super::super::profile::tests::sample;
    use super::*;

    #[test]
    fn the_page_has_the_answer_the_graph_and_the_tables() {
        let ran = RunDocument { command: vec!["a".into(), "<b>".into()], ..RunDocument::default() };
        let page = page(&ran, &sample());
        for part in
            ["75 % of the samples are in /bin/a", "Flame graph of 400", "/data", "a &lt;b&gt;"]
        {
            assert!(page.contains(part), "{part}: {page}");
        }
    }
}
