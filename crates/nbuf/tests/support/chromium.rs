//! A Chromium without a window. It is driven by its `DevTools` protocol over a pipe, so that keys and
//! pointer are those of the browser and not events of a script.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The protocol is on descriptors 3 and 4. The time ends a browser that hangs.
const START: &str = "exec timeout 600 chromium --headless --no-sandbox --disable-gpu \
     --remote-debugging-pipe \"--user-data-dir=$0\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";

pub(crate) struct Chromium {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    folder: TempDir,
    session: String,
    calls: u64,
    loads: u64,
    complaints: Vec<String>,
}

impl Chromium {
    /// Whether the browser is installed.
    pub(crate) fn is_here() -> bool {
        Command::new("chromium").arg("--version").output().is_ok_and(|said| said.status.success())
    }

    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new("sh")
            .args(["-c", START])
            .arg(folder.path().join("profile"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (from, session, complaints) = (BufReader::new(from), String::new(), Vec::new());
        let mut browser = Self { child, to, from, folder, session, calls: 0, loads: 0, complaints };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let target = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", &target);
        attached["sessionId"].as_str().unwrap().clone_into(&mut browser.session);
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser.call("Emulation.setFocusEmulationEnabled", &json!({ "enabled": true }));
        browser
    }

    /// Shows a page in a window of this width, in pixels, until it is loaded.
    pub(crate) fn show(&mut self, page: &str, width: u32) {
        let path = self.folder.path().join("page.html");
        fs::write(&path, page).unwrap();
        let size =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &size);
        self.complaints.clear();
        let before = self.loads;
        self.call("Page.navigate", &json!({ "url": format!("file://{}", path.display()) }));
        while self.loads == before {
            self.read();
        }
    }

    /// Exceptions of scripts and messages of the browser since the page was shown.
    pub(crate) fn complaints(&self) -> &[String] {
        &self.complaints
    }

    /// The value of an expression of the page.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let ask = json!({ "expression": expression, "returnByValue": true });
        let mut answer = self.call("Runtime.evaluate", &ask);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].take()
    }

    /// Presses a key by its name and its code in Windows.
    pub(crate) fn press(&mut self, (key, code): (&str, u8)) {
        for kind in ["rawKeyDown", "keyUp"] {
            let event =
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            self.call("Input.dispatchKeyEvent", &event);
        }
    }

    /// Moves the pointer to a place of the window.
    pub(crate) fn point(&mut self, [x, y]: [f64; 2]) {
        self.call("Input.dispatchMouseEvent", &json!({ "type": "mouseMoved", "x": x, "y": y }));
    }

    /// A call of the protocol, with its answer.
    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.calls += 1;
        let mut ask = json!({ "id": self.calls, "method": method, "params": parameters });
        if !self.session.is_empty() {
            ask["sessionId"] = self.session.as_str().into();
        }
        self.to.write_all(format!("{ask}\0").as_bytes()).unwrap();
        loop {
            let mut answer = self.read();
            if answer["id"] == self.calls {
                assert!(answer.get("error").is_none(), "{ask}: {answer}");
                return answer["result"].take();
            }
        }
    }

    /// The next message.
    fn read(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes).unwrap();
        assert_eq!(bytes.pop(), Some(0), "the browser ended");
        let message: Value = serde_json::from_slice(&bytes).unwrap();
        match message["method"].as_str() {
            Some("Page.loadEventFired") => self.loads += 1,
            Some("Runtime.exceptionThrown" | "Log.entryAdded") => {
                self.complaints.push(message["params"].to_string());
            }
            _ => {}
        }
        message
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.to.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let _ = self.child.wait();
    }
}
