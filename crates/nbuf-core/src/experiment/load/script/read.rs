//! From the text to the users.

use std::ops::RangeInclusive;
use std::time::Duration;

use toml::de::DeTable;

use super::section::{Section, Value, error, meant};
use super::{Action, Arrivals, Class, Script, ScriptError, Server, Think, What};

/// A day: longer think times are a slip of the pen.
const SECONDS: RangeInclusive<f64> = 0.0..=86_400.0;
/// Weights, and rates in a second.
const POSITIVE: RangeInclusive<f64> = 1e-6..=1e6;
/// When a request has failed, unless the script says otherwise.
const TIMEOUT_SECONDS: f64 = 30.0;

const SCRIPT_KEYS: [&str; 3] = ["seed", "class", "server"];
const SERVER_KEYS: [&str; 2] = ["run", "ready"];
const CLASS_KEYS: [&str; 7] =
    ["name", "share", "think", "arrivals", "rate_per_second", "command", "request"];
const COMMAND_KEYS: [&str; 2] = ["run", "weight"];
const REQUEST_KEYS: [&str; 3] = ["get", "timeout_seconds", "weight"];
const THINK_KEYS: [&str; 5] = ["kind", "seconds", "mean_seconds", "deviation_seconds", "file"];
const THINK_KINDS: [&str; 4] = ["fixed", "exponential", "lognormal", "recorded"];
const ARRIVALS: [&str; 2] = ["closed", "open"];

pub(super) fn script(text: &str) -> Result<Script, ScriptError> {
    let table = DeTable::parse(text).map_err(|wrong| {
        let what = wrong.message().split_whitespace().collect::<Vec<_>>().join(" ");
        error(text, wrong.span().unwrap_or(0..0), format!("this is no TOML: {what}"))
    })?;
    let top = Section::new(text, (table.get_ref(), 0..0), "a script", &SCRIPT_KEYS)?;
    let items = top.list("class")?;
    if items.is_empty() {
        return Err(top.wrong("has no class of users: add one, which begins with `[[class]]`"));
    }
    let mut classes: Vec<Class> = Vec::new();
    for item in items {
        let read = class(text, item)?;
        if classes.iter().any(|other| other.name == read.name) {
            let what = format!("two classes have the name `{}`: rename one", read.name);
            return Err(error(text, item.span(), what));
        }
        classes.push(read);
    }
    let servers = top.list("server")?.iter().map(|item| server(text, item));
    let servers = servers.collect::<Result<_, _>>()?;
    Ok(Script { seed: top.whole("seed")?.unwrap_or(0), classes, servers })
}

fn server(text: &str, item: &Value<'_>) -> Result<Server, ScriptError> {
    let section = Section::of(text, item, "a server", &SERVER_KEYS)?;
    let words = |key: &str, missing: &str| {
        let words = section.words(key)?;
        let is_missing = words.first().is_none_or(String::is_empty);
        if is_missing { Err(section.wrong(missing)) } else { Ok(words) }
    };
    Ok(Server {
        run: words("run", "runs nothing: add `run = [\"PROGRAM\", \"ARGUMENT\"]`")?,
        ready: words(
            "ready",
            "does not say when users can begin: add `ready = [\"PROGRAM\", \"ARGUMENT\"]`, a command that \
             succeeds then",
        )?,
    })
}

fn class(text: &str, item: &Value<'_>) -> Result<Class, ScriptError> {
    let section = Section::of(text, item, "a class", &CLASS_KEYS)?;
    let name = section.text("name")?.unwrap_or_default();
    if name.is_empty() {
        return Err(section.wrong("has no name: add `name = \"shell\"`"));
    }
    let arrivals = arrivals(&section)?;
    let think = match section.value("think") {
        Some(value) if arrivals != Arrivals::Closed => {
            let what = "open arrivals do not wait for a user to think: remove `think`, or write \
                        `arrivals = \"closed\"`";
            return Err(section.wrong_at(value, what));
        }
        Some(value) => think(text, value)?,
        None => Think::default(),
    };
    let mut actions = Vec::new();
    for item in section.list("command")? {
        actions.push(command(text, item)?);
    }
    for item in section.list("request")? {
        actions.push(request(text, item)?);
    }
    if actions.is_empty() {
        return Err(section.wrong(
            "does nothing: add a command, which begins with `[[class.command]]`, or a request, which \
             begins with `[[class.request]]`",
        ));
    }
    let share = section.number("share", POSITIVE)?.unwrap_or(1.0);
    Ok(Class { name, share, think, arrivals, actions })
}

fn arrivals(section: &Section<'_, '_>) -> Result<Arrivals, ScriptError> {
    let rate = section.number("rate_per_second", POSITIVE)?;
    let word = section.text("arrivals")?.unwrap_or_else(|| ARRIVALS[0].to_owned());
    match (word.as_str(), rate) {
        ("closed", None) => Ok(Arrivals::Closed),
        ("open", Some(rate_per_second)) => Ok(Arrivals::Open { rate_per_second }),
        ("open", None) => Err(section.wrong(
            "has open arrivals without a rate: add `rate_per_second = 10`, the arrivals of the whole \
             class in a second",
        )),
        ("closed", Some(_)) => Err(section.wrong(
            "has a rate and closed arrivals: remove `rate_per_second`, or write `arrivals = \"open\"`",
        )),
        (other, _) => {
            let what = format!("there are no arrivals `{other}`: {}", meant(other, &ARRIVALS));
            Err(section.value("arrivals").map_or_else(
                || section.wrong(&what),
                |value| section.wrong_at(value, &what),
            ))
        }
    }
}

fn think(text: &str, value: &Value<'_>) -> Result<Think, ScriptError> {
    let section = Section::of(text, value, "a think time", &THINK_KEYS)?;
    let kind = section.text("kind")?;
    let missing = |key: &str| section.wrong(format!("of this kind has no `{key}`: add it"));
    let unused = |keys: &[&str]| {
        let found = keys.iter().find_map(|key| section.value(key).map(|value| (key, value)));
        found.map_or(Ok(()), |(key, value)| {
            Err(section
                .wrong_at(value, format!("a think time of this kind has no `{key}`: remove it")))
        })
    };
    let number = |key: &str| section.number(key, SECONDS)?.ok_or_else(|| missing(key));
    match kind.as_deref() {
        Some("fixed") => {
            unused(&["mean_seconds", "deviation_seconds", "file"])?;
            Ok(Think::Fixed { seconds: number("seconds")? })
        }
        Some("exponential") => {
            unused(&["seconds", "deviation_seconds", "file"])?;
            Ok(Think::Exponential { mean_seconds: number("mean_seconds")? })
        }
        Some("lognormal") => {
            unused(&["seconds", "file"])?;
            let deviation_seconds = number("deviation_seconds")?;
            Ok(Think::Lognormal { mean_seconds: number("mean_seconds")?, deviation_seconds })
        }
        Some("recorded") => {
            unused(&["seconds", "mean_seconds", "deviation_seconds"])?;
            let file = section.text("file")?.filter(|file| !file.is_empty());
            Ok(Think::Recorded { file: file.ok_or_else(|| missing("file"))?, seconds: Vec::new() })
        }
        Some(other) => {
            let what = format!("there is no think time `{other}`: {}", meant(other, &THINK_KINDS));
            Err(section.wrong_at(section.value("kind").unwrap_or(value), what))
        }
        None => Err(section.wrong(format!("has no `kind`: {}", meant("", &THINK_KINDS)))),
    }
}

fn command(text: &str, item: &Value<'_>) -> Result<Action, ScriptError> {
    let section = Section::of(text, item, "a command", &COMMAND_KEYS)?;
    let run = section.words("run")?;
    if run.first().is_none_or(String::is_empty) {
        return Err(section.wrong("runs nothing: add `run = [\"PROGRAM\", \"ARGUMENT\"]`"));
    }
    Ok(Action { what: What::Command { run }, weight: weight(&section)? })
}

fn request(text: &str, item: &Value<'_>) -> Result<Action, ScriptError> {
    let section = Section::of(text, item, "a request", &REQUEST_KEYS)?;
    let get = section.text("get")?.unwrap_or_default();
    if get.is_empty() {
        return Err(section.wrong("has no address: add `get = \"http://127.0.0.1:8080/\"`"));
    }
    if let Some(value) = section.value("get").filter(|_| !is_address(&get)) {
        let what = format!("`{get}` is no address that nbuf can ask: begin it with `http://HOST`");
        return Err(section.wrong_at(value, what));
    }
    let seconds = section.number("timeout_seconds", 0.001..=3600.0)?.unwrap_or(TIMEOUT_SECONDS);
    let timeout = Duration::from_secs_f64(seconds);
    Ok(Action { what: What::Request { get, timeout }, weight: weight(&section)? })
}

fn is_address(get: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_graphic();
    let host = get.strip_prefix("http://").and_then(|rest| rest.split(['/', '?', '#']).next());
    host.is_some_and(|host| !host.is_empty()) && get.chars().all(is_plain)
}

fn weight(section: &Section<'_, '_>) -> Result<f64, ScriptError> {
    Ok(section.number("weight", POSITIVE)?.unwrap_or(1.0))
}
