//! `@unroll for`: loops that are written out, so that arrays which they index
//! stay in registers. Compilers of drivers decide by themselves which loops to
//! unroll, and an array that is indexed by a variable lands in memory.

use super::token::{Fault, Kind, Tokens};
use std::ops::Range;

/// More copies than this of one body are refused: the text would be too long to compile.
const MOST: u32 = 256;

/// A text without `@unroll`, in as many lines as before.
///
/// `@unroll for (var k = 0u; k < BOUND; k++) { body }`, where BOUND is a literal
/// or has an entry in `constants`, becomes `{ { const k = 0u; body } { const k =
/// 1u; body } … }`; without `constants` it stays a loop. The first body keeps its
/// lines; the others stand, without their comments, on its last.
pub(super) fn expand(text: &str, constants: Option<&[(&str, u32)]>) -> Result<String, Fault> {
    let mut text = text.to_string();
    loop {
        let tokens = Tokens::new(&text)?;
        let attribute = |i: &usize| tokens.is(*i, b'@') && tokens.word(i + 1) == Some("unroll");
        let Some(at) = (0..tokens.len()).find(attribute) else {
            return Ok(text);
        };
        let written = Loop::parse(&tokens, at)?;
        let replacement = match constants {
            None => " ".repeat(tokens.span(at..at + 2).len()),
            Some(constants) => written.copies(&tokens, constants)?,
        };
        let span = match constants {
            None => tokens.span(at..at + 2),
            Some(_) => tokens.at(at)..tokens.span(written.body.end..written.body.end + 1).end,
        };
        text.replace_range(span, &replacement);
    }
}

/// The parts of `for (var NAME = 0u; NAME < BOUND; NAME++) { BODY }`, as tokens.
struct Loop {
    /// The attribute, where faults are reported.
    at: usize,
    name: usize,
    bound: usize,
    body: Range<usize>,
}

impl Loop {
    fn parse(tokens: &Tokens, at: usize) -> Result<Loop, Fault> {
        let head = at + 2;
        let expected = [
            "for", "(", "var", "", "=", "0u", ";", "", "<", "", ";", "", "+", "+", ")", "{",
        ];
        let (name, bound, open) = (head + 3, head + 9, head + 15);
        let fits = expected
            .iter()
            .enumerate()
            .all(|(i, word)| word.is_empty() || tokens.slice(head + i) == *word);
        let named = tokens.word(name).is_some()
            && [head + 7, head + 11]
                .iter()
                .all(|i| tokens.word(*i) == tokens.word(name));
        if !fits || !named {
            return Err(Fault::new(
                tokens.at(at),
                "`@unroll` takes a loop of the form `for (var k = 0u; k < BOUND; k++) { … }`",
            ));
        }
        let body = tokens.inside(open);
        if let Some(jump) = body
            .clone()
            .find(|i| matches!(tokens.word(*i), Some("break" | "continue")))
        {
            let message = format!("`{}` within a loop that is unrolled", tokens.slice(jump));
            return Err(Fault::new(tokens.at(jump), message));
        }
        Ok(Loop {
            at,
            name,
            bound,
            body,
        })
    }

    /// How often the body stands in the result.
    fn count(&self, tokens: &Tokens, constants: &[(&str, u32)]) -> Result<u32, Fault> {
        let bound = tokens.slice(self.bound);
        let value = match tokens.kind(self.bound) {
            Some(Kind::Number) => bound.trim_end_matches('u').parse().ok(),
            _ => constants
                .iter()
                .find(|(name, _)| *name == bound)
                .map(|(_, value)| *value),
        };
        match value {
            Some(count) if count <= MOST => Ok(count),
            Some(count) => Err(Fault::new(
                tokens.at(self.at),
                format!("`@unroll` would write {count} copies; at most {MOST} are written"),
            )),
            None => Err(Fault::new(
                tokens.at(self.bound),
                format!("`@unroll` needs a literal or a constant of `config`, not `{bound}`"),
            )),
        }
    }

    fn copies(&self, tokens: &Tokens, constants: &[(&str, u32)]) -> Result<String, Fault> {
        let count = self.count(tokens, constants)?;
        let name = tokens.slice(self.name);
        let open = self.body.start - 1;
        let head = tokens.text(tokens.at(self.at)..tokens.at(open));
        let mut result = "\n".repeat(head.matches('\n').count());
        result.push('{');
        let first = tokens.text(tokens.at(open) + 1..tokens.at(self.body.end));
        let line = one_line(tokens, self.body.clone());
        for value in 0..count {
            let body = if value == 0 { first } else { &line };
            result += &format!("{{ const {name} = {value}u;{body}}}");
        }
        if count == 0 {
            result += &"\n".repeat(first.matches('\n').count());
        }
        result.push('}');
        Ok(result)
    }
}

/// Tokens on one line, without comments; what touched still touches.
fn one_line(tokens: &Tokens, range: Range<usize>) -> String {
    let mut line = String::from(" ");
    for i in range.clone() {
        if i > range.start && tokens.at(i) > tokens.span(i - 1..i).end {
            line.push(' ');
        }
        line.push_str(tokens.slice(i));
    }
    line.push(' ');
    line
}

#[cfg(test)]
mod tests {
    use super::expand;

    const SOURCE: &str = "\
fn f() {
    @unroll for (var k = 0u; k < ITEMS; k++) {
        a[k] = k; // first
        b += a[k]>>1u;
    }
}
";

    #[test]
    fn copies_follow_the_first_on_its_last_line() {
        let expanded = expand(SOURCE, Some(&[("ITEMS", 2)])).unwrap();
        let expected = "\
fn f() {
    {{ const k = 0u;
        a[k] = k; // first
        b += a[k]>>1u;
    }{ const k = 1u; a[k] = k; b += a[k]>>1u; }}
}
";
        assert_eq!(expanded, expected);
    }

    #[test]
    fn without_constants_it_stays_a_loop() {
        assert_eq!(
            expand(SOURCE, None).unwrap(),
            SOURCE.replace("@unroll", "       ")
        );
    }

    #[test]
    fn no_copies_keep_the_lines() {
        let expanded = expand(SOURCE, Some(&[("ITEMS", 0)])).unwrap();
        assert_eq!(expanded, "fn f() {\n    {\n\n\n}\n}\n");
    }

    #[test]
    fn loops_in_loops() {
        let source = "@unroll for (var i = 0u; i < 2u; i++) { @unroll for (var j = 0u; j < N; j++) { x(i, j); } }";
        let expanded = expand(source, Some(&[("N", 1)])).unwrap();
        assert_eq!(
            expanded,
            "{{ const i = 0u; {{ const j = 0u; x(i, j); }} }{ const i = 1u; {{ const j = 0u; x(i, j); }} }}"
        );
    }

    #[test]
    fn what_cannot_be_unrolled_is_refused() {
        for (source, message) in [
            ("@unroll for (var k = 1u; k < 4u; k++) {}", "of the form"),
            ("@unroll for (var k = 0u; j < 4u; k++) {}", "of the form"),
            ("@unroll while x {}", "of the form"),
            (
                "@unroll for (var k = 0u; k < 4u; k++) { break; }",
                "`break` within",
            ),
            ("@unroll for (var k = 0u; k < n; k++) {}", "not `n`"),
            ("@unroll for (var k = 0u; k < 1000u; k++) {}", "1000 copies"),
            ("@unroll", "of the form"),
        ] {
            let fault = expand(source, Some(&[])).unwrap_err();
            assert!(
                fault.message.contains(message),
                "{source}: {}",
                fault.message
            );
        }
    }
}
