//! Places in the user's text, and errors that point at them.

use naga::Span;

use crate::error::Error;

/// The user's text and the prelude that follows it, as naga sees them.
#[derive(Debug)]
pub(super) struct Source {
    /// Text, newline, prelude. The text comes first so that its lines keep
    /// their numbers; WGSL does not mind the order of declarations.
    joined: String,
    /// Bytes of the user's text within `joined`.
    text_len: usize,
}

impl Source {
    pub fn new(text: &str, prelude: &str) -> Source {
        Source {
            joined: format!("{text}\n{prelude}"),
            text_len: text.len(),
        }
    }

    /// What naga parses.
    pub fn joined(&self) -> &str {
        &self.joined
    }

    fn text(&self) -> &str {
        &self.joined[..self.text_len]
    }

    /// Line and column (in characters) of a byte offset, both from 1, and
    /// whether it is in the user's text. Offsets beyond the text are clamped
    /// to the start of its last line.
    fn position(&self, offset: usize) -> (u32, u32, bool) {
        let text = self.text();
        let inside = offset <= text.len();
        if !inside {
            // A newline that ends the text starts no line of its own.
            let lines = text.lines().count().max(1);
            return (lines as u32, 1, false);
        }
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        let column = before[line_start..].chars().count() + 1;
        (line as u32, column as u32, true)
    }

    /// Line and column of the start of a span.
    pub fn place(&self, span: Span) -> (u32, u32) {
        let (line, column, _) = self.position(start(span));
        (line, column)
    }

    /// An error at a byte offset of the joined text.
    pub fn error_at(&self, offset: usize, message: impl Into<String>) -> Error {
        let (line, column, inside) = self.position(offset);
        let mut message = message.into();
        if !inside {
            message.push_str(" (found in the declarations that are added after the text)");
        }
        Error::Wgsl {
            line,
            column,
            message,
        }
    }

    /// An error at the start of a span.
    pub fn error(&self, span: Span, message: impl Into<String>) -> Error {
        self.error_at(start(span), message)
    }

    /// An error at the best of several spans: the first that lies in the
    /// user's text, or else the first.
    pub fn error_among(
        &self,
        spans: impl Iterator<Item = Span>,
        message: impl Into<String>,
    ) -> Error {
        let starts: Vec<usize> = spans
            .filter_map(Span::to_range)
            .map(|range| range.start)
            .collect();
        let best = starts
            .iter()
            .find(|&&start| start < self.text_len)
            .or(starts.first());
        self.error_at(best.copied().unwrap_or(0), message)
    }
}

/// Where a span starts; the very start of the text when naga gave none.
fn start(span: Span) -> usize {
    span.to_range().map_or(0, |range| range.start)
}
