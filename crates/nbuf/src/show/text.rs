//! Text for a terminal of any width, whose words may be anybody's.
//!
//! Invariant: what comes out of [`clean`] moves no cursor and changes no colour; names of files and
//! commands go through it.

use console::measure_text_width as width_of;
pub(crate) use nbuf::units::{count, grouped, listed};

/// Characters that would do something instead of showing something become `?`.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|c| if acts(c) { '?' } else { c }).collect()
}

/// As [`clean`], for text of several lines.
pub(crate) fn clean_lines(text: &str) -> String {
    text.chars().map(|c| if acts(c) && c != '\n' { '?' } else { c }).collect()
}

/// Control characters, and those that turn the direction of the text around them.
pub(super) fn acts(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A field of comma-separated values (RFC 4180), in quotes where it has to be.
///
/// A spreadsheet takes a field that begins with `=`, `+`, `-` or `@` for a formula, and carries it out;
/// the names in ours may be anybody's. Such a text gets an apostrophe in front, and a number none.
pub(crate) fn field(text: &str) -> String {
    let mut clean = clean(text);
    let acts =
        |c| ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'].contains(&c);
    let starts = text.trim_start().starts_with(acts) || text.starts_with(['\t', '\r', '\n']);
    if starts && !is_number(text) {
        clean.insert(0, '\'');
    }
    if clean.contains([',', '"']) || clean.starts_with(' ') || clean.ends_with(' ') {
        format!("\"{}\"", clean.replace('"', "\"\""))
    } else {
        clean
    }
}

/// Digits with a sign, a point or an exponent; no word that happens to be read as a number.
fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok() && text.ends_with(|c: char| c.is_ascii_digit())
}

/// A rate, with three digits.
pub(crate) fn rate(rate: f64) -> String {
    digits(rate, 2)
}

/// Three significant digits, of which `most` at most are behind the point.
pub(crate) fn digits(number: f64, most: usize) -> String {
    let least = [99.95, 9.995, 0.9995, 0.09995];
    let behind = least.iter().position(|&least| number.abs() >= least).unwrap_or(least.len());
    let behind = behind.min(most);
    format!("{number:.behind$}")
}

/// `2026-11-21 05:49:53 UTC`
pub(crate) fn moment(unix_seconds: u64) -> String {
    let date = nbuf::units::date(unix_seconds);
    let part = |from: usize, to: usize| date.get(from..to).unwrap_or_default();
    format!("{} {}:{}:{} UTC", part(0, 10), part(11, 13), part(13, 15), part(15, 17))
}

/// Adds a paragraph, two columns in, broken at spaces; a word too long for a line is broken too.
pub(crate) fn wrap(out: &mut String, text: &str, width: usize) {
    wrap_behind(out, text, width, [" ", "   "]);
}

/// A paragraph for each of these.
pub(crate) fn wrap_each(
    out: &mut String,
    texts: impl IntoIterator<Item: std::fmt::Display>,
    width: usize,
) {
    texts.into_iter().for_each(|text| wrap(out, &text.to_string(), width));
}

/// A paragraph whose first line begins at the margin.
pub(crate) fn flush(text: &str, width: usize) -> String {
    let mut out = String::new();
    wrap(&mut out, text, width);
    out.trim_start().to_owned()
}

/// As [`wrap`], where the first line and the others begin with these, and a space behind them.
pub(crate) fn wrap_behind(out: &mut String, text: &str, width: usize, begins: [&str; 2]) {
    let mut line = String::from(begins[0]);
    let mut is_empty = true;
    for word in clean(text).split(' ') {
        let mut word = word;
        loop {
            let room = width.saturating_sub(width_of(&line) + 1);
            if width_of(word) <= room {
                line.push(' ');
                line.push_str(word);
                is_empty = false;
                break;
            }
            if is_empty {
                let head = head(word, room.max(1));
                line.push(' ');
                line.push_str(head);
                word = &word[head.len()..];
            }
            out.push_str(&line);
            out.push('\n');
            line = String::from(begins[1]);
            is_empty = true;
        }
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

/// The beginning of a text that fits; a character at least.
fn head(text: &str, room: usize) -> &str {
    let mut end = text.chars().next().map_or(0, char::len_utf8);
    for (at, c) in text.char_indices() {
        let after = at + c.len_utf8();
        if width_of(&text[..after]) > room {
            break;
        }
        end = end.max(after);
    }
    &text[..end]
}

/// The end of a path that is too long, which tells more than its beginning.
pub(crate) fn tail(path: &str, room: usize) -> String {
    let clean = clean(path);
    if width_of(&clean) <= room {
        return clean;
    }
    let starts = clean.char_indices().map(|(at, _)| at);
    let kept = starts.map(|at| &clean[at..]).find(|rest| width_of(rest) < room);
    format!("…{}", kept.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_on_the_terminal() {
        let name = "/tmp/\x1b[2J\x1b]0;x\x07\r\n\u{9b}31m\u{202e}fdp.exe";
        assert_eq!(clean(name), "/tmp/?[2J?]0;x????31m?fdp.exe");
        assert_eq!(clean_lines("a\nb\r"), "a\nb?");
        let mut out = String::new();
        wrap(&mut out, name, 80);
        assert_eq!(out, "  /tmp/?[2J?]0;x????31m?fdp.exe\n");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let text =
            "a word, /a/name/without/any/space/in/it/that/is/long and 日本語の名前は幅が広い";
        for width in 10..60 {
            let mut out = String::new();
            wrap(&mut out, text, width);
            assert!(out.lines().all(|line| width_of(line) <= width), "{width}:\n{out}");
            let joined: String = out.split_whitespace().collect();
            assert_eq!(joined, text.replace(' ', ""));
            assert!(width_of(&tail("/日本語/の/名前", width)) <= width);
        }
    }

    #[test]
    fn no_field_is_a_formula_and_numbers_stay() {
        let cases = [
            ("=1+1", "'=1+1"),
            ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
            ("-2+3", "'-2+3"),
            ("@SUM(A1,A2)", "\"'@SUM(A1,A2)\""),
            ("=\"a\"", "\"'=\"\"a\"\"\""),
            ("\t=1", "'?=1"),
            ("\r1", "'?1"),
            (" =1", "' =1"),
            ("\u{ff1d}1", "'\u{ff1d}1"),
            ("-inf", "'-inf"),
            ("-5", "-5"),
            ("+1.5e-3", "+1.5e-3"),
            ("a=b", "a=b"),
            ("a\nb", "a?b"),
            ("", ""),
        ];
        for (text, want) in cases {
            assert_eq!(field(text), want);
        }
    }
}
