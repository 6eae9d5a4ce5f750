//! Words as a shell must receive them, for commands that a user reads or pastes.

use std::ffi::OsStr;

/// A word, in quotes if it needs them.
pub(crate) fn quoted(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%^".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A whole command.
pub(crate) fn line<Word: AsRef<OsStr>>(words: &[Word]) -> String {
    words.iter().map(|word| quoted(word.as_ref())).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn what_a_shell_would_take_apart_is_in_quotes() {
        let cases: [(&[&str], &str); 3] = [
            (&["grep", "-r", "--color=no", "a/b"], "grep -r --color=no a/b"),
            (&["sh", "-c", "sqlite3 db < q.sql"], "sh -c 'sqlite3 db < q.sql'"),
            (&["", "it's"], r"'' 'it'\''s'"),
        ];
        for (words, want) in cases {
            assert_eq!(line(words), want);
        }
    }
}
