//! What client and server agree on before the first request, as a function of bytes.
//!
//! Fixed newstyle. Names and options are bounded, so that a client cannot make the server keep more than 64 KiB
//! of them. Any option that is unknown is refused, and the next one is read.
//!
//! Invariant: nothing that came in plain is used after STARTTLS. Bytes behind that option end the connection, and
//! what was agreed before it is forgotten.

use super::export::{Context, Export, named};
use crate::disc::nbd::wire::{self, Form, Words, info, option, reply};

/// The most options of a client: a proper one has about ten.
const OPTIONS_MAX: u32 = 256;
/// The longest option.
const OPTION_BYTES_MAX: usize = 64 << 10;

/// What is agreed on TLS, or may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Secrecy {
    /// The server has no certificate.
    #[default]
    Absent,
    /// A client may ask for TLS.
    Offered,
    /// A client must ask for TLS first.
    Required,
    /// What comes was sealed.
    Agreed,
}

/// What a handshake is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// More bytes are needed.
    More,
    /// When the answer is sent, TLS begins, and the handshake goes on inside it.
    Secure,
    /// Requests follow.
    Ready,
    /// The connection ends, when the answer is sent.
    Over,
}

/// The agreement with one client.
#[derive(Clone, Debug, Default)]
pub struct Handshake {
    has_flags: bool,
    is_over: bool,
    no_zeroes: bool,
    options: u32,
    secrecy: Secrecy,
    /// How requests and replies are framed.
    pub form: Form,
    /// What the client may ask about.
    pub contexts: Vec<Context>,
    /// The export of these.
    contexts_of: usize,
    /// The export that was chosen, by its number.
    pub chosen: usize,
}

impl Handshake {
    /// The first bytes of the server.
    pub fn greeting() -> Vec<u8> {
        let mut out = wire::GREETING.to_be_bytes().to_vec();
        out.extend_from_slice(&wire::OPTION.to_be_bytes());
        out.extend_from_slice(&(wire::FIXED_NEWSTYLE | wire::NO_ZEROES).to_be_bytes());
        out
    }

    /// A handshake that has not begun.
    pub fn new(secrecy: Secrecy) -> Self {
        Self { secrecy, ..Self::default() }
    }

    /// What is left of it when TLS begins: a server that kept more would let others agree for the client.
    fn secured(&self) -> Self {
        let (has_flags, no_zeroes, options) = (self.has_flags, self.no_zeroes, self.options);
        Self { has_flags, no_zeroes, options, ..Self::new(Secrecy::Agreed) }
    }

    /// Takes bytes from a client: how many, and what follows. Answers are appended to `out`. When it is over, all that
    /// came and comes is taken and nothing is answered.
    pub fn take(&mut self, exports: &[Export], input: &[u8], out: &mut Vec<u8>) -> (usize, Step) {
        let (taken, step) =
            if self.is_over { (0, Step::Over) } else { self.steps(exports, input, out) };
        self.is_over = step == Step::Over;
        (if self.is_over { input.len() } else { taken }, step)
    }

    fn steps(&mut self, exports: &[Export], input: &[u8], out: &mut Vec<u8>) -> (usize, Step) {
        let mut taken = 0;
        loop {
            let mut words = Words(&input[taken..]);
            if !self.has_flags {
                let Some(flags) = words.u32() else { return (taken, Step::More) };
                taken += 4;
                let known = u32::from(wire::FIXED_NEWSTYLE | wire::NO_ZEROES);
                if flags & !known != 0 {
                    return (taken, Step::Over);
                }
                self.has_flags = true;
                self.no_zeroes = flags & u32::from(wire::NO_ZEROES) != 0;
                continue;
            }
            let (Some(magic), Some(kind), Some(length)) = (words.u64(), words.u32(), words.u32())
            else {
                return (taken, Step::More);
            };
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            let is_much = length > OPTION_BYTES_MAX || self.options == OPTIONS_MAX;
            if magic != wire::OPTION || is_much {
                return (taken, Step::Over);
            }
            let Some(data) = words.bytes(length) else { return (taken, Step::More) };
            taken += 16 + length;
            self.options += 1;
            match self.option(exports, kind, data, out) {
                Step::More => {}
                // A client waits for the answer: what follows the option is of another.
                Step::Secure if taken < input.len() => return (taken, Step::Over),
                Step::Secure => {
                    answer(out, kind, reply::ACK, &[]);
                    *self = self.secured();
                    return (taken, Step::Secure);
                }
                step => return (taken, step),
            }
        }
    }

    fn option(&mut self, exports: &[Export], kind: u32, data: &[u8], out: &mut Vec<u8>) -> Step {
        let is_early = self.secrecy == Secrecy::Required
            && !matches!(kind, option::STARTTLS | option::ABORT | option::EXPORT_NAME);
        if is_early {
            answer(out, kind, reply::TLS_REQUIRED, b"this server needs TLS: STARTTLS comes first");
            return Step::More;
        }
        match kind {
            // It has no answer that refuses.
            option::EXPORT_NAME if self.secrecy == Secrecy::Required => return Step::Over,
            option::EXPORT_NAME => {
                let Some(chosen) = named(exports, data) else { return Step::Over };
                self.choose(chosen);
                let export = &exports[chosen];
                out.extend_from_slice(&export.size_bytes.to_be_bytes());
                out.extend_from_slice(&export.flags().to_be_bytes());
                if !self.no_zeroes {
                    out.extend_from_slice(&[0; 124]);
                }
                return Step::Ready;
            }
            option::ABORT => {
                answer(out, kind, reply::ACK, &[]);
                return Step::Over;
            }
            option::STARTTLS if self.secrecy != Secrecy::Absent => {
                if data.is_empty() && self.secrecy != Secrecy::Agreed {
                    return Step::Secure;
                }
                answer(out, kind, reply::INVALID, b"TLS is agreed already, or the option has data");
            }
            option::LIST if data.is_empty() => {
                for export in exports {
                    answer(out, kind, reply::SERVER, &prefixed(export.name.as_bytes()));
                }
                answer(out, kind, reply::ACK, &[]);
            }
            option::STRUCTURED_REPLY | option::EXTENDED_HEADERS => self.frame(kind, data, out),
            option::INFO | option::GO => {
                let chosen = information(exports, kind, data, out);
                if let Some(chosen) = chosen.filter(|_| kind == option::GO) {
                    self.choose(chosen);
                    return Step::Ready;
                }
            }
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => {
                self.contexts(exports, kind, data, out);
            }
            option::LIST => answer(out, kind, reply::INVALID, &[]),
            _ => answer(out, kind, reply::UNSUPPORTED, &[]),
        }
        Step::More
    }

    /// Agrees on replies in chunks, and on long headers, which have those too.
    fn frame(&mut self, kind: u32, data: &[u8], out: &mut Vec<u8>) {
        let is_extended = self.form == Form::Extended;
        let said = match kind {
            _ if !data.is_empty() => reply::INVALID,
            option::STRUCTURED_REPLY if is_extended => reply::EXTENDED_HEADERS_AGREED,
            _ if is_extended => reply::INVALID,
            _ => reply::ACK,
        };
        if said == reply::ACK {
            let is_long = kind == option::EXTENDED_HEADERS;
            self.form = if is_long { Form::Extended } else { Form::Structured };
        }
        answer(out, kind, said, &[]);
    }

    /// Requests are of this export. What the client may ask about of another is forgotten.
    fn choose(&mut self, export: usize) {
        if self.contexts_of != export {
            self.contexts.clear();
        }
        self.chosen = export;
    }

    fn contexts(&mut self, exports: &[Export], kind: u32, data: &[u8], out: &mut Vec<u8>) {
        let sets = kind == option::SET_META_CONTEXT;
        if sets {
            self.contexts.clear();
        }
        let mut words = Words(data);
        let name = words.text();
        let queries = words
            .u32()
            .map(|count| -> Option<Vec<&[u8]>> { (0..count).map(|_| words.text()).collect() });
        let (Some(name), Some(Some(queries))) = (name, queries) else {
            return answer(out, kind, reply::INVALID, b"the queries are not whole");
        };
        if self.form == Form::Simple || !words.0.is_empty() {
            return answer(out, kind, reply::INVALID, b"structured replies come first");
        }
        let Some(export) = named(exports, name) else {
            return answer(out, kind, reply::UNKNOWN, &[]);
        };
        if sets {
            self.contexts_of = export;
        }
        for context in Context::ALL {
            let is_asked = |query: &&[u8]| {
                let all = [b"base:".as_slice(), b"nbuf:"];
                let is_prefix = all.contains(query) && context.name().as_bytes().starts_with(query);
                *query == context.name().as_bytes() || !sets && is_prefix
            };
            if queries.iter().any(is_asked) || !sets && queries.is_empty() {
                let mut payload = if sets { context.id() } else { 0 }.to_be_bytes().to_vec();
                payload.extend_from_slice(context.name().as_bytes());
                answer(out, kind, reply::META_CONTEXT, &payload);
                if sets {
                    self.contexts.push(context);
                }
            }
        }
        answer(out, kind, reply::ACK, &[]);
    }
}

fn prefixed(text: &[u8]) -> Vec<u8> {
    let length = u32::try_from(text.len()).unwrap_or(0);
    [&length.to_be_bytes(), text].concat()
}

/// Answers about an export; its number, if there is one.
fn information(exports: &[Export], kind: u32, data: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let mut words = Words(data);
    let name = words.text();
    let count = words.u16();
    let asked: Option<Vec<u16>> = count.and_then(|count| (0..count).map(|_| words.u16()).collect());
    let (Some(name), Some(asked)) = (name, asked) else {
        answer(out, kind, reply::INVALID, b"the option is not whole");
        return None;
    };
    let Some(chosen) = named(exports, name) else {
        answer(out, kind, reply::UNKNOWN, b"no export has this name");
        return None;
    };
    let export = &exports[chosen];
    let mut payload = info::EXPORT.to_be_bytes().to_vec();
    payload.extend_from_slice(&export.size_bytes.to_be_bytes());
    payload.extend_from_slice(&export.flags().to_be_bytes());
    answer(out, kind, reply::INFO, &payload);
    let mut payload = info::BLOCK_SIZE.to_be_bytes().to_vec();
    for size in [1, export.page_bytes, export.request_bytes_max] {
        payload.extend_from_slice(&size.to_be_bytes());
    }
    answer(out, kind, reply::INFO, &payload);
    if asked.contains(&info::NAME) {
        let payload = [&info::NAME.to_be_bytes(), export.name.as_bytes()].concat();
        answer(out, kind, reply::INFO, &payload);
    }
    answer(out, kind, reply::ACK, &[]);
    Some(chosen)
}

fn answer(out: &mut Vec<u8>, kind: u32, reply: u32, payload: &[u8]) {
    out.extend_from_slice(&wire::OPTION_REPLY.to_be_bytes());
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&reply.to_be_bytes());
    let length = u32::try_from(payload.len()).unwrap_or(0);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(payload);
}

#[cfg(test)]
mod tests;
