//! The manifests of `packaging/kubernetes`, held against the schemas that Kubernetes publishes, unknown fields
//! refused.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use support::{Need, Place, missing, skip};

const PROGRAM: &str = "kubernetes-validate";
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/kubernetes");

#[test]
fn manifests_are_as_kubernetes_wants_them() {
    if let Some(reason) = missing(Need::Program(PROGRAM)) {
        return skip(&reason);
    }
    let validate = |path: &Path| -> Output {
        Command::new(PROGRAM).arg("--strict").arg(path).output().unwrap()
    };
    let place = Place::new();
    let mut names = Vec::new();
    for entry in fs::read_dir(FOLDER).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let output = validate(&path);
        assert!(output.status.success(), "{}: {output:?}", path.display());
        // The same with a field that there is not.
        let text = fs::read_to_string(&path).unwrap();
        let wrong = place.path("wrong.yaml");
        fs::write(&wrong, text.replacen("\nspec:\n", "\nspec:\n  nothing: 1\n", 1)).unwrap();
        assert!(!validate(&wrong).status.success(), "{}", path.display());
        names.push(path.file_name().unwrap().to_owned());
    }
    names.sort();
    assert_eq!(names, ["daemonset.yaml", "fleet.yaml"]);
}
