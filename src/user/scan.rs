//! A look at the tokens of the text before naga sees it.
//!
//! naga's front end recurses over nested expressions and blocks, also where
//! the text shows no brackets (`a + a + a ...`, `else if ...`); unbounded
//! depth would overflow the stack. Declarations that operators may not have
//! are refused here too, since their place is plain from the tokens alone.

use super::location::Source;
use crate::error::{Error, Result};

/// The longest text taken, in bytes.
const MAX_TEXT: usize = 1 << 20;
/// The deepest nesting of brackets taken.
const MAX_NESTING: usize = if SMALL_STACK { 96 } else { 256 };
/// The greatest depth taken of brackets, operators and `else` branches together.
const MAX_DEPTH: usize = if SMALL_STACK { 192 } else { 512 };
/// Browsers give a module 1 MiB of stack; elsewhere naga runs with more.
const SMALL_STACK: bool = cfg!(target_arch = "wasm32");
/// The most module-scope declarations taken: naga walks the chains that they
/// form by recursion.
const MAX_DECLARATIONS: usize = 2048;
/// The most tokens taken in functions: naga's time grows with the square of a
/// function's length, to minutes for a megabyte.
const MAX_TOKENS: usize = 1 << 16;

/// Attributes that say something about a struct's layout or a call's result,
/// and nothing about pipelines.
const ATTRIBUTES: &[&str] = &["align", "size", "must_use", "const"];
const ENTRY_POINTS: &[&str] = &["compute", "vertex", "fragment", "workgroup_size"];
const DIRECTIVES: &[&str] = &["enable", "requires", "diagnostic"];

#[derive(Clone, Copy, PartialEq)]
enum Token<'a> {
    Word(&'a str),
    Number,
    Mark(char),
}

/// An open bracket, and how deep the expression or `else` chain inside it is.
struct Open {
    bracket: char,
    offset: usize,
    chain: usize,
}

/// Refuses text that is too long, too deep, badly bracketed, or that declares
/// what an operator may not.
pub(super) fn scan(text: &str, source: &Source) -> Result<()> {
    if text.len() > MAX_TEXT {
        return Err(Error::Limit {
            operation: "WGSL operator".into(),
            what: "bytes of text".into(),
            asked: text.len() as u64,
            limit: MAX_TEXT as u64,
            way_out: "Shorten the text".into(),
        });
    }
    Scanner {
        source,
        open: Vec::new(),
        module_chain: 0,
        depth: 0,
        declarations: 0,
        in_function: false,
        tokens: 0,
        previous: None,
    }
    .run(text)
}

struct Scanner<'a> {
    source: &'a Source,
    open: Vec<Open>,
    /// The chain outside all brackets.
    module_chain: usize,
    /// The number of open brackets plus all their chains.
    depth: usize,
    declarations: usize,
    /// Whether the last declaration to start was a function.
    in_function: bool,
    /// The number of tokens in functions.
    tokens: usize,
    previous: Option<Token<'a>>,
}

impl<'a> Scanner<'a> {
    fn run(mut self, text: &'a str) -> Result<()> {
        let mut offset = 0;
        while let Some(first) = text[offset..].chars().next() {
            let rest = &text[offset..];
            let length = if rest.starts_with("//") {
                rest.find(is_line_end).unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                block_comment(rest).ok_or_else(|| {
                    self.source
                        .error_at(offset, "this block comment is never closed")
                })?
            } else if first.is_whitespace() {
                first.len_utf8()
            } else {
                let (token, length) = token(rest, first);
                self.token(token, offset)?;
                self.previous = Some(token);
                length
            };
            offset += length;
        }
        match self.open.last() {
            Some(open) => Err(self.source.error_at(
                open.offset,
                format!("this `{}` is never closed", open.bracket),
            )),
            None => Ok(()),
        }
    }

    fn token(&mut self, token: Token<'a>, offset: usize) -> Result<()> {
        self.tokens += self.in_function as usize;
        if self.tokens > MAX_TOKENS {
            return Err(self.source.error_at(
                offset,
                format!("the functions are longer than {MAX_TOKENS} tokens"),
            ));
        }
        match token {
            Token::Word(word) => self.word(word, offset)?,
            Token::Number => {}
            Token::Mark(mark @ ('(' | '[' | '{')) => {
                if self.open.len() >= MAX_NESTING {
                    return Err(self.source.error_at(
                        offset,
                        format!("brackets are nested more than {MAX_NESTING} deep"),
                    ));
                }
                // `a[0][0][0]` is as deep as it is long.
                let links = if mark == '[' { 1 } else { 0 };
                self.extend(links, offset)?;
                self.open.push(Open {
                    bracket: mark,
                    offset,
                    chain: 0,
                });
                self.depth += 1;
            }
            Token::Mark(mark @ (')' | ']' | '}')) => self.close(mark, offset)?,
            Token::Mark(';' | ',') => self.reset(),
            Token::Mark('#') => {
                return Err(self
                    .source
                    .error_at(offset, "WGSL has no preprocessor and no `#`"));
            }
            Token::Mark(_) => self.extend(1, offset)?,
        }
        Ok(())
    }

    fn word(&mut self, word: &str, offset: usize) -> Result<()> {
        let refuse = |what: String| Err(self.source.error_at(offset, what));
        if self.previous == Some(Token::Mark('@')) {
            return if ENTRY_POINTS.contains(&word) {
                refuse(format!(
                    "`@{word}`: an operator is made of plain functions, without entry points"
                ))
            } else if ATTRIBUTES.contains(&word) {
                Ok(())
            } else {
                refuse(format!("`@{word}`: this attribute is not for operators"))
            };
        }
        if word == "const_assert" {
            return refuse("`const_assert` is not for operators".into());
        }
        if word == "else" {
            return self.extend(1, offset);
        }
        if self.previous == Some(Token::Mark('}')) {
            self.reset();
        }
        if !self.open.is_empty() {
            return Ok(());
        }
        match word {
            "var" => {
                return refuse(
                    "module-scope variables are not for operators; use `const`, or a `var` inside a function".into(),
                );
            }
            "override" => {
                return refuse("`override` is not for operators; use `const`".into());
            }
            "fn" | "const" | "struct" | "alias" => {
                if self.declarations >= MAX_DECLARATIONS {
                    return refuse(format!("more than {MAX_DECLARATIONS} declarations"));
                }
                self.declarations += 1;
                self.in_function = word == "fn";
            }
            _ if DIRECTIVES.contains(&word) && self.at_declaration() => {
                return refuse(format!("`{word}`: directives are not for operators"));
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether a module-scope declaration may start here.
    fn at_declaration(&self) -> bool {
        matches!(self.previous, None | Some(Token::Mark(';' | '}')))
    }

    fn close(&mut self, bracket: char, offset: usize) -> Result<()> {
        let expected = match bracket {
            ')' => '(',
            ']' => '[',
            _ => '{',
        };
        match self.open.pop() {
            Some(open) if open.bracket == expected => {
                self.depth -= 1 + open.chain;
                Ok(())
            }
            Some(open) => Err(self.source.error_at(
                offset,
                format!("`{bracket}` does not close `{}`", open.bracket),
            )),
            None => Err(self
                .source
                .error_at(offset, format!("`{bracket}` closes nothing"))),
        }
    }

    fn chain(&mut self) -> &mut usize {
        match self.open.last_mut() {
            Some(open) => &mut open.chain,
            None => &mut self.module_chain,
        }
    }

    fn extend(&mut self, links: usize, offset: usize) -> Result<()> {
        *self.chain() += links;
        self.depth += links;
        if self.depth > MAX_DEPTH {
            return Err(self.source.error_at(
                offset,
                format!(
                    "brackets, operators and `else` branches are chained more than {MAX_DEPTH} deep; split the expression"
                ),
            ));
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.depth -= std::mem::take(self.chain());
    }
}

/// The line breaks of WGSL.
fn is_line_end(c: char) -> bool {
    matches!(
        c,
        '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// The length of the (possibly nested) comment at the start of `text`, or
/// `None` when it does not end.
fn block_comment(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0usize, 0);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => {
                depth += 1;
                at += 2;
            }
            b"*/" => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
    None
}

fn token(text: &str, first: char) -> (Token<'_>, usize) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || !c.is_ascii();
    if first.is_ascii_digit() {
        let is_number = |c: char| c.is_ascii_alphanumeric() || c == '.';
        let end = text.find(|c| !is_number(c)).unwrap_or(text.len());
        (Token::Number, end)
    } else if is_word(first) {
        let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
        (Token::Word(&text[..end]), end)
    } else {
        (Token::Mark(first), first.len_utf8())
    }
}
