//! Programs that choose their own memory by the limit that they see: a smaller limit is another program.
//!
//! They are known by a file that they touch. Sources: the manuals of each, at the settings named.

/// A program, by the end of the path of a file that it touches, and the setting that fixes its memory.
struct Row {
    file: &'static str,
    program: &'static str,
    setting: &'static str,
}

const ROWS: &[Row] = &[
    Row { file: "/libjvm.so", program: "the JVM", setting: "-Xmx, or -XX:MaxRAMPercentage" },
    Row { file: "/libcoreclr.so", program: ".NET", setting: "DOTNET_GCHeapHardLimit" },
    Row { file: "/bin/node", program: "Node", setting: "--max-old-space-size" },
    Row {
        file: "/mongod",
        program: "MongoDB",
        setting: "storage.wiredTiger.engineConfig.cacheSizeGB",
    },
    Row { file: "/clickhouse", program: "ClickHouse", setting: "max_server_memory_usage" },
    Row { file: "/libduckdb.so", program: "DuckDB", setting: "SET memory_limit" },
    Row { file: "/bin/duckdb", program: "DuckDB", setting: "SET memory_limit" },
];

/// The programs among these files, each once, with the setting of each.
pub(super) fn found<'a>(
    files: impl IntoIterator<Item = &'a str>,
) -> Vec<(&'static str, &'static str)> {
    let mut found = Vec::new();
    for file in files {
        let is_it = |row: &&Row| file.ends_with(row.file) || is_module_of_duckdb(row, file);
        let Some(row) = ROWS.iter().find(is_it) else { continue };
        if !found.contains(&(row.program, row.setting)) {
            found.push((row.program, row.setting));
        }
    }
    found
}

/// Python's module of `DuckDB` has the program inside, and its own name.
fn is_module_of_duckdb(row: &Row, file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or_default();
    row.program == "DuckDB" && name.starts_with("_duckdb.cpython-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_known_by_their_files() {
        let programs = |files: &[&str]| -> Vec<&str> {
            found(files.iter().copied()).into_iter().map(|(program, _)| program).collect()
        };
        let jvm = "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so";
        assert_eq!(programs(&[jvm, "/usr/bin/node", jvm]), ["the JVM", "Node"]);
        assert_eq!(
            programs(&["/site-packages/_duckdb.cpython-311-x86_64-linux-gnu.so"]),
            ["DuckDB"]
        );
        assert_eq!(programs(&["/srv/node", "/srv/mongod.conf", "libjvm.so"]), Vec::<&str>::new());
    }
}
