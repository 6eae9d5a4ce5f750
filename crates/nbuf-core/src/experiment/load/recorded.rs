//! Recorded think times: a file with one duration a line, next to the script that names it.

use std::io::Read as _;
use std::path::Path;

use super::OpenError;
use super::script::{Script, Think};
use crate::sys::input;
use crate::units::Nanos;

/// A day: longer think times are a slip of the pen.
const SECONDS_MAX: f64 = 86_400.0;
/// No recording of think times is longer.
const BYTES_MAX: u64 = 64 << 20;

/// Reads the files that a script names.
pub(super) fn read(script: &mut Script, beside: &Path) -> Result<(), OpenError> {
    for class in &mut script.classes {
        if let Think::Recorded { file, seconds } = &mut class.think {
            *seconds = times(&beside.join(&*file))?;
        }
    }
    Ok(())
}

fn times(path: &Path) -> Result<Vec<f64>, OpenError> {
    let name = input::name(path);
    let mut text = String::new();
    let read = input::open(path)?.take(BYTES_MAX).read_to_string(&mut text);
    read.map_err(|cause| OpenError::Read { name: name.clone(), cause })?;
    parse(&text).map_err(|(line, what)| OpenError::Think { name, line, what })
}

/// One duration a line: seconds without a unit, or 300ms. Empty lines and comments are passed over.
fn parse(text: &str) -> Result<Vec<f64>, (usize, String)> {
    let mut times = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let plain = line.parse::<f64>().ok();
        let seconds = plain.or_else(|| line.parse::<Nanos>().ok().map(Nanos::seconds));
        if let Some(seconds) = seconds.filter(|seconds| (0.0..=SECONDS_MAX).contains(seconds)) {
            times.push(seconds);
        } else {
            let what = format!("`{line}` is no think time: write 1.5 for seconds, or 300ms");
            return Err((at + 1, what));
        }
    }
    if times.is_empty() {
        return Err((1, "there is no think time: write one duration a line".to_owned()));
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_errors_have_their_line() {
        assert_eq!(parse("1.5\n# none\n\n300ms\n2m # long\n"), Ok(vec![1.5, 0.3, 120.0]));
        for (text, line) in [("1\nx\n", 2), ("", 1), ("-1\n", 1), ("1\n1\n90000\n", 3), ("nan", 1)]
        {
            assert_eq!(parse(text).map_err(|error| error.0), Err(line), "{text}");
        }
    }
}
