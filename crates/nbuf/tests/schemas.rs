//! The JSON Schema of each document is the one that is kept under `docs/schemas`.

use std::fs;
use std::path::Path;

use expect_test::expect_file;
use nbuf::experiment::document::Document;
use nbuf::experiment::result::{
    AdviceDocument, BenchDocument, Comparison, CourseDocument, CurveDocument, DistancesDocument,
    DoctorDocument, FleetDocument, FleetRow, FleetTask, LiveDocument, LiveFollow, LiveFollowed,
    LiveMachine, LoadDocument, LoadHistory, PingDocument, RecordDocument, ReplayDocument,
    RunComparison, RunDocument, ServeDocument, ServeNeeds, SizeReport, SweepDocument,
    TraceDocument, TraceHead, TraceMade, WatchDocument,
};
use nbuf_pdp11::unix::result::{BootDocument, ScanDocument, SweepDocument as UnixDocument};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schemas");

/// The name of the file for a schema: `size-1.json` for `nbuf.size/1`.
fn file(schema: &str) -> String {
    let name = schema.strip_prefix("nbuf.").expect("schemas begin alike");
    format!("{}.json", name.replace('/', "-"))
}

/// What the types say, as it is written.
fn generated<D: Document + JsonSchema>() -> (&'static str, String) {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<D>();
    let mut schema = schema.to_value();
    schema["title"] = D::SCHEMA.into();
    // The name alone is known of the schema that a document says it has.
    schema["properties"]["schema"]["const"] = D::SCHEMA.into();
    (D::SCHEMA, serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n")
}

fn all() -> Vec<(&'static str, String)> {
    vec![
        generated::<AdviceDocument>(),
        generated::<BenchDocument>(),
        generated::<Comparison>(),
        generated::<CourseDocument>(),
        generated::<CurveDocument>(),
        generated::<DistancesDocument>(),
        generated::<DoctorDocument>(),
        generated::<FleetDocument>(),
        generated::<FleetRow>(),
        generated::<FleetTask>(),
        generated::<LiveDocument>(),
        generated::<LiveFollow>(),
        generated::<LiveFollowed>(),
        generated::<LiveMachine>(),
        generated::<LoadDocument>(),
        generated::<LoadHistory>(),
        generated::<PingDocument>(),
        generated::<RecordDocument>(),
        generated::<ReplayDocument>(),
        generated::<RunComparison>(),
        generated::<RunDocument>(),
        generated::<ServeDocument>(),
        generated::<ServeNeeds>(),
        generated::<SizeReport>(),
        generated::<SweepDocument>(),
        generated::<TraceDocument>(),
        generated::<TraceHead>(),
        generated::<TraceMade>(),
        generated::<WatchDocument>(),
        generated::<BootDocument>(),
        generated::<ScanDocument>(),
        generated::<UnixDocument>(),
    ]
}

#[test]
fn the_schemas_are_those_that_are_kept() {
    for (schema, text) in all() {
        expect_file![format!("{FOLDER}/{}", file(schema))].assert_eq(&text);
    }
}

#[test]
fn every_schema_that_is_kept_is_of_a_document_and_in_the_index() {
    let index = fs::read_to_string(Path::new(FOLDER).join("README.md")).expect("there is an index");
    let mut want: Vec<String> = all().into_iter().map(|(schema, _)| file(schema)).collect();
    want.sort();
    let mut kept: Vec<String> = fs::read_dir(FOLDER)
        .expect("there are schemas")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name != "README.md")
        .collect();
    kept.sort();
    assert_eq!(kept, want);
    for (schema, _) in all() {
        assert!(index.contains(&format!("| `{schema}` |")), "{schema}");
        assert!(index.contains(&format!("[{0}]({0})", file(schema))), "{schema}");
    }
}

/// Every field has a description: the schema is the reference of the document.
#[test]
fn every_field_is_described() {
    fn fields(at: &str, schema: &Value, missing: &mut Vec<String>) {
        let Value::Object(object) = schema else { return };
        for (name, field) in
            object.get("properties").and_then(Value::as_object).into_iter().flatten()
        {
            if field.get("description").is_none() {
                missing.push(format!("{at}.{name}"));
            }
        }
        for (name, inner) in object {
            fields(&format!("{at}.{name}"), inner, missing);
        }
    }
    let mut missing = Vec::new();
    for (schema, text) in all() {
        fields(schema, &serde_json::from_str(&text).expect("a schema is JSON"), &mut missing);
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
