//! The table in docs/support.md, which has a line for each row.

use std::fs;
use std::path::Path;

use super::rows::Row;

const BEGIN: &str = "<!-- awkward targets -->\n";
const END: &str = "<!-- end of awkward targets -->";

/// Asserts that the document says what the rows say; `UPDATE_EXPECT=1` writes it.
pub(crate) fn check(rows: &[Row]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/support.md");
    let document = fs::read_to_string(&path).unwrap();
    let (before, rest) = document.split_once(BEGIN).expect("docs/support.md has a place for it");
    let (table, after) = rest.split_once(END).expect("and its end");
    let mut want = "\n| target | tracepoints | system calls |\n|---|---|---|\n".to_owned();
    for Row { name, words: [perf, calls], .. } in rows {
        want.extend(["| ", name, " | ", perf, " | ", calls, " |\n"]);
    }
    want.push('\n');
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{want}{END}{after}")).unwrap();
    } else {
        assert_eq!(table, want, "UPDATE_EXPECT=1 writes it");
    }
}
