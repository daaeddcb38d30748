//! From llama.cpp's grammar notation (GBNF) to rules.
//!
//! The parser keeps the groups that are open in a stack of its own, so that nesting costs memory
//! only, and makes the rules that `common/grammar-parser.cpp` of llama.cpp makes, in its order:
//!
//! ```text
//! ( X )   a rule of its own: R ::= X
//! X *     R ::= X R |
//! X +     R ::= X R | X
//! X ?     R ::= X |
//! ```

mod cursor;

use std::collections::HashMap;
use std::fmt;

use super::chars::MAX_CODE_POINT;
use super::element::{Element, ElementType};
use super::error::GrammarError;
use super::MAX_ELEMENTS;
use cursor::Cursor;

/// Why a text is no grammar, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GbnfError {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// What is wrong, or what was expected.
    pub message: String,
}

impl GbnfError {
    fn at(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let (line, column) = cursor::position(text, offset);
        Self { line, column, message: message.into() }
    }
}

impl fmt::Display for GbnfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for GbnfError {}

/// The name of a rule.
#[derive(Clone, Debug)]
pub(super) enum RuleName {
    /// As in the text.
    Written(Box<str>),
    /// A group or repetition within a rule, which has a written name.
    Within(u32),
}

impl RuleName {
    /// The name of a rule in full. It is not kept, since a long name with many groups would be
    /// kept many times.
    pub(super) fn spell(names: &[Self], rule: usize) -> String {
        match names.get(rule) {
            Some(Self::Written(name)) => name.to_string(),
            Some(Self::Within(outer)) => match names.get(*outer as usize) {
                Some(Self::Written(name)) => format!("{name}_{rule}"),
                _ => format!("_{rule}"),
            },
            None => rule.to_string(),
        }
    }

    pub(super) fn memsize(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Written(name) => name.len(),
                Self::Within(_) => 0,
            }
    }
}

/// Rules from a text, with where each element was in it.
pub(super) struct Parsed {
    pub(super) rules: Vec<Vec<Element>>,
    pub(super) names: Vec<RuleName>,
    pub(super) start: usize,
    sources: Vec<Source>,
}

/// Where a rule was in the text.
#[derive(Default)]
struct Source {
    /// The byte at which it starts.
    offset: usize,
    /// The byte at which each element starts.
    elements: Vec<usize>,
    /// The rule was made for this operator.
    repetition: Option<char>,
}

impl Parsed {
    /// An error in the rules as an error in the text.
    pub(super) fn locate(&self, error: &GrammarError, text: &str) -> GbnfError {
        let name = |rule| shorten(&RuleName::spell(&self.names, rule));
        let Some((rule, element)) = error.place() else {
            return GbnfError::at(text, 0, error.what(name));
        };
        let source = self.sources.get(rule);
        let offset = source.map_or(0, |source| source.elements.get(element).copied().unwrap_or(source.offset));
        if let (GrammarError::LeftRecursion { cycle, .. }, Some(source)) = (error, source) {
            if let (Some(operator), [_]) = (source.repetition, cycle.as_slice()) {
                let message = format!(
                    "what is repeated by {operator} can be empty, so that it has no end: \
                     expected something that has at least one character"
                );
                return GbnfError::at(text, source.offset, message);
            }
        }
        GbnfError::at(text, offset, error.what(name))
    }
}

/// Parses a text whose rule `root` is the start.
pub(super) fn parse(text: &str, root: &str) -> Result<Parsed, GbnfError> {
    let mut parser = Parser::new(text);
    match parser.parse_rules() {
        Ok(()) => parser.finish(root),
        Err(Fault { offset, message }) => Err(GbnfError::at(text, offset, message)),
    }
}

/// An error whose line and column are still to be counted.
struct Fault {
    offset: usize,
    message: String,
}

impl Fault {
    fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { offset, message: message.into() }
    }
}

/// A name or group that stands for a rule.
struct Symbol<'a> {
    name: Name<'a>,
    /// Where it was seen first.
    offset: usize,
    rule: Option<(Vec<Element>, Source)>,
}

enum Name<'a> {
    Written(&'a str),
    Within(u32),
}

/// A rule or group that is being read.
struct Open {
    symbol: u32,
    /// Where it starts: the name, or the parenthesis.
    offset: usize,
    elements: Vec<Element>,
    offsets: Vec<usize>,
    /// The first element of what `*`, `+` and `?` apply to.
    last: usize,
}

impl Open {
    fn new(symbol: u32, offset: usize) -> Self {
        Self { symbol, offset, elements: Vec::new(), offsets: Vec::new(), last: 0 }
    }

    fn push(&mut self, element: Element, offset: usize) {
        self.elements.push(element);
        self.offsets.push(offset);
    }

    /// What is read next is what `*`, `+` and `?` apply to.
    fn start_unit(&mut self) {
        self.last = self.elements.len();
    }
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    symbols: Vec<Symbol<'a>>,
    written: HashMap<&'a str, u32>,
    /// Elements of all rules so far.
    elements: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Self { cursor: Cursor::new(text), symbols: Vec::new(), written: HashMap::new(), elements: 0 }
    }

    fn parse_rules(&mut self) -> Result<(), Fault> {
        self.cursor.skip_space(true);
        while self.cursor.peek().is_some() {
            self.parse_rule()?;
            self.cursor.skip_space(true);
        }
        Ok(())
    }

    fn parse_rule(&mut self) -> Result<(), Fault> {
        let offset = self.cursor.offset();
        let name = self.cursor.take_name();
        if name.is_empty() {
            return Err(self.expected("the name of a rule (letters, digits and -)"));
        }
        let symbol = self.symbol(name, offset);
        if let Some(Symbol { rule: Some((_, source)), .. }) = self.symbols.get(symbol as usize) {
            let (line, _) = self.cursor.position(source.offset);
            let name = shorten(name);
            return Err(Fault::new(offset, format!("the rule {name} is defined already, in line {line}")));
        }
        self.cursor.skip_space(false);
        if !self.cursor.eat("::=") {
            return Err(self.expected(&format!("::= after the name {}", shorten(name))));
        }
        self.cursor.skip_space(true);
        self.parse_body(symbol, offset)?;
        if self.cursor.peek().is_some() && !self.cursor.eat_line_break() {
            return Err(self.expected(
                "a string, a character class, a rule name, a group, an operator (| * + ?) \
                 or the end of the line",
            ));
        }
        Ok(())
    }

    /// Reads what is on the right of `::=`.
    fn parse_body(&mut self, symbol: u32, offset: usize) -> Result<(), Fault> {
        let mut groups: Vec<Open> = Vec::new();
        let mut open = Open::new(symbol, offset);
        loop {
            let at = self.cursor.offset();
            match self.cursor.peek() {
                Some('"') => self.parse_string(&mut open)?,
                Some('[') => self.parse_class(&mut open)?,
                Some('(') => {
                    self.cursor.next();
                    self.count(1, at)?;
                    let group = self.add_symbol(Name::Within(symbol), at);
                    groups.push(std::mem::replace(&mut open, Open::new(group, at)));
                    self.cursor.skip_space(true);
                    continue;
                }
                Some(')') if !groups.is_empty() => {
                    self.cursor.next();
                    let Some(outer) = groups.pop() else { continue };
                    let group = std::mem::replace(&mut open, outer);
                    open.start_unit();
                    self.count(1, at)?;
                    open.push(Element::rule_ref(group.symbol), group.offset);
                    self.close(group, None)?;
                }
                Some('|') => {
                    self.cursor.next();
                    self.count(1, at)?;
                    open.push(Element::alt(), at);
                    open.start_unit();
                    self.cursor.skip_space(true);
                    continue;
                }
                Some(operator @ ('*' | '+' | '?')) => {
                    self.cursor.next();
                    self.repeat(&mut open, symbol, operator, at)?;
                }
                Some(character) if cursor::is_name(character) => {
                    let name = self.cursor.take_name();
                    let called = self.symbol(name, at);
                    self.count(1, at)?;
                    open.start_unit();
                    open.push(Element::rule_ref(called), at);
                }
                _ if groups.is_empty() => return self.close(open, None),
                None => return Err(Fault::new(open.offset, "expected ) to close this group")),
                Some(_) => {
                    return Err(self.expected(
                        "a string, a character class, a rule name, a group, \
                         an operator (| * + ?) or )",
                    ))
                }
            }
            self.cursor.skip_space(!groups.is_empty());
        }
    }

    fn parse_string(&mut self, open: &mut Open) -> Result<(), Fault> {
        let start = self.cursor.offset();
        self.cursor.next();
        open.start_unit();
        loop {
            let at = self.cursor.offset();
            match self.cursor.peek() {
                None => return Err(Fault::new(start, "expected \" to close this string")),
                Some('"') => break,
                Some(_) => {}
            }
            let value = self.parse_character()?;
            self.count(1, at)?;
            open.push(Element::new(ElementType::Char, value), at);
        }
        self.cursor.next();
        Ok(())
    }

    fn parse_class(&mut self, open: &mut Open) -> Result<(), Fault> {
        let start = self.cursor.offset();
        let unclosed = || Fault::new(start, "expected ] to close this character class");
        self.cursor.next();
        let mut kind = if self.cursor.eat("^") { ElementType::CharNot } else { ElementType::Char };
        open.start_unit();
        loop {
            let at = self.cursor.offset();
            match self.cursor.peek() {
                None => return Err(unclosed()),
                Some(']') => break,
                Some(_) => {}
            }
            let low = self.parse_character()?;
            self.count(1, at)?;
            open.push(Element::new(kind, low), at);
            kind = ElementType::CharAlt;
            if self.cursor.peek() == Some('-') && self.cursor.peek_second() != Some(']') {
                self.cursor.next();
                if self.cursor.peek().is_none() {
                    return Err(unclosed());
                }
                let high = self.parse_character()?;
                self.count(1, at)?;
                open.push(Element::new(ElementType::CharRngUpper, high), at);
            }
        }
        if kind != ElementType::CharAlt {
            return Err(Fault::new(
                start,
                "expected at least one character in this class; write \"\" for the empty text",
            ));
        }
        self.cursor.next();
        Ok(())
    }

    /// Reads one character of a string or class, which may be written as an escape.
    fn parse_character(&mut self) -> Result<u32, Fault> {
        let start = self.cursor.offset();
        match self.cursor.next() {
            Some('\\') => {}
            Some('\0') => {
                return Err(Fault::new(start, "NUL in the text: expected it as \\x00"));
            }
            Some(character) => return Ok(u32::from(character)),
            None => return Err(self.expected("a character")),
        }
        match self.cursor.next() {
            Some('x') => self.parse_hex(start, 2),
            Some('u') => self.parse_hex(start, 4),
            Some('U') => self.parse_hex(start, 8),
            Some('t') => Ok(u32::from('\t')),
            Some('r') => Ok(u32::from('\r')),
            Some('n') => Ok(u32::from('\n')),
            Some(same @ ('\\' | '"' | '[' | ']')) => Ok(u32::from(same)),
            found => Err(Fault::new(
                start,
                format!(
                    "unknown escape, \\ before {}: expected \
                     \\n \\r \\t \\\\ \\\" \\[ \\] \\xNN \\uNNNN or \\UNNNNNNNN",
                    cursor::describe(found)
                ),
            )),
        }
    }

    fn parse_hex(&mut self, start: usize, digits: usize) -> Result<u32, Fault> {
        let mut value = 0_u32;
        for _ in 0..digits {
            let Some(digit) = self.cursor.peek().and_then(|found| found.to_digit(16)) else {
                return Err(self.expected(&format!("{digits} hexadecimal digits in this escape")));
            };
            self.cursor.next();
            value = value << 4 | digit;
        }
        if value > MAX_CODE_POINT {
            return Err(Fault::new(start, format!("0x{value:X} is no code point: the limit is 0x10FFFF")));
        }
        Ok(value)
    }

    /// Puts what was read last into a rule that repeats it.
    fn repeat(&mut self, open: &mut Open, within: u32, operator: char, at: usize) -> Result<(), Fault> {
        let unit = open.elements.split_off(open.last);
        let offsets = open.offsets.split_off(open.last);
        if unit.is_empty() {
            let message = format!("expected something that {operator} applies to before it");
            return Err(Fault::new(at, message));
        }
        let symbol = self.add_symbol(Name::Within(within), at);
        let mut rule = Open::new(symbol, at);
        // ALT, the reference from outside, and what the operator adds.
        self.count(2, at)?;
        rule.elements.extend_from_slice(&unit);
        rule.offsets.extend_from_slice(&offsets);
        if operator != '?' {
            self.count(1, at)?;
            rule.push(Element::rule_ref(symbol), at);
        }
        rule.push(Element::alt(), at);
        if operator == '+' {
            self.count(unit.len(), at)?;
            rule.elements.extend(unit);
            rule.offsets.extend(offsets);
        }
        self.close(rule, Some(operator))?;
        open.push(Element::rule_ref(symbol), at);
        Ok(())
    }

    /// Ends a rule or group.
    fn close(&mut self, mut open: Open, repetition: Option<char>) -> Result<(), Fault> {
        let end = self.cursor.offset();
        self.count(1, end)?;
        open.push(Element::end(), end);
        let source = Source { offset: open.offset, elements: open.offsets, repetition };
        if let Some(symbol) = self.symbols.get_mut(open.symbol as usize) {
            symbol.rule = Some((open.elements, source));
        }
        Ok(())
    }

    /// The number of a name.
    fn symbol(&mut self, name: &'a str, offset: usize) -> u32 {
        match self.written.get(name) {
            Some(&symbol) => symbol,
            None => {
                let symbol = self.add_symbol(Name::Written(name), offset);
                self.written.insert(name, symbol);
                symbol
            }
        }
    }

    fn add_symbol(&mut self, name: Name<'a>, offset: usize) -> u32 {
        self.symbols.push(Symbol { name, offset, rule: None });
        // There is an element for each symbol, and `count` keeps these few.
        self.symbols.len() as u32 - 1
    }

    /// Counts elements, so that a text cannot make more than a grammar may have.
    fn count(&mut self, elements: usize, offset: usize) -> Result<(), Fault> {
        self.elements = self.elements.saturating_add(elements);
        if self.elements > MAX_ELEMENTS {
            let message = format!("the grammar is too large: the limit is {MAX_ELEMENTS} elements");
            return Err(Fault::new(offset, message));
        }
        Ok(())
    }

    fn expected(&self, what: &str) -> Fault {
        let found = cursor::describe(self.cursor.peek());
        Fault::new(self.cursor.offset(), format!("expected {what}, found {found}"))
    }

    fn finish(self, root: &str) -> Result<Parsed, GbnfError> {
        let text = self.cursor.text();
        let start = self.written.get(root).copied();
        let mut parsed = Parsed {
            rules: Vec::with_capacity(self.symbols.len()),
            names: Vec::with_capacity(self.symbols.len()),
            start: 0,
            sources: Vec::with_capacity(self.symbols.len()),
        };
        // In the order in which they were seen, so the first one is reported.
        for symbol in self.symbols {
            let Some((rule, source)) = symbol.rule else {
                let name = match symbol.name {
                    Name::Written(name) => shorten(name),
                    Name::Within(_) => String::new(),
                };
                let message = format!("there is no rule {name}: expected a line {name} ::= …");
                return Err(GbnfError::at(text, symbol.offset, message));
            };
            parsed.rules.push(rule);
            parsed.sources.push(source);
            parsed.names.push(match symbol.name {
                Name::Written(name) => RuleName::Written(name.into()),
                Name::Within(outer) => RuleName::Within(outer),
            });
        }
        let Some(start) = start else {
            let name = shorten(root);
            let message = format!("there is no rule {name}: expected a line {name} ::= …");
            return Err(GbnfError::at(text, text.len(), message));
        };
        parsed.start = start as usize;
        Ok(parsed)
    }
}

/// A name that fits into a message.
fn shorten(name: &str) -> String {
    const SHOWN: usize = 40;
    match name.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
        None => name.to_owned(),
    }
}
