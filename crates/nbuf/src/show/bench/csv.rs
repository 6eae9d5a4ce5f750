//! Rows as comma-separated values (RFC 4180). Fields are empty where there is nothing to say.

use std::fmt::Write as _;

use nbuf::experiment::result::{BenchDocument, BenchRow};

use super::super::text::field;

const HEADER: &str = "test,path,direction,order,block_bytes,size_bytes,depth,state,bytes_per_second,\
                      low,high,operation_ns,samples,clean,processes,calls_per_operation,\
                      device_read_bytes,device_written_bytes,imac_2011,thinkpad_2007,c_library,refused\n";

/// All rows under one line of names, refused ones last.
pub(crate) fn csv(document: &BenchDocument) -> String {
    let mut out = String::from(HEADER);
    for row in &document.rows {
        line(&mut out, row);
    }
    for refused in &document.refused {
        let (test, reason) = (field(&refused.test), field(&refused.reason));
        let _ = writeln!(out, "{test},,,,,,,,,,,,,,,,,,,,,{reason}");
    }
    out
}

fn line(out: &mut String, row: &BenchRow) {
    let known = |number: Option<f64>| number.map_or(String::new(), |number| format!("{number}"));
    let BenchRow { block_bytes, size_bytes, depth, samples, clean, processes, .. } = row;
    let _ = writeln!(
        out,
        "{},{},{},{},{block_bytes},{size_bytes},{depth},{},{:.1},{:.1},{:.1},{:.3},{samples},{clean},\
         {processes},{:.6},{},{},{},{},{},",
        field(&row.test),
        field(&row.path),
        field(&row.direction),
        field(&row.order),
        row.state.name(),
        row.bytes_per_second,
        row.low,
        row.high,
        row.operation_ns,
        row.label_check.calls_per_operation,
        row.label_check.device_read_bytes,
        row.label_check.device_written_bytes,
        known(row.imac_2011),
        known(row.thinkpad_2007),
        field(&row.c_library),
    );
}

#[cfg(test)]
mod tests {
    use nbuf::experiment::result::Refused;

    use super::*;

    #[test]
    fn every_line_has_all_fields() {
        let refused = Refused {
            test: "r-x".into(),
            reason: "it said \"no\", twice".into(),
            is_contradiction: false,
        };
        let document = BenchDocument {
            rows: vec![BenchRow { test: "r01-byte".into(), ..BenchRow::default() }],
            refused: vec![refused],
            ..BenchDocument::default()
        };
        let text = csv(&document);
        let lines: Vec<&str> = text.lines().collect();
        let commas = |line: &str| line.matches(',').count();
        assert_eq!(commas(lines[0]), commas(lines[1]));
        assert_eq!(lines[2].matches(",,").count(), 10, "{}", lines[2]);
        assert!(lines[2].ends_with(",\"it said \"\"no\"\", twice\""), "{}", lines[2]);
    }
}
