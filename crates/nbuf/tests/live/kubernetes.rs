//! The files for Kubernetes, without a cluster: what the manifest grants, and what the plug-in runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::support::{Need, Place, requires_shared, skip};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/kubernetes");

/// Prints the manifest as JSON.
const AS_JSON: &str =
    "import json, sys, yaml; json.dump(yaml.safe_load(open(sys.argv[1])), sys.stdout)";

#[test]
fn the_manifest_grants_five_capabilities_and_nothing_of_the_node_to_write() {
    let Some(_lock) = requires_shared(&[Need::Program("python3")]) else { return };
    let manifest = format!("{FOLDER}/daemonset.yaml");
    let output = Command::new("python3").args(["-c", AS_JSON, &manifest]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    if error.contains("No module named 'yaml'") {
        return skip("python3 has no yaml");
    }
    let manifest: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&error);
    let pod = &manifest["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    let security = &container["securityContext"];
    assert_eq!(pod["hostPID"], true);
    assert_eq!(pod["automountServiceAccountToken"], false);
    assert_eq!(
        (&security["privileged"], &security["allowPrivilegeEscalation"]),
        (&serde_json::Value::Null, &false.into())
    );
    let wanted = ["PERFMON", "BPF", "SYS_PTRACE", "DAC_READ_SEARCH", "SYS_ADMIN"];
    assert_eq!(security["capabilities"]["add"], serde_json::json!(wanted));
    let of_the_node = |name: &serde_json::Value| {
        let volumes = pod["volumes"].as_array().unwrap();
        volumes.iter().any(|volume| volume["name"] == *name && !volume["hostPath"].is_null())
    };
    let mounts = container["volumeMounts"].as_array().unwrap();
    let mounts: Vec<_> = mounts.iter().filter(|mount| of_the_node(&mount["name"])).collect();
    assert!(
        mounts.len() == 3 && mounts.iter().all(|mount| mount["readOnly"] == true),
        "{mounts:?}"
    );
    // nbuf understands its arguments: the pod is not here, and the line says so.
    let args: Vec<&str> =
        container["args"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert_eq!(args[0], "size");
    let place = Place::new();
    let help = place.nbuf([&args[..], &["--for", "1s"]].concat()).output().unwrap();
    let text = String::from_utf8_lossy(&help.stderr);
    // The one mistake is the one that was made here.
    assert!(help.status.code() == Some(2) && text.contains("'--for <TIME>'"), "{text}");
}

#[test]
fn the_plug_in_runs_nbuf_on_the_node_of_the_pod() {
    let place = Place::new();
    let fake = place.path("kubectl");
    // Stands for a cluster: gives the place of a pod, and prints what else it is asked.
    let script = "#!/bin/sh\nif [ \"$1\" = get ]; then printf '%s\\n' \"$@\" >asked; echo \"$PLACE\"; exit 0; fi\n\
                  printf '%s\\n' \"$@\"\n";
    fs::write(&fake, script).unwrap();
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", place.path("").display(), std::env::var("PATH").unwrap());
    let run = |words: &[&str], at: &str| {
        let mut plug_in = Command::new(format!("{FOLDER}/kubectl-nbuf"));
        plug_in.args(words).env("PATH", &path).env("PLACE", at).current_dir(place.path(""));
        let output = plug_in.env_remove("NBUF_IMAGE").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), text, error)
    };
    let checked = Command::new("sh").arg("-n").arg(format!("{FOLDER}/kubectl-nbuf")).status();
    assert!(checked.unwrap().success());
    let at = "worker-2 6a8c1b7e-1d6c-4f0e-9d5b-0a1b2c3d4e5f";
    let (status, text, _) = run(&["size", "db 0", "-n", "shop", "--for", "30s"], at);
    let want = [
        "debug",
        "node/worker-2",
        "--namespace=shop",
        "--profile=sysadmin",
        "--image=nbuf:latest",
        "--attach=true",
        "--quiet",
        "--",
        "/nbuf",
        "size",
        "--cgroup",
        "/host/sys/fs/cgroup/**/*pod6a8c1b7e?1d6c?4f0e?9d5b?0a1b2c3d4e5f*",
        "--for",
        "30s",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), want);
    assert_eq!(status, Some(0));
    let asked = fs::read_to_string(place.path("asked")).unwrap();
    assert!(asked.starts_with("get\npod\ndb 0\n--namespace=shop\n-o\n"), "{asked}");
    // A pod that waits for a node, and calls that mean nothing.
    let (status, text, error) = run(&["size", "db-0"], " 6a8c1b7e");
    assert!(
        status == Some(1) && text.is_empty() && error.contains("wait until it runs"),
        "{error}"
    );
    for words in
        [&[][..], &["size"], &["sizes", "db-0"], &["size", "--for"], &["size", "db-0", "-n"]]
    {
        let (status, text, error) = run(words, at);
        assert!(
            status == Some(2) && text.is_empty() && error.contains("usage:"),
            "{words:?}: {error}"
        );
    }
}
