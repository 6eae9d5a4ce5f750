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
    out.extend(document.rows.iter().map(line));
    for refused in &document.refused {
        let (test, reason) = (field(&refused.test), field(&refused.reason));
        let _ = writeln!(out, "{test},,,,,,,,,,,,,,,,,,,,,{reason}");
    }
    out
}

fn line(row: &BenchRow) -> String {
    let BenchRow { block_bytes, size_bytes, depth, samples, clean, processes, .. } = row;
    let names = [&row.test, &row.path, &row.direction, &row.order].map(|name| field(name));
    let (names, state, library) = (names.join(","), row.state.name(), field(&row.c_library));
    let rates = [row.bytes_per_second, row.low, row.high].map(|rate| format!("{rate:.1}"));
    let (rates, time, check) = (rates.join(","), row.operation_ns, &row.label_check);
    let (read, written) = (check.device_read_bytes, check.device_written_bytes);
    let known = |number: Option<f64>| number.map_or(String::new(), |number| number.to_string());
    let others = [row.imac_2011, row.thinkpad_2007].map(known).join(",");
    format!(
        "{names},{block_bytes},{size_bytes},{depth},{state},{rates},{time:.3},{samples},{clean},{processes},\
         {:.6},{read},{written},{others},{library},\n",
        check.calls_per_operation
    )
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
