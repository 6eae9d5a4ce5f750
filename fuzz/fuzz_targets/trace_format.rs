//! Any bytes as a trace of any format: the first byte chooses the row of the table, or the environment
//! variable `NBUF_FORMAT` names it; the second byte says where the rest is cut. All of it is read or
//! reported, and the cut changes nothing. Everything that tells formats apart looks at it too.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use nbuf::workload::format::{Batch, FORMATS, Format, Head, Parameters, guess};
use nbuf::trace::request::Request;

/// The one format to try, where it was named.
static ONLY: LazyLock<Option<&Format>> = LazyLock::new(|| {
    let name = std::env::var("NBUF_FORMAT").ok()?;
    let format = FORMATS.iter().find(|format| format.name == name);
    Some(format.unwrap_or_else(|| panic!("there is no format {name}")))
});

/// Parameters for the formats that need some.
fn parameters(format: &Format) -> Parameters {
    let text = if format.name == "csv" { "csv:key=1,size=2,object=3" } else { format.name };
    text.parse().expect("a name is a name")
}

fuzz_target!(|bytes: &[u8]| {
    let [row, cut, input @ ..] = bytes else {
        return;
    };
    let format = ONLY.unwrap_or(&FORMATS[usize::from(*row) % FORMATS.len()]);
    let cut = usize::from(*cut).min(input.len());
    let whole = read(format, &[input]);
    let pieces = read(format, &[&input[..cut], &input[cut..]]);
    assert!(whole == pieces, "{} cut at {cut}", format.name);
    let _ = guess(FORMATS, Head { bytes: input, is_whole: true }, "");
});

/// Requests, problems and names; none if it does not begin as the format does.
fn read(format: &Format, pieces: &[&[u8]]) -> Option<(Vec<Request>, u64, Vec<String>)> {
    let input = pieces.concat();
    let head = Head { bytes: &input, is_whole: true };
    let mut parser = format.make()?(&parameters(format), head).ok()?.parser;
    let (mut requests, mut out) = (Vec::new(), Batch::default());
    let (mut start, mut end) = (0, 0);
    for piece in pieces {
        end += piece.len();
        loop {
            let taken = parser.parse(&input[start..end], end == input.len(), &mut out);
            start += taken;
            let was_full = out.is_full();
            requests.append(&mut out.requests);
            // One line may stand for any number of requests.
            if requests.len() > 1 << 16 {
                return None;
            }
            if !was_full {
                break;
            }
        }
    }
    assert!(start == input.len(), "{} left bytes behind", format.name);
    Some((requests, out.problems.count, out.objects.names().to_vec()))
}
