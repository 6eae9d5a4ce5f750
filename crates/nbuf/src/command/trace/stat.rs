//! `nbuf trace stat`: what is in a trace, counted; and its shape.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use nbuf::experiment::document;
use nbuf::experiment::output::Readers;
use nbuf::experiment::result::{TraceDocument, TraceReading};
use nbuf::experiment::trace::input_name;
use nbuf::experiment::trace::stat::{self, NOT_JUDGED, ShapeSpec, Spec};
use nbuf::units::{Bytes, SizeList};

use super::input::{Input, page, refused, tell};
use crate::command::policy::{PolicyArgument, PolicyParser};
use crate::console::Console;
use crate::output::{must_be_possible, print, write_new};
use crate::show::stat as shown;
use crate::show::terminal::Terminal;
use crate::verbosity::note;

const POLICY: PolicyParser = PolicyParser { words: &[], without: NOT_JUDGED };

/// Count what is in traces, and show what explains their hits.
///
/// By default counts requests, bytes, distinct pages and time. With --full or --html also shows popularity
/// and its Zipf fit, reuse, sizes, lifetimes, scans, loops, the working set, and what any cache could hit.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  nbuf trace stat OLTP.lis.zst --page 512
  nbuf trace stat --json sda.blktrace.* | jq .distinct
  nbuf trace stat --full trace.csv.zst
  nbuf trace stat --html shape.html --policies lru,s3-fifo trace.csv.zst
  nbuf trace stat --html both.html --against tuesday.csv monday.csv")]
pub(super) struct Stat {
    #[command(flatten)]
    input: Input,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// What to count in, where a trace counts bytes
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = page)]
    page: Bytes,
    /// Show the shape of the trace too: some 200 bytes of memory a page or key
    #[arg(long)]
    full: bool,
    /// Write the shape as a page to this file; it must not exist
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print the shape as comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Explain where the first of these policies differs from each other; reads the trace twice
    #[arg(long, value_name = "POLICY,...", value_delimiter = ',', value_parser = POLICY)]
    policies: Vec<PolicyArgument>,
    /// The size of their caches: 5000, or 10% of the pages or keys; 64MiB, by the sizes of keys [default: 10%]
    #[arg(long, value_name = "SIZE", requires = "policies")]
    size: Option<SizeList>,
    /// Look at this share of the pages or keys, such as 0.01, chosen by a hash
    #[arg(long, value_name = "RATE", value_parser = rate, conflicts_with = "policies")]
    sample: Option<f64>,
    /// Compare with the shape of another trace
    #[arg(long, value_name = "TRACE")]
    against: Option<PathBuf>,
}

impl Stat {
    fn spec(&self) -> Spec {
        let is_shaped = self.full
            || self.csv
            || self.html.is_some()
            || self.against.is_some()
            || self.sample.is_some()
            || !self.policies.is_empty();
        let policies = self.policies.iter().filter_map(|argument| match argument {
            PolicyArgument::Policy(choice) => Some(*choice),
            PolicyArgument::Word(_) => None,
        });
        let shape = is_shaped.then(|| ShapeSpec {
            policies: policies.collect(),
            size: self.size.clone(),
            sample: self.sample,
            against: self.against.clone(),
        });
        Spec { inputs: self.input.inputs(), page_bytes: self.page, shape }
    }
}

pub(super) fn stat(arguments: &Stat) -> Result<u8> {
    if let Some(path) = &arguments.html {
        must_be_possible(path, "--html")?;
    }
    let spec = arguments.spec();
    let document = stat::run(&spec, &mut Console::plain().session()).map_err(refused)?;
    for one in [Some(&document), document.against.as_deref()].into_iter().flatten() {
        tell(&TraceReading {
            problems: one.problems,
            unused: one.unused,
            problem_texts: one.problem_texts.clone(),
            warnings: one.warnings.clone(),
            ..TraceReading::default()
        });
    }
    show(arguments, &spec, &document)?;
    Ok(0)
}

/// Shows the document as was asked.
fn show(arguments: &Stat, spec: &Spec, document: &TraceDocument) -> Result<()> {
    if let Some(path) = &arguments.html {
        let paths = spec.inputs.paths.iter().chain(&arguments.against);
        let names: Vec<String> = paths.map(|path| input_name(path)).collect();
        let page = shown::page(document, &names);
        write_new(path, "--html", Readers::All, |mut file| file.write_all(page.as_bytes()))?;
        note(format_args!("the page is {}", path.display()));
    }
    if arguments.json {
        return print(document::write(document)?.as_bytes());
    }
    if arguments.csv {
        return print(shown::csv(document).as_bytes());
    }
    let Terminal { width, colour } = Terminal::of_output();
    print(shown::text(document, width, colour).as_bytes())
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate: &f64| *rate > 0.0 && *rate <= 1.0);
    rate.ok_or_else(|| "write a share of the keys such as 0.01".to_owned())
}
