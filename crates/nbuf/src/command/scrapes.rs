//! Answers scrapes of `--metrics` by HTTP.
//!
//! A user who can connect can read. Without another address that is this machine alone.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::{Context, Result};
use tiny_http::{Header, Method, Request, Response, Server};

use crate::fail::say;

/// The type of the answer, in the words of the `OpenMetrics` specification.
const KIND: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Makes the text that is scraped.
pub(super) trait Text: Send + Sync + 'static {
    /// The text of this moment.
    fn text(&self) -> String;
}

/// Serves the text in a thread of its own until the program ends, and says where. Signals must be blocked before, or
/// its threads take them.
pub(super) fn serve(address: SocketAddr, metrics: Arc<dyn Text>) -> Result<()> {
    let server = Server::http(address)
        .map_err(|error| match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        })
        .with_context(|| format!("cannot listen at {address}; give another port or address"))?;
    // The port is known only now if 0 was asked for.
    let address = server.server_addr().to_ip().unwrap_or(address);
    let thread = std::thread::Builder::new().name("scrapes".to_owned());
    let begun = thread.spawn(move || {
        for request in server.incoming_requests() {
            // A client that went away is no one's error.
            let _ = answer(request, &*metrics);
        }
    });
    begun.context("cannot start a thread for the metrics")?;
    say(format!("metrics at http://{address}/metrics"));
    Ok(())
}

fn answer(request: Request, metrics: &dyn Text) -> io::Result<()> {
    if !matches!(request.method(), Method::Get | Method::Head) {
        return request
            .respond(Response::from_string("only GET is answered\n").with_status_code(405));
    }
    if request.url() != "/metrics" {
        let text = "the metrics are at /metrics\n";
        return request.respond(Response::from_string(text).with_status_code(404));
    }
    let mut response = Response::from_string(metrics.text());
    if let Ok(kind) = Header::from_bytes("Content-Type", KIND) {
        response.add_header(kind);
    }
    request.respond(response)
}

/// An address, or a port of this machine alone.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    let wanted = "write a port, such as 9464, or an address, such as 127.0.0.1:9464 or [::1]:9464";
    text.parse().map_err(|_| wanted.to_owned())
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn a_port_alone_is_of_this_machine() {
        for (text, means) in [
            ("9464", Some("127.0.0.1:9464")),
            ("0.0.0.0:80", Some("0.0.0.0:80")),
            ("[::1]:0", Some("[::1]:0")),
            ("", None),
            (":9464", None),
            ("localhost:9464", None),
            ("65536", None),
        ] {
            let address = address(text).ok().map(|address| address.to_string());
            assert_eq!(address.as_deref(), means, "{text}");
        }
    }
}
