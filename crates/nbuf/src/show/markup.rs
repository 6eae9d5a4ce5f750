//! Text as SVG and HTML have it, whosever it is.

use super::text::acts;

/// Text that is nothing but text, in an element or in a quoted attribute. Characters that would do
/// something instead of showing something become a replacement character.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' => escaped.push(' '),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other if acts(other) => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn text_stays_text() {
        let name = "</script><b onclick='x' class=\"y\">&amp;\u{0}\u{1b}[2J\u{202e}\t\u{ffff}é";
        let want = "&lt;/script&gt;&lt;b onclick=&#39;x&#39; class=&quot;y&quot;&gt;&amp;amp;\
                    \u{fffd}\u{fffd}[2J\u{fffd} \u{fffd}é";
        assert_eq!(escape(name), want);
    }
}
