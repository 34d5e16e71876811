//! Conditional translation: `@if(...)`, `@elif(...)` and `@else`.

use super::token::{Fault, Kind, Tokens};
use std::ops::Range;

/// What the innermost bracket around a token holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Module,
    Members,
    Parameters,
    Statements,
    /// Where nothing can be left out: expressions, import lists.
    Elsewhere,
}

/// The tokens to remove, as ascending ranges that hold whole groups: the
/// attributes themselves and the branches that are not taken.
pub(super) fn removed(tokens: &Tokens, flags: &[&str]) -> Result<Vec<Range<usize>>, Fault> {
    let mut removed = Vec::new();
    let mut places = vec![Place::Module];
    // Where a branch ends, and whether it or one before it was taken. What
    // encloses a branch ends after it and lies below it.
    let mut branches: Vec<(usize, bool)> = Vec::new();
    let mut i = 0;
    while let Some(kind) = tokens.kind(i) {
        match kind {
            Kind::Mark(b'(' | b'[' | b'{') => places.push(place(tokens, i)),
            Kind::Mark(b')' | b']' | b'}') => {
                places.pop();
            }
            Kind::Mark(b'@') if conditional(tokens, i) => {
                let place = places.last().copied().unwrap_or(Place::Module);
                let name = tokens.slice(i + 1);
                let before = match name {
                    "if" => {
                        check_start(tokens, i, place)?;
                        false
                    }
                    _ => earlier_branch(tokens, &mut branches, i)?,
                };
                let (holds, start) = match name {
                    "else" => (true, i + 2),
                    _ => condition(tokens, i, flags)?,
                };
                let end = past_controlled(tokens, i, start, place)?;
                if name != "else" {
                    branches.push((end, before || holds));
                }
                let taken = holds && !before;
                let until = if taken { start } else { end };
                removed.push(i..until);
                i = until;
                continue;
            }
            _ => {}
        }
        i += 1;
    }
    Ok(removed)
}

/// Whether the `@` at `i` starts one of the attributes dealt with here.
fn conditional(tokens: &Tokens, i: usize) -> bool {
    tokens.is(i, b'@') && matches!(tokens.word(i + 1), Some("if" | "elif" | "else"))
}

/// What the bracket at `i` opens.
fn place(tokens: &Tokens, i: usize) -> Place {
    let keyword = match i.checked_sub(2) {
        Some(before) if tokens.word(i - 1).is_some() => tokens.word(before),
        _ => None,
    };
    match (tokens.kind(i), keyword) {
        (Some(Kind::Mark(b'(')), Some("fn")) => Place::Parameters,
        (Some(Kind::Mark(b'{')), Some("struct")) => Place::Members,
        // The list of an import.
        (Some(Kind::Mark(b'{')), _) if i > 0 && tokens.kind(i - 1) == Some(Kind::Path) => {
            Place::Elsewhere
        }
        (Some(Kind::Mark(b'{')), _) => Place::Statements,
        _ => Place::Elsewhere,
    }
}

/// Refuses an `@if` that does not come first in what it controls.
fn check_start(tokens: &Tokens, i: usize, place: Place) -> Result<(), Fault> {
    let before = i.checked_sub(1).and_then(|before| tokens.kind(before));
    let first = match (place, before) {
        (Place::Elsewhere, _) => {
            return Err(Fault::new(
                tokens.at(i),
                "`@if` controls declarations, members, parameters, statements and imports; \
                 here it can control nothing",
            ));
        }
        (Place::Module, None) => true,
        (Place::Module | Place::Statements, Some(Kind::Mark(mark))) => {
            matches!(mark, b'{' | b'}' | b';')
        }
        (Place::Members, Some(Kind::Mark(mark))) => matches!(mark, b'{' | b',' | b';'),
        (Place::Parameters, Some(Kind::Mark(mark))) => matches!(mark, b'(' | b','),
        _ => false,
    };
    if first {
        return Ok(());
    }
    Err(Fault::new(
        tokens.at(i),
        "`@if` must come first in what it controls, before other attributes",
    ))
}

/// Whether a branch that an `@elif` or `@else` at `i` continues was taken.
fn earlier_branch(
    tokens: &Tokens,
    branches: &mut Vec<(usize, bool)>,
    i: usize,
) -> Result<bool, Fault> {
    while let Some((end, taken)) = branches.pop_if(|(end, _)| *end <= i) {
        if end == i {
            return Ok(taken);
        }
    }
    Err(Fault::new(
        tokens.at(i),
        format!(
            "`@{}` does not directly follow what an `@if` or `@elif` controls",
            tokens.slice(i + 1)
        ),
    ))
}

/// Whether the condition of the attribute at `i` holds, and the index after it.
fn condition(tokens: &Tokens, i: usize, flags: &[&str]) -> Result<(bool, usize), Fault> {
    let open = i + 2;
    if !tokens.is(open, b'(') {
        return Err(Fault::new(
            tokens.at(i),
            format!(
                "`@{0}` takes a condition: `@{0}(flag)`",
                tokens.slice(i + 1)
            ),
        ));
    }
    let inside = tokens.inside(open);
    let mut parser = Condition {
        tokens,
        flags,
        next: inside.start,
    };
    let holds = parser.either()?;
    if parser.next != inside.end {
        return Err(parser.unexpected("`&&`, `||` or `)`"));
    }
    Ok((holds, inside.end + 1))
}

/// Evaluates a condition as it reads it. Its recursion is as deep as its
/// brackets, which `Tokens` bounds.
struct Condition<'a> {
    tokens: &'a Tokens<'a>,
    flags: &'a [&'a str],
    next: usize,
}

impl Condition<'_> {
    fn either(&mut self) -> Result<bool, Fault> {
        let mut holds = self.both()?;
        while self.operator(b'|') {
            holds |= self.both()?;
        }
        Ok(holds)
    }

    fn both(&mut self) -> Result<bool, Fault> {
        let mut holds = self.operand()?;
        while self.operator(b'&') {
            holds &= self.operand()?;
        }
        Ok(holds)
    }

    fn operand(&mut self) -> Result<bool, Fault> {
        let mut inverted = false;
        while self.tokens.is(self.next, b'!') {
            inverted = !inverted;
            self.next += 1;
        }
        let holds = if self.tokens.is(self.next, b'(') {
            let close = self.tokens.inside(self.next).end;
            self.next += 1;
            let holds = self.either()?;
            if self.next != close {
                return Err(self.unexpected("`&&`, `||` or `)`"));
            }
            holds
        } else {
            match self.tokens.word(self.next) {
                Some("true") => true,
                Some("false") => false,
                Some(flag) => self.flags.contains(&flag),
                None => return Err(self.unexpected("a flag, `true`, `false`, `!` or `(`")),
            }
        };
        self.next += 1;
        Ok(holds != inverted)
    }

    /// Takes `&&` or `||`, if that comes next.
    fn operator(&mut self, mark: u8) -> bool {
        let found = self.tokens.is(self.next, mark) && self.tokens.is(self.next + 1, mark);
        if found {
            self.next += 2;
        }
        found
    }

    fn unexpected(&self, expected: &str) -> Fault {
        Fault::new(
            self.tokens.at(self.next),
            format!(
                "condition: expected {expected}, found `{}`",
                self.tokens.slice(self.next)
            ),
        )
    }
}

/// The index after what the attribute at `attribute` controls, which starts
/// at `start`.
fn past_controlled(
    tokens: &Tokens,
    attribute: usize,
    start: usize,
    place: Place,
) -> Result<usize, Fault> {
    let first = tokens.past_attributes(start);
    let end = match (tokens.kind(first), tokens.word(first)) {
        (None | Some(Kind::Mark(b')' | b']' | b'}')), _) => {
            return Err(Fault::new(
                tokens.at(attribute),
                format!("nothing follows `@{}`", tokens.slice(attribute + 1)),
            ));
        }
        (_, Some("else")) => {
            return Err(Fault::new(
                tokens.at(attribute),
                "an `else` cannot be left out on its own; control the whole `if`",
            ));
        }
        _ if matches!(place, Place::Members | Place::Parameters) => past_member(tokens, first),
        _ => tokens.past_statement(first),
    };
    check_separated(tokens, start, end)?;
    Ok(end)
}

/// The index after the member or parameter that starts at `i`: past its
/// comma, or before the bracket that closes the list.
fn past_member(tokens: &Tokens, mut i: usize) -> usize {
    let mut templates = 0usize;
    loop {
        match tokens.kind(i) {
            None | Some(Kind::Mark(b')' | b']' | b'}')) => return i,
            Some(Kind::Mark(b',')) if templates == 0 => return i + 1,
            Some(Kind::Mark(b';')) => return i + 1,
            Some(Kind::Mark(b'(' | b'[' | b'{')) => {
                i = tokens.past(i);
                continue;
            }
            // `<<` shifts and `<=` compares.
            Some(Kind::Mark(b'<')) if tokens.is(i + 1, b'<') || tokens.is(i + 1, b'=') => i += 1,
            Some(Kind::Mark(b'<')) => templates += 1,
            Some(Kind::Mark(b'>')) => templates = templates.saturating_sub(1),
            Some(_) => {}
        }
        i += 1;
    }
}

/// Refuses an attribute dealt with here among the tokens that another one
/// controls, brackets aside: a separator is missing before it, or it stands
/// beside the other, and then whose `@else` is whose is unclear.
fn check_separated(tokens: &Tokens, start: usize, end: usize) -> Result<(), Fault> {
    let mut i = start;
    while i < end {
        if conditional(tokens, i) {
            return Err(Fault::new(
                tokens.at(i),
                format!(
                    "`@{}` within what another `@if` controls; separate the two by `;`, `,` or \
                     braces, or join their conditions by `&&`",
                    tokens.slice(i + 1)
                ),
            ));
        }
        match tokens.kind(i) {
            Some(Kind::Mark(b'(' | b'[' | b'{')) => i = tokens.past(i),
            _ => i += 1,
        }
    }
    Ok(())
}
