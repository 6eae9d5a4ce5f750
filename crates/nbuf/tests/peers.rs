//! Commands whose work is done by a server that ran before: it is named, with what it did, and is not the command's.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use support::{Need, Place, requires_shared};

/// Serves what is in its folder, at a Unix socket or a port that it chooses, and prints where.
const SERVER: &str = "
import http.server, os, socketserver, sys
class Unix(socketserver.UnixStreamServer):
    def get_request(self):
        connection, _ = super().get_request()
        return connection, ('client', 0)
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        sum(range(3_000_000))
        super().do_GET()
if sys.argv[1] == 'unix':
    server, url = Unix('socket', Quiet), 'http://here/file'
else:
    server = http.server.HTTPServer(('127.0.0.1', 0), Quiet)
    url = f'http://127.0.0.1:{server.server_port}/file'
print(os.getpid(), url, flush=True)
server.serve_forever()
";

/// A server that runs, until it is dropped.
struct Server {
    child: Child,
    pid: u32,
    url: String,
}

impl Server {
    fn start(place: &Place, kind: &str) -> Self {
        let mut python = Command::new("python3");
        python.args(["-c", SERVER, kind]).current_dir(place.path("."));
        let mut child = python.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (pid, url) = line.trim().split_once(' ').unwrap();
        Self { child, pid: pid.parse().unwrap(), url: url.to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const NEEDS: [Need; 3] = [Need::Tracepoints, Need::Program("python3"), Need::Program("curl")];

/// The warning about a server, if there is one.
fn warning(place: &Place, capture: &str, command: &[&str]) -> Option<String> {
    let sized = place.size(&["--json", "--no-verify", "--capture", capture], command);
    let document = sized.json();
    assert_eq!(document["exit_status"], 0, "{sized:?}");
    let warnings = document["warnings"].as_array().unwrap();
    let mut warnings = warnings.iter().map(|warning| warning.as_str().unwrap().to_owned());
    warnings.find(|warning| warning.contains("work was done by"))
}

#[test]
fn a_server_that_ran_before_is_named() {
    let Some(_lock) = requires_shared(&NEEDS) else { return };
    let place = Place::new();
    place.file("file", 4 << 20);
    for (kind, options) in [("tcp", &[][..]), ("unix", &["--unix-socket", "socket"][..])] {
        let server = Server::start(&place, kind);
        let url = server.url.as_str();
        // As many requests as take a while.
        let urls = format!("{url}?[1-10]");
        let command = [&["curl", "-sf", "-o", "out"][..], options, &[urls.as_str()]].concat();
        for capture in ["perf", "calls"] {
            let warning = warning(&place, capture, &command).unwrap_or_default();
            let is_there = |words: &str| {
                assert!(warning.contains(words), "{kind} {capture}: {words}: {warning}");
            };
            is_there("most work was done by python");
            is_there(&format!("(process {})", server.pid));
            is_there("`nbuf size -- python");
            let tcp = url.trim_start_matches("http://").trim_end_matches("/file");
            is_there(&format!("connected at {}", if kind == "unix" { "socket" } else { tcp }));
        }
    }
}

#[test]
fn a_server_that_the_command_starts_is_part_of_it() {
    let Some(_lock) = requires_shared(&NEEDS) else { return };
    let place = Place::new();
    place.file("file", 4 << 20);
    std::fs::write(place.path("server.py"), SERVER).unwrap();
    // As a shell starts it, by a process in between; and it is the command that connects to it.
    let script = "rm -f at; python3 server.py unix >at & server=$!
        while ! [ -s at ]; do sleep 0.05; done
        curl -sf -o out --unix-socket socket 'http://here/file?[1-10]'; status=$?
        kill $(cut -d' ' -f1 at) $server; exit $status";
    for capture in ["perf", "calls"] {
        assert_eq!(warning(&place, capture, &["sh", "-c", script]), None, "{capture}");
        std::fs::remove_file(place.path("socket")).unwrap();
    }
}
