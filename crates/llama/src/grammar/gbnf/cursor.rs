//! Walking along the text of a grammar.

/// A place in a text.
pub(super) struct Cursor<'a> {
    text: &'a str,
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, rest: text }
    }

    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    /// The number of bytes before this place.
    pub(super) fn offset(&self) -> usize {
        self.text.len() - self.rest.len()
    }

    /// Line and column of an offset.
    pub(super) fn position(&self, offset: usize) -> (usize, usize) {
        position(self.text, offset)
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(super) fn peek_second(&self) -> Option<char> {
        self.rest.chars().nth(1)
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let mut rest = self.rest.chars();
        let next = rest.next();
        self.rest = rest.as_str();
        next
    }

    /// Skips `expected`, if the text goes on with it.
    pub(super) fn eat(&mut self, expected: &str) -> bool {
        match self.rest.strip_prefix(expected) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    pub(super) fn eat_line_break(&mut self) -> bool {
        self.eat("\r\n") || self.eat("\n") || self.eat("\r")
    }

    /// Skips blanks and comments, and line breaks too if they mean nothing here.
    pub(super) fn skip_space(&mut self, line_breaks: bool) {
        loop {
            let before = self.rest.len();
            self.rest = self.rest.trim_start_matches([' ', '\t']);
            if self.rest.starts_with('#') {
                let end = self.rest.find(['\r', '\n']).unwrap_or(self.rest.len());
                self.rest = self.rest.get(end..).unwrap_or_default();
            }
            if line_breaks {
                self.rest = self.rest.trim_start_matches(['\r', '\n']);
            }
            if self.rest.len() == before {
                return;
            }
        }
    }

    /// Takes the name of a rule, which is empty if there is none.
    pub(super) fn take_name(&mut self) -> &'a str {
        let end = self.rest.find(|character| !is_name(character)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name
    }
}

/// Whether a character may be in the name of a rule.
pub(super) fn is_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '-'
}

/// A character for a message.
pub(super) fn describe(found: Option<char>) -> String {
    match found {
        None => "the end of the text".into(),
        Some('\n' | '\r') => "the end of the line".into(),
        Some(character) => format!("{character:?}"),
    }
}

/// Line and column of an offset, counted from 1, the column in characters.
pub(super) fn position(text: &str, offset: usize) -> (usize, usize) {
    let mut line = 1;
    let mut column = 1;
    let mut before = '\0';
    for (at, character) in text.char_indices() {
        if at >= offset {
            break;
        }
        match character {
            // The line has ended with the return.
            '\n' if before == '\r' => {}
            '\n' | '\r' => {
                line += 1;
                column = 1;
            }
            _ => column += 1,
        }
        before = character;
    }
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_and_all_line_breaks() {
        let text = "aé\nb\r\nc\rd";
        let positions: Vec<_> = text
            .char_indices()
            .map(|(offset, character)| (character, position(text, offset)))
            .filter(|(character, _)| character.is_alphabetic())
            .collect();
        assert_eq!(positions, [('a', (1, 1)), ('é', (1, 2)), ('b', (2, 1)), ('c', (3, 1)), ('d', (4, 1))]);
        assert_eq!(position(text, text.len()), (4, 2));
    }

    #[test]
    fn space_is_blanks_comments_and_perhaps_line_breaks() {
        let skipped = |text, line_breaks| {
            let mut cursor = Cursor::new(text);
            cursor.skip_space(line_breaks);
            cursor.offset()
        };
        assert_eq!(skipped(" \t# x\ny", false), 5);
        assert_eq!(skipped(" \t# x\r\n # z\n\n y", true), 14);
        assert_eq!(skipped("#", true), 1);
        assert_eq!(skipped("y", true), 0);
    }

    #[test]
    fn names() {
        let mut cursor = Cursor::new("a-Z9_b");
        assert_eq!(cursor.take_name(), "a-Z9");
        assert_eq!(cursor.take_name(), "");
        assert_eq!((cursor.peek(), cursor.peek_second()), (Some('_'), Some('b')));
    }
}
