//! The language of `DiskSim`'s parameter files: blocks of `key = value`, lists, and `source FILE`.
//!
//! Values keep their lines for error messages. The parser is pure and never panics. Nesting deeper
//! than in any real file is an error.

use super::super::DescriptionError;

/// No real file nests deeper.
const DEPTH_MAX: usize = 32;

/// A word or a mark, and its line.
#[derive(Clone, Debug)]
struct Token {
    text: String,
    line: usize,
}

/// A value after a `=`, or in a list.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Words(String),
    List(Vec<Item>),
    Block(Block),
}

/// A value and its line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    pub line: usize,
    pub value: Value,
}

/// `kind name { key = value, ... }`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block {
    pub kind: String,
    pub name: String,
    pub entries: Vec<(String, Item)>,
}

/// A statement of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Statement {
    Block(Block),
    /// `source FILE`.
    Source(String),
    /// `instantiate [ names ] as kind`.
    Instantiate {
        names: Vec<String>,
        kind: String,
    },
    /// `topology`, with its words and brackets.
    Topology(Vec<String>),
}

/// Parses the statements of a file, with their lines.
pub(super) fn parse(text: &str) -> Result<Vec<(usize, Statement)>, DescriptionError> {
    let mut parser = Parser { tokens: tokens(text), at: 0 };
    let mut statements = Vec::new();
    while let Some(token) = parser.tokens.get(parser.at).cloned() {
        statements.push((token.line, parser.statement(&token)?));
    }
    Ok(statements)
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("");
        let mut word = String::new();
        for letter in line.chars().chain([' ']) {
            let is_mark = "{}[]=,".contains(letter);
            if (is_mark || letter.is_whitespace()) && !word.is_empty() {
                tokens.push(Token { text: std::mem::take(&mut word), line: at + 1 });
            }
            if is_mark {
                tokens.push(Token { text: letter.to_string(), line: at + 1 });
            } else if !letter.is_whitespace() {
                word.push(letter);
            }
        }
    }
    tokens
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", |token| &token.text)
    }

    fn line(&self) -> usize {
        let last = self.tokens.last();
        self.tokens.get(self.at).or(last).map_or(0, |token| token.line)
    }

    fn wrong<T>(&self, what: &str) -> Result<T, DescriptionError> {
        Err(DescriptionError::at("", self.line(), what))
    }

    /// Joins the words up to a mark.
    fn words(&mut self) -> String {
        let from = self.at;
        while !matches!(self.peek(), "" | "{" | "}" | "[" | "]" | "=" | ",") {
            self.at += 1;
        }
        let words: Vec<&str> =
            self.tokens[from..self.at].iter().map(|token| token.text.as_str()).collect();
        words.join(" ")
    }

    fn expect(&mut self, mark: &str) -> Result<(), DescriptionError> {
        if self.peek() != mark {
            let found = if self.peek().is_empty() { "the end" } else { self.peek() };
            let what = format!("`{mark}` is missing before `{found}`");
            return self.wrong(&what);
        }
        self.at += 1;
        Ok(())
    }

    fn statement(&mut self, first: &Token) -> Result<Statement, DescriptionError> {
        match first.text.as_str() {
            "source" => {
                self.at += 1;
                let name = self.peek().to_owned();
                self.at += 1;
                Ok(Statement::Source(name))
            }
            "instantiate" => {
                self.at += 1;
                self.expect("[")?;
                let mut names = Vec::new();
                while !matches!(self.peek(), "]" | "") {
                    names.push(self.words());
                    if self.peek() == "," {
                        self.at += 1;
                    } else if self.peek() != "]" {
                        return self.wrong("`]` is missing");
                    }
                }
                self.expect("]")?;
                if self.peek() != "as" {
                    return self.wrong("`as` is missing behind the names to instantiate");
                }
                self.at += 1;
                let kind = self.peek().to_owned();
                self.at += 1;
                Ok(Statement::Instantiate { names, kind })
            }
            "topology" => self.topology(),
            _ => {
                let words = self.words();
                if self.peek() != "{" {
                    let what = format!("`{}` begins nothing that is known", first.text);
                    return self.wrong(&what);
                }
                Ok(Statement::Block(self.block(&words, 0)?))
            }
        }
    }

    fn topology(&mut self) -> Result<Statement, DescriptionError> {
        self.at += 1;
        let (mut words, mut depth) = (Vec::new(), 0_usize);
        loop {
            match self.peek() {
                "" => return self.wrong("`]` is missing at the end of the topology"),
                "[" => depth += 1,
                "]" => depth = depth.saturating_sub(1),
                _ => {}
            }
            words.push(self.peek().to_owned());
            self.at += 1;
            if depth == 0 && words.last().is_some_and(|word| word == "]") {
                return Ok(Statement::Topology(words));
            }
        }
    }

    /// Parses a block from its `{` on.
    fn block(&mut self, words: &str, depth: usize) -> Result<Block, DescriptionError> {
        self.expect("{")?;
        let (kind, name) = words.split_once(' ').unwrap_or((words, ""));
        let (kind, name) = (kind.to_owned(), name.to_owned());
        let mut entries = Vec::new();
        loop {
            match self.peek() {
                "," => self.at += 1,
                "}" => {
                    self.at += 1;
                    return Ok(Block { kind, name, entries });
                }
                _ => {
                    let line = self.line();
                    let key = self.words();
                    self.expect("=")?;
                    let value = self.value(depth + 1)?;
                    entries.push((key, Item { line, value }));
                    if !matches!(self.peek(), "," | "}") {
                        return self.wrong("`,` or `}` is missing behind a value");
                    }
                }
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, DescriptionError> {
        if depth > DEPTH_MAX {
            return self.wrong("this is nested too deep");
        }
        let words = self.words();
        match self.peek() {
            "[" if words.is_empty() => self.list(depth),
            "{" => Ok(Value::Block(self.block(&words, depth)?)),
            _ => Ok(Value::Words(words)),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, DescriptionError> {
        self.expect("[")?;
        let mut items = Vec::new();
        loop {
            match self.peek() {
                "," => self.at += 1,
                "]" => {
                    self.at += 1;
                    return Ok(Value::List(items));
                }
                _ => {
                    let line = self.line();
                    items.push(Item { line, value: self.value(depth + 1)? });
                    if !matches!(self.peek(), "," | "]") {
                        return self.wrong("`,` or `]` is missing in a list");
                    }
                }
            }
        }
    }
}
