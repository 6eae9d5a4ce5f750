//! The native trace as a whole: what goes in comes out; what is damaged is an error.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;

use super::*;
use crate::trace::{CacheEvent, Device, Facts, FileId, Record, Trace};
use crate::units::Bytes as Amount;

fn facts() -> Facts {
    Facts {
        schema: Facts::SCHEMA.to_owned(),
        command: vec!["sqlite3".to_owned(), "a \"quoted\" name".to_owned()],
        memory_total_bytes: Amount(u64::MAX),
        exit_status: Some(139),
        devices: vec![Device {
            major: 259,
            minor: 3,
            name: "vda".into(),
            filesystem: "ext4".to_owned(),
            readahead_bytes: 128 << 10,
            io_bytes: 1 << 20,
            folio_order_max: 9,
        }],
        ..Facts::default()
    }
}

/// A trace such as a database makes: point reads over a 256 MiB file by three tasks, a fill for
/// every third, every tenth access to a journal.
fn database_like(records: usize) -> Trace {
    let mut seed = 1_u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        seed >> 33
    };
    let mut made = Vec::new();
    let (mut time_ns, mut request) = (0, 0);
    while made.len() < records {
        time_ns += 1_500 + i64::try_from(random() % 6_000).unwrap();
        let journal = request > 0 && random() % 10 == 0;
        let mut record = Record {
            time_ns,
            offset_bytes: random() % 65_536 * 4096,
            file_bytes: 256 << 20,
            length_bytes: 4096,
            file: FileId(u32::from(journal)),
            task: 4_000 + u32::try_from(random() % 30 / 28).unwrap(),
            request,
            op: CacheEvent::Read,
        };
        if journal {
            record.op = CacheEvent::Write;
            record.offset_bytes = u64::from(request) * 512;
            record.file_bytes = record.offset_bytes + 512;
            record.length_bytes = 512;
        }
        request += 1;
        made.push(record);
        if record.op == CacheEvent::Read && random() % 3 == 0 {
            record.time_ns += 900;
            record.op = CacheEvent::Fill;
            made.push(record);
        }
    }
    made.truncate(records);
    Trace {
        records: made.into(),
        files: vec!["/data/orders.db".to_owned(), "/data/orders.db-wal".to_owned()],
        facts: facts(),
    }
}

fn written(trace: &Trace) -> Bytes {
    let mut out = Vec::new();
    write(trace, &mut out).unwrap();
    out.into()
}

fn refusal(bytes: impl Into<Bytes>) -> String {
    read(bytes.into()).unwrap_err().to_string()
}

fn records() -> impl Strategy<Value = Record> {
    let numbers = || prop_oneof![0..4_u64, 0..1_000_000_u64, any::<u64>()];
    let small = || prop_oneof![0..4_u32, any::<u32>()];
    let places = (any::<i64>(), numbers(), numbers(), small());
    (places, 0..5_u32, small(), small(), 0..10_u8).prop_map(
        |((time_ns, offset, file_bytes, length_bytes), file, task, request, op)| Record {
            time_ns,
            offset_bytes: offset.min(u64::MAX - u64::from(length_bytes)),
            file_bytes,
            length_bytes,
            file: FileId(file),
            task,
            request,
            op: CacheEvent::from_number(op).unwrap(),
        },
    )
}

/// Puts records in time order and numbers files in order of first use, as reading does.
fn trace_of(mut records: Vec<Record>) -> Trace {
    records.sort_by_key(|record| record.time_ns);
    let mut order: Vec<u32> = Vec::new();
    for record in &mut records {
        let number = record.file.0;
        let place = order.iter().position(|&seen| seen == number);
        let place = place.unwrap_or_else(|| {
            order.push(number);
            order.len() - 1
        });
        record.file = FileId(u32::try_from(place).unwrap());
    }
    Trace {
        records: records.into(),
        files: order.iter().map(|number| format!("/file \u{e9} {number}")).collect(),
        facts: facts(),
    }
}

proptest! {
    #[test]
    fn traces_come_back(records in proptest::collection::vec(records(), 0..200)) {
        let trace = trace_of(records);
        prop_assert_eq!(read(written(&trace)).unwrap(), trace);
    }

    /// Nothing is said of what is read: only that there is an end to it, and no panic of ours.
    #[test]
    fn damaged_files_are_survived(
        count in 1..300_usize,
        flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = written(&database_like(count)).to_vec();
        for (place, byte) in flips {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(trace) = read(Bytes::from(bytes)) {
            prop_assert!(trace.records.len() < 10_000_000);
        }
    }

    #[test]
    fn any_bytes_between_the_magic_are_survived(inside: Vec<u8>, length in 0..100_u8) {
        let bytes = [b"PAR1", &inside[..], &[length, 0, 0, 0], b"PAR1"].concat();
        let _ = read(Bytes::from(bytes));
    }
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    let bytes = written(&database_like(50));
    for cut in 0..bytes.len() {
        let said = refusal(bytes.slice(..cut));
        let want = match cut {
            0 => "empty",
            1..4 => "not a Parquet file",
            _ => "cut off",
        };
        assert!(said.contains(want), "{cut}: {said}");
    }
    assert!(refusal(&b"nbuf log\x01\0\0\0\0\0\0\0"[..]).contains("not a Parquet file"));
}

#[test]
fn a_record_of_no_file_is_refused() {
    let mut trace = database_like(3);
    let mut number = 0..;
    trace.records.change(|record| record.file = FileId(number.next().unwrap()));
    let refused = write(&trace, Vec::new()).unwrap_err().to_string();
    assert!(refused.starts_with("record 2 is of file 2"), "{refused}");
}

/// As other programs write: any order of columns, nullable, plain, of other widths, no facts.
struct Foreign {
    schema: &'static str,
    properties: WriterProperties,
    ops: [i64; 2],
    levels: Option<[i16; 2]>,
}

const NULLABLE: &str = "message trace {
    optional int64 request; optional int64 task (INTEGER(64, false)); optional int32 op;
    optional int64 extra; optional binary file; optional int64 offset_bytes;
    optional int64 length_bytes; optional int32 file_bytes (INTEGER(32, false));
    optional int64 time_ns; }";

impl Foreign {
    fn new() -> Self {
        Self {
            schema: NULLABLE,
            properties: WriterProperties::builder().set_dictionary_enabled(false).build(),
            ops: [0, 6],
            levels: Some([1, 1]),
        }
    }

    fn bytes(self) -> Bytes {
        let schema = Arc::new(parse_message_type(self.schema).unwrap());
        let properties = Arc::new(self.properties);
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
        let names: Vec<String> = {
            let columns = writer.schema_descr().columns();
            columns.iter().map(|column| column.name().to_owned()).collect()
        };
        let mut group = writer.next_row_group().unwrap();
        let levels = self.levels.as_ref().map(|levels| &levels[..]);
        let count = self.levels.map_or(2, |levels| levels.iter().filter(|&&l| l == 1).count());
        for name in names {
            let mut column = group.next_column().unwrap().unwrap();
            let numbers: [i64; 2] = match name.as_str() {
                "op" => self.ops,
                "time_ns" => [20, 10],
                "file_bytes" => [i64::from(u32::MAX), 8192],
                _ => [4096, 1],
            };
            let narrow = numbers.map(|number| i32::try_from(number).unwrap_or(-1));
            match column.untyped() {
                parquet::column::writer::ColumnWriter::Int64ColumnWriter(_) => {
                    let column = column.typed::<Int64Type>();
                    column.write_batch(&numbers[..count], levels, None).unwrap();
                }
                parquet::column::writer::ColumnWriter::Int32ColumnWriter(_) => {
                    let column = column.typed::<Int32Type>();
                    column.write_batch(&narrow[..count], levels, None).unwrap();
                }
                _ => {
                    let files = [ByteArray::from(&b"caf\xe9"[..]), ByteArray::from("b")];
                    let column = column.typed::<ByteArrayType>();
                    column.write_batch(&files[..count], levels, None).unwrap();
                }
            }
            column.close().unwrap();
        }
        group.close().unwrap();
        writer.into_inner().unwrap().into()
    }
}

#[test]
fn what_others_write_is_read_with_a_warning() {
    let builder = WriterProperties::builder;
    let versions = [
        builder().build(),
        builder().set_dictionary_enabled(false).build(),
        builder().set_compression(Compression::SNAPPY).build(),
        builder()
            .set_writer_version(WriterVersion::PARQUET_2_0)
            .set_dictionary_enabled(false)
            .set_column_encoding("file".into(), Encoding::DELTA_LENGTH_BYTE_ARRAY)
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build(),
        builder()
            .set_dictionary_enabled(false)
            .set_column_encoding("file".into(), Encoding::DELTA_LENGTH_BYTE_ARRAY)
            .build(),
    ];
    for properties in versions {
        let foreign = Foreign { properties, ..Foreign::new() };
        let trace = read(foreign.bytes()).unwrap();
        assert_eq!(trace.files, ["caf\\xe9", "b"]);
        let [first, second] = trace.records.iter().collect::<Vec<_>>()[..] else {
            panic!("{trace:?}");
        };
        assert_eq!((first.time_ns, first.op, first.file_bytes), (10, CacheEvent::Evict, 8192));
        assert_eq!((second.time_ns, second.length_bytes), (20, 4096));
        assert_eq!(second.file_bytes, u64::from(u32::MAX));
        let [facts, order] = &trace.facts.warnings[..] else {
            panic!("{:?}", trace.facts.warnings);
        };
        assert!(facts.contains("without the facts") && order.contains("time order"));
    }
}

#[test]
fn what_is_wrong_is_named() {
    let foreign = |change: fn(&mut Foreign)| {
        let mut foreign = Foreign::new();
        change(&mut foreign);
        refusal(foreign.bytes())
    };
    let cases = [
        (foreign(|f| f.ops = [0, 99]), "row 1 has op 99"),
        (foreign(|f| f.ops = [-1, 0]), "column `op` has -1 in row 0"),
        (foreign(|f| f.ops = [256, 0]), "column `op` has 256 in row 0"),
        (foreign(|f| f.levels = Some([1, 0])), "has no value in row 1"),
        (
            foreign(|f| f.schema = "message m { optional int64 time_ns; }"),
            "no column `op`, only time_ns",
        ),
        (
            foreign(|f| {
                f.schema = "message m { optional int64 time_ns (TIMESTAMP(NANOS, true)); }";
            }),
            "column `time_ns` is INT64 as Timestamp",
        ),
        (
            foreign(|f| f.schema = "message m { optional binary time_ns; }"),
            "column `time_ns` is BYTE_ARRAY",
        ),
        (with_facts("{\"schema\":\"nbuf.trace/9\"}"), "schema `nbuf.trace/9`"),
        (with_facts("{"), "cannot be read (EOF"),
    ];
    for (said, want) in cases {
        assert!(said.contains(want), "{said:?} does not say {want:?}");
    }
}

fn with_facts(json: &str) -> String {
    let facts = KeyValue::new(FACTS_KEY.to_owned(), json.to_owned());
    let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![facts]));
    let foreign = Foreign { properties: properties.build(), ..Foreign::new() };
    refusal(foreign.bytes())
}

/// 5.29 bytes a record (5.49 of ten million). With `NBUF_TEST_RECORDS=10000000` and `--release` it shows the times too.
#[test]
#[expect(clippy::print_stderr, reason = "the figures belong to the verdict")]
#[expect(clippy::disallowed_methods, reason = "times are shown, nothing depends on them")]
fn a_record_takes_few_bytes() {
    let wanted = std::env::var("NBUF_TEST_RECORDS").ok();
    let records = wanted.and_then(|text| text.parse().ok()).unwrap_or(200_000);
    let trace = database_like(records);
    let begun = Instant::now();
    let bytes = written(&trace);
    let wrote = begun.elapsed();
    let each = bytes.len() as f64 / records as f64;
    assert!(each < 6.0, "{each:.2} bytes a record");
    assert!(each > 3.0, "{each:.2} bytes a record: too tame to show anything");
    let begun = Instant::now();
    let got = read(bytes).unwrap();
    let took = begun.elapsed();
    eprintln!(
        "{records} records: {each:.2} bytes each, written in {wrote:.2?}, read in {took:.2?}"
    );
    assert!(got == trace);
}
