//! Grammars: what a model may write.
//!
//! A [`Grammar`] is a set of rules, from elements ([`Grammar::new`]) or from text in llama.cpp's
//! notation ([`Grammar::from_gbnf`]). A [`Matcher`] follows a text and tells which pieces may come
//! next, and whether the text may end.
//!
//! # Why this is not llama.cpp's engine
//!
//! llama.cpp keeps pointers into the rules of its caller, believes whatever they say, recurses as
//! deep as they are nested, ends the process when something is wrong, and copies a stack for each
//! way of reading the text, of which an ambiguous grammar has exponentially many. Here rules are
//! checked completely before they are used, nothing recurses, a refused piece is an error that
//! changes nothing, equal ways are one, and what remains is bounded in memory and steps
//! ([`TooComplex`]).
//!
//! On every grammar that llama.cpp can handle the verdicts are the same, down to the first bytes of
//! a character at the end of a piece. There is one exception: the text is always UTF-8 without
//! NUL. llama.cpp lets some bytes through that are no UTF-8, does not look beyond a NUL within a
//! piece, and lets a text end within a character.
//!
//! The piece of a token that ends the text is none of this module's business: it is allowed when
//! [`Matcher::may_end`].

mod chars;
mod element;
mod error;
mod gbnf;
mod matcher;
mod order;
mod program;
mod stacks;
#[cfg(test)]
mod tests;
mod utf8;
mod validate;

use std::fmt;
use std::sync::Arc;

pub use element::{Element, ElementType, UnknownElementType};
pub use error::{GrammarError, Refusal, TooComplex};
pub use gbnf::GbnfError;
pub use matcher::Matcher;

use gbnf::RuleName;
use program::Program;
use stacks::{SetId, Stacks};

/// The elements that all rules of a grammar may have together.
pub const MAX_ELEMENTS: usize = 1 << 20;

/// Rules that have been checked. A clone shares them.
///
/// # Examples
///
/// ```
/// use llama::grammar::{Element, Grammar};
///
/// // root ::= "a" root | "b"
/// let rules = vec![vec![
///     Element::char('a'),
///     Element::rule_ref(0),
///     Element::alt(),
///     Element::char('b'),
///     Element::end(),
/// ]];
/// let mut matcher = Grammar::new(rules, 0)?.matcher();
/// matcher.accept(b"aab")?;
/// assert!(matcher.may_end());
///
/// let endless = vec![vec![Element::rule_ref(0), Element::end()]];
/// assert_eq!(
///     Grammar::new(endless, 0).unwrap_err().to_string(),
///     "rule 0, element 0, the rule refers to itself before any character (0 → 0): \
///      put a character before the reference",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Grammar(Arc<Inner>);

struct Inner {
    rules: Vec<Vec<Element>>,
    /// Names of the rules, or none at all.
    names: Vec<RuleName>,
    prepared: Prepared,
}

/// What the engine makes of the rules.
struct Prepared {
    start: usize,
    program: Program,
    /// The stacks at the start of a text.
    stacks: Stacks,
    at: SetId,
}

impl Prepared {
    fn into_grammar(self, rules: Vec<Vec<Element>>, names: Vec<RuleName>) -> Grammar {
        Grammar(Arc::new(Inner { rules, names, prepared: self }))
    }
}

impl Grammar {
    /// A grammar of these rules. The text as a whole is to match the rule with the index `start`.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, with the rule and the element. Rules that cannot be reached
    /// from `start` are checked for their form only.
    pub fn new(rules: Vec<Vec<Element>>, start: usize) -> Result<Self, GrammarError> {
        Self::prepare(&rules, start).map(|prepared| prepared.into_grammar(rules, Vec::new()))
    }

    /// A grammar from text in llama.cpp's notation (GBNF). The text as a whole is to match the rule
    /// that is named `root`.
    ///
    /// The rules and their order are those that llama.cpp's parser makes. What that parser lets pass
    /// although it cannot be meant is an error here: a rule that is defined twice or not at all, a
    /// reversed range (`[z-a]`), and `[]` and `[^]`, which it takes for the empty text.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, with line and column.
    ///
    /// # Examples
    ///
    /// ```
    /// use llama::grammar::Grammar;
    ///
    /// let grammar = Grammar::from_gbnf("root ::= item+\nitem ::= \"- \" [^\\n]+ \"\\n\"", "root")?;
    /// assert_eq!(grammar.rules().len(), 4);
    /// assert_eq!(grammar.rule_name(1).as_deref(), Some("item"));
    /// assert_eq!(grammar.rule_name(2).as_deref(), Some("root_2"));
    ///
    /// let error = Grammar::from_gbnf("root ::= (\"a\" | \"b\"", "root").unwrap_err();
    /// assert_eq!((error.line, error.column), (1, 10));
    /// assert_eq!(error.to_string(), "line 1, column 10: expected ) to close this group");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_gbnf(text: &str, root: &str) -> Result<Self, GbnfError> {
        let parsed = gbnf::parse(text, root)?;
        match Self::prepare(&parsed.rules, parsed.start) {
            Ok(prepared) => Ok(prepared.into_grammar(parsed.rules, parsed.names)),
            Err(error) => Err(parsed.locate(&error, text)),
        }
    }

    fn prepare(rules: &[Vec<Element>], start: usize) -> Result<Prepared, GrammarError> {
        validate::check(rules, start)?;
        let program = Program::compile(rules, start)?;
        let (stacks, at) = Stacks::new(&program)?;
        Ok(Prepared { start, program, stacks, at })
    }

    /// The rules, as they were given or parsed.
    pub fn rules(&self) -> &[Vec<Element>] {
        &self.0.rules
    }

    /// The index of the start rule.
    pub fn start(&self) -> usize {
        self.0.prepared.start
    }

    /// The name of a rule, if it came from text. Groups and repetitions are rules too, with the name
    /// of the rule that they are in and a number: `root_2`.
    pub fn rule_name(&self, rule: usize) -> Option<String> {
        self.0.names.get(rule)?;
        Some(RuleName::spell(&self.0.names, rule))
    }

    /// A matcher at the start of a text.
    pub fn matcher(&self) -> Matcher {
        Matcher::new(self.clone(), self.0.prepared.stacks.clone(), self.0.prepared.at)
    }

    /// The memory that the grammar takes, in bytes; clones and matchers share it.
    pub fn memsize(&self) -> usize {
        let rules: usize =
            self.0.rules.iter().map(|rule| size_of_val(rule) + rule.capacity() * size_of::<Element>()).sum();
        let names: usize = self.0.names.iter().map(RuleName::memsize).sum();
        size_of::<Inner>() + rules + names + self.0.prepared.program.memsize() + self.0.prepared.stacks.memsize()
    }

    fn program(&self) -> &Program {
        &self.0.prepared.program
    }
}

impl fmt::Debug for Grammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grammar")
            .field("rules", &self.0.rules.len())
            .field("start", &self.0.prepared.start)
            .finish_non_exhaustive()
    }
}
