//! The lexical structure of WGSL, as far as linking needs it.

use std::ops::Range;

/// Brackets nested deeper than this are refused, so that neither this linker
/// nor a compiler after it runs out of stack.
const DEEPEST: usize = 256;

/// What is wrong, and the byte of the module's text at which it is.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Self {
        Self {
            at,
            message: message.into(),
        }
    }
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier or a keyword.
    Word,
    /// A literal, with its sign-bearing exponent and its suffix.
    Number,
    /// `::`.
    Path,
    /// Any other character. Operators of several characters are several marks.
    Mark(u8),
}

/// A token's kind and where it lies in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The tokens of a text, with the partner of every bracket.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    text: &'a str,
    list: Vec<Token>,
    /// For a bracket the index of its partner, for any other token its own.
    partner: Vec<usize>,
}

impl<'a> Tokens<'a> {
    /// Splits a text. A comment that does not end and brackets that do not
    /// match are faults; every other character is some token.
    pub(super) fn new(text: &'a str) -> Result<Self, Fault> {
        let list = tokenize(text)?;
        let partner = partners(&list)?;
        Ok(Self {
            text,
            list,
            partner,
        })
    }

    /// The same text without some of its tokens: `ranges` ascend and hold
    /// whole bracketed groups.
    pub(super) fn without(&self, ranges: &[Range<usize>]) -> Result<Self, Fault> {
        let mut list = Vec::with_capacity(self.list.len());
        let mut from = 0;
        for range in ranges {
            list.extend_from_slice(&self.list[from..range.start]);
            from = range.end;
        }
        list.extend_from_slice(&self.list[from..]);
        let partner = partners(&list)?;
        Ok(Self {
            text: self.text,
            list,
            partner,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn kind(&self, index: usize) -> Option<Kind> {
        self.list.get(index).map(|token| token.kind)
    }

    /// The identifier or keyword at `index`, if that is what stands there.
    pub(super) fn word(&self, index: usize) -> Option<&'a str> {
        let token = self.list.get(index)?;
        (token.kind == Kind::Word).then(|| &self.text[token.start..token.end])
    }

    pub(super) fn is(&self, index: usize, mark: u8) -> bool {
        self.kind(index) == Some(Kind::Mark(mark))
    }

    /// Whether the token before `index` is this mark.
    pub(super) fn follows(&self, index: usize, mark: u8) -> bool {
        index.checked_sub(1).is_some_and(|i| self.is(i, mark))
    }

    /// The text of the token at `index`; empty at the end.
    pub(super) fn slice(&self, index: usize) -> &'a str {
        match self.list.get(index) {
            Some(token) => &self.text[token.start..token.end],
            None => "",
        }
    }

    /// Where the token at `index` starts; the end of the text at the end.
    pub(super) fn at(&self, index: usize) -> usize {
        match self.list.get(index) {
            Some(token) => token.start,
            None => self.text.len(),
        }
    }

    /// Some bytes of the text.
    pub(super) fn text(&self, bytes: Range<usize>) -> &'a str {
        &self.text[bytes]
    }

    /// The bytes from the first to the last of some tokens.
    pub(super) fn span(&self, tokens: Range<usize>) -> Range<usize> {
        match self.list.get(tokens.clone()) {
            Some([first, .., last]) => first.start..last.end,
            Some([only]) => only.start..only.end,
            _ => 0..0,
        }
    }

    /// The index after the bracketed group that opens at `index`.
    pub(super) fn past(&self, index: usize) -> usize {
        self.partner[index] + 1
    }

    /// The indices inside the bracketed group that opens at `index`.
    pub(super) fn inside(&self, index: usize) -> Range<usize> {
        index + 1..self.partner[index]
    }

    /// The index after the attributes that start at `index`, if any do.
    pub(super) fn past_attributes(&self, mut index: usize) -> usize {
        while self.is(index, b'@') {
            index += 1;
            if self.word(index).is_some() {
                index += 1;
                if self.is(index, b'(') {
                    index = self.past(index);
                }
            }
        }
        index
    }

    /// The index after the declaration or statement that starts at `index`,
    /// its attributes skipped: past a `;` or a `}`, with every `else` of an
    /// `if`, and no further than the bracket that closes around it.
    pub(super) fn past_statement(&self, index: usize) -> usize {
        let word = self.word(index);
        if word == Some("import") {
            return self.past_clause(index, false);
        }
        let mut end = self.past_clause(index, true);
        if word == Some("if") {
            while self.word(end) == Some("else") {
                end = self.past_clause(end + 1, true);
            }
        }
        end
    }

    /// The index after the first `;` at or after `index` or, when `braces`
    /// end it too, after the first braced group.
    fn past_clause(&self, mut index: usize, braces: bool) -> usize {
        loop {
            match self.kind(index) {
                None | Some(Kind::Mark(b')' | b']' | b'}')) => return index,
                Some(Kind::Mark(b';')) => return index + 1,
                Some(Kind::Mark(b'{')) if braces => return self.past(index),
                Some(Kind::Mark(b'(' | b'[' | b'{')) => index = self.past(index),
                Some(_) => index += 1,
            }
        }
    }

    /// The tokens of each argument of the template list that opens at
    /// `index`, and the index of its `>`. `None` where none opens, or closes.
    pub(super) fn template(&self, index: usize) -> Option<(Vec<Range<usize>>, usize)> {
        if !self.is(index, b'<') {
            return None;
        }
        // A template list of a variable or a pointer is short; the bound
        // keeps `ptr<ptr<ptr<...` from taking quadratic time.
        let bound = index + 256;
        let mut arguments = Vec::new();
        let mut depth = 0;
        let mut start = index + 1;
        let mut i = index;
        while i < bound {
            match self.kind(i)? {
                Kind::Mark(b'<') => depth += 1,
                Kind::Mark(b'>') if depth == 1 => {
                    arguments.push(start..i);
                    return Some((arguments, i));
                }
                Kind::Mark(b'>') => depth -= 1,
                Kind::Mark(b',') if depth == 1 => {
                    arguments.push(start..i);
                    start = i + 1;
                }
                Kind::Mark(b'(' | b'[') => i = self.past(i) - 1,
                Kind::Mark(b')' | b']' | b'{' | b'}' | b';') => return None,
                _ => {}
            }
            i += 1;
        }
        None
    }
}

/// The bytes of a non-ASCII blank that starts at `i`, or 0; and whether it
/// ends a line.
fn wide_blank(bytes: &[u8], i: usize) -> (usize, bool) {
    match bytes[i..] {
        [0xC2, 0x85, ..] => (2, true),               // next line
        [0xE2, 0x80, 0xA8 | 0xA9, ..] => (3, true),  // line and paragraph separators
        [0xE2, 0x80, 0x8E | 0x8F, ..] => (3, false), // left-to-right and right-to-left marks
        _ => (0, false),
    }
}

/// The bytes of the line break that starts at `i`, or 0.
pub(super) fn line_break(bytes: &[u8], i: usize) -> usize {
    match bytes[i] {
        b'\n' | 0x0B | 0x0C | b'\r' => 1,
        0x80.. => match wide_blank(bytes, i) {
            (length, true) => length,
            _ => 0,
        },
        _ => 0,
    }
}

/// Whether the byte at `i` belongs to a word that has begun. Every non-ASCII
/// character that is no blank does: whether it may, the WGSL compiler decides.
fn in_word(bytes: &[u8], i: usize) -> bool {
    match bytes[i] {
        b'_' => true,
        0x80.. => wide_blank(bytes, i).0 == 0,
        byte => byte.is_ascii_alphanumeric(),
    }
}

fn tokenize(text: &str) -> Result<Vec<Token>, Fault> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::with_capacity(bytes.len() / 4);
    let mut i = 0;
    while i < bytes.len() {
        let start = i;
        let next = bytes.get(i + 1).copied().unwrap_or(0);
        let kind = match bytes[i] {
            b' ' | b'\t'..=b'\r' => {
                i += 1;
                continue;
            }
            b'/' if next == b'/' => {
                while i < bytes.len() && line_break(bytes, i) == 0 {
                    i += 1;
                }
                continue;
            }
            b'/' if next == b'*' => {
                i = past_comment(bytes, i)?;
                continue;
            }
            b'0'..=b'9' => {
                i = past_number(bytes, i);
                Kind::Number
            }
            b'.' if next.is_ascii_digit() => {
                i = past_number(bytes, i);
                Kind::Number
            }
            b':' if next == b':' => {
                i += 2;
                Kind::Path
            }
            byte if byte == b'_' || byte.is_ascii_alphabetic() || byte >= 0x80 => {
                let (blank, _) = wide_blank(bytes, i);
                if blank > 0 {
                    i += blank;
                    continue;
                }
                while i < bytes.len() && in_word(bytes, i) {
                    i += 1;
                }
                Kind::Word
            }
            byte => {
                i += 1;
                Kind::Mark(byte)
            }
        };
        tokens.push(Token {
            kind,
            start,
            end: i,
        });
    }
    Ok(tokens)
}

/// The byte after the block comment that starts at `start`. They nest.
fn past_comment(bytes: &[u8], start: usize) -> Result<usize, Fault> {
    let mut depth = 0usize;
    let mut i = start;
    while i < bytes.len() {
        match bytes[i..] {
            [b'/', b'*', ..] => {
                depth += 1;
                i += 2;
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                i += 2;
                if depth == 0 {
                    return Ok(i);
                }
            }
            _ => i += 1,
        }
    }
    Err(Fault::new(start, "this comment is not closed by `*/`"))
}

/// The byte after the literal that starts at `i`, and after whatever letters
/// cling to it: they are no identifier either.
fn past_number(bytes: &[u8], start: usize) -> usize {
    let hexadecimal = bytes[start] == b'0' && matches!(bytes.get(start + 1), Some(b'x' | b'X'));
    let mut i = start;
    while i < bytes.len() {
        let exponent = match bytes[i] {
            b'e' | b'E' => !hexadecimal,
            b'p' | b'P' => hexadecimal,
            b'.' => false,
            _ if in_word(bytes, i) => false,
            _ => break,
        };
        i += 1;
        if exponent && matches!(bytes.get(i), Some(b'+' | b'-')) {
            i += 1;
        }
    }
    i
}

fn partners(tokens: &[Token]) -> Result<Vec<usize>, Fault> {
    let mut partner: Vec<usize> = (0..tokens.len()).collect();
    let mut open: Vec<(usize, u8)> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let Kind::Mark(mark) = token.kind else {
            continue;
        };
        match mark {
            b'(' | b'[' | b'{' => {
                if open.len() == DEEPEST {
                    return Err(Fault::new(
                        token.start,
                        format!("brackets nest deeper than {DEEPEST}"),
                    ));
                }
                let closing = match mark {
                    b'(' => b')',
                    b'[' => b']',
                    _ => b'}',
                };
                open.push((index, closing));
            }
            b')' | b']' | b'}' => match open.pop() {
                Some((other, closing)) if closing == mark => {
                    partner[index] = other;
                    partner[other] = index;
                }
                _ => {
                    let mark = char::from(mark);
                    return Err(Fault::new(token.start, format!("`{mark}` closes nothing")));
                }
            },
            _ => {}
        }
    }
    match open.pop() {
        Some((index, closing)) => Err(Fault::new(
            tokens[index].start,
            format!("this bracket is not closed by `{}`", char::from(closing)),
        )),
        None => Ok(partner),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        let tokens = Tokens::new(text).unwrap();
        (0..tokens.len()).map(|i| tokens.slice(i)).collect()
    }

    #[test]
    fn literals_are_single_tokens() {
        for literal in [
            "0x1p3",
            "0xFFFFFFFFu",
            "4294967295u",
            "1e-30f",
            "0x1.fffffep+127",
            ".5e+3",
            "1.",
            "0X.8P-2h",
            "1E5",
            "0",
            "7i",
        ] {
            let text = format!("a-{literal}+b");
            assert_eq!(texts(&text), ["a", "-", literal, "+", "b"]);
        }
        assert_eq!(texts("0x1e+2"), ["0x1e", "+", "2"]);
        assert_eq!(texts("v[0].x"), ["v", "[", "0", "]", ".", "x"]);
        assert_eq!(texts("1f+e"), ["1f", "+", "e"]);
    }

    #[test]
    fn blanks_and_comments_are_no_tokens() {
        assert_eq!(
            texts("a/**//*/*b*/*/c//d\u{2028}e/f"),
            ["a", "c", "e", "/", "f"]
        );
        assert_eq!(
            texts("größe\u{85}變\u{200e}x\u{2029}"),
            ["größe", "變", "x"]
        );
        assert_eq!(
            texts("a::b : c:::d"),
            ["a", "::", "b", ":", "c", "::", ":", "d"]
        );
    }

    #[test]
    fn statements_end_where_wgsl_ends_them() {
        for (text, rest) in [
            ("a = b[1;2]; c", "c"),
            ("if a { } else if b { } else { } c", "c"),
            ("for (;;) { } c", "c"),
            ("{ } c", "c"),
            ("import a::{b}; c", "c"),
            ("a } c", "}"),
        ] {
            let text = format!("{{ {text} }}").replace("a } c }", "a } c");
            let tokens = Tokens::new(&text).unwrap();
            assert_eq!(tokens.slice(tokens.past_statement(1)), rest, "{text}");
        }
    }
}
