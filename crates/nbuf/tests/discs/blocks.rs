//! The parameter files of `DiskSim`: `key = value` in blocks, lists and numbers.
//!
//! As much of the language as its models of drives are written in. What is not understood is left out;
//! nothing panics.

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Words(String),
    List(Vec<Value>),
    Block(Vec<(String, Value)>),
}

impl Value {
    /// What a block says of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Block(entries) => {
                entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
            }
            Self::Words(_) | Self::List(_) => None,
        }
    }

    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        match self.get(key)? {
            Self::Words(words) => words.parse().ok(),
            Self::List(_) | Self::Block(_) => None,
        }
    }

    /// A number that is no fraction and not negative.
    pub(crate) fn count(&self, key: &str) -> Option<u64> {
        let number = self.number(key)?;
        (0.0..1e15).contains(&number).then(|| format!("{number:.0}").parse().ok())?
    }

    pub(crate) fn list(&self, key: &str) -> &[Self] {
        match self.get(key) {
            Some(Self::List(items)) => items,
            _ => &[],
        }
    }
}

/// The first block of a file.
pub(crate) fn parse(text: &str) -> Option<Value> {
    let mut tokens = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or("");
        let mut word = String::new();
        for letter in line.chars().chain([' ']) {
            let mark = "{}[]=,".contains(letter);
            if (mark || letter.is_whitespace()) && !word.is_empty() {
                tokens.push(std::mem::take(&mut word));
            }
            match (mark, letter.is_whitespace()) {
                (true, _) => tokens.push(letter.to_string()),
                (false, false) => word.push(letter),
                (false, true) => {}
            }
        }
    }
    let start = tokens.iter().position(|token| token == "{")?;
    let mut tokens = tokens[start + 1..].iter().map(String::as_str);
    Some(block(&mut tokens, 0))
}

/// Deeper nesting than any model has is taken for an end.
const DEPTH_MAX: usize = 16;

fn block<'a>(tokens: &mut impl Iterator<Item = &'a str>, depth: usize) -> Value {
    let (mut entries, mut words) = (Vec::new(), Vec::new());
    while let Some(token) = tokens.next() {
        match token {
            "=" if depth < DEPTH_MAX => {
                let key = words.join(" ");
                words.clear();
                let (value, last) = value(tokens, depth + 1);
                entries.push((key, value));
                if last {
                    break;
                }
            }
            "}" => break,
            "," => words.clear(),
            word => words.push(word),
        }
    }
    Value::Block(entries)
}

/// A value, and whether the block or list around it ends with it.
fn value<'a>(tokens: &mut impl Iterator<Item = &'a str>, depth: usize) -> (Value, bool) {
    let (mut words, mut whole) = (Vec::new(), None);
    while let Some(token) = tokens.next() {
        match token {
            "[" if depth < DEPTH_MAX => whole = Some(list(tokens, depth)),
            "{" if depth < DEPTH_MAX => whole = Some(block(tokens, depth)),
            "," => return (whole.unwrap_or_else(|| Value::Words(words.join(" "))), false),
            "}" | "]" => return (whole.unwrap_or_else(|| Value::Words(words.join(" "))), true),
            word => words.push(word),
        }
    }
    (whole.unwrap_or_else(|| Value::Words(words.join(" "))), true)
}

fn list<'a>(tokens: &mut impl Iterator<Item = &'a str>, depth: usize) -> Value {
    let mut items = Vec::new();
    loop {
        let (item, last) = value(tokens, depth + 1);
        if item != Value::Words(String::new()) {
            items.push(item);
        }
        if last {
            return Value::List(items);
        }
    }
}
