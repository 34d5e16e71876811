//! A run-time linker for a subset of WESL: WGSL with imports and `@if`.
//!
//! It works on tokens and never reprints them. Literals, comments and line
//! breaks reach the device's compiler byte for byte; only names that must
//! differ are replaced, and imports, directives and what an `@if` removes are
//! blanked in place, so that every line of the result is a line of a source.
//!
//! A module may be linked several times under different instance names and
//! with different slots: a block reduction once with `op` a sum and once with
//! `op` a maximum. Each instance has its own declarations, hence its own
//! workgroup memory.

mod conditional;
mod import;
mod linker;
mod nearest;

pub(crate) use nearest::nearest;
mod scan;
mod token;
mod unroll;

use std::borrow::Cow;

/// One module to link: its text and how the names it imports from resolve.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Module {
    /// Instance name, unique in the link, a WGSL identifier: `x`, `reduce_max`, `op`.
    pub name: String,
    /// The file's name for messages: `shaders/block/reduce.wgsl` or `user operator`.
    pub file: Cow<'static, str>,
    /// The module's text.
    pub text: Cow<'static, str>,
    /// Local import name to instance name. A name without an entry resolves
    /// to the instance of the same name.
    pub slots: Vec<(String, String)>,
}

/// A linked text, and where each of its lines came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    /// Plain WGSL: the directives, the modules that are reached, the root last.
    pub text: String,
    /// In the order of the lines, the first of which is 1.
    pieces: Vec<Piece>,
}

/// Consecutive lines of a linked text that have one origin.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    /// The first line within the linked text.
    first: usize,
    /// The number of lines.
    count: usize,
    file: String,
    /// The line within `file` of the first line.
    origin: usize,
}

impl Linked {
    /// The file and line (from 1) that a line of the linked text came from:
    /// `None` for the comment that heads each module and beyond the end.
    ///
    /// Lines end at `\n`, as naga counts them.
    pub fn origin(&self, line: usize) -> Option<(&str, usize)> {
        let after = self.pieces.partition_point(|piece| piece.first <= line);
        let piece = &self.pieces[after.checked_sub(1)?];
        let offset = line - piece.first;
        (offset < piece.count).then(|| (piece.file.as_str(), piece.origin + offset))
    }
}

/// Why a set of modules does not link.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct LinkError {
    /// The file of the module at fault.
    pub file: String,
    /// The line within that file, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// Links `root` with what it reaches by imports and paths: modules that it does
/// not reach are left out, and of the others every declaration that nothing needs,
/// where it has its lines to itself.
///
/// The root's names stay; `item` of instance `m` becomes `m_item`, with `_1`,
/// `_2`... appended where any linked module uses that name for something else.
/// Modules stand in the order of `modules`; unreached ones are left out.
/// Conditions hold where `flags` names them; every other flag is false.
/// Loops marked `@unroll` are written out where `unroll` gives the constants that
/// bound them, and stay loops where it is `None`.
///
/// # Errors
///
/// A path or import that names nothing, two meanings for one name, `@if` or
/// `@unroll` in the wrong place, brackets or comments that do not close.
pub fn link(
    root: &Module,
    modules: &[Module],
    flags: &[&str],
    unroll: Option<&[(&str, u32)]>,
) -> Result<Linked, LinkError> {
    let marked = |module: &Module| module.text.contains("@unroll");
    if !marked(root) && !modules.iter().any(marked) {
        return linker::link(root, modules, flags);
    }
    let expand = |module: &Module| {
        let text = unroll::expand(&module.text, unroll).map_err(|f| linker::error(module, f))?;
        Ok(Module {
            text: text.into(),
            ..module.clone()
        })
    };
    let modules = modules.iter().map(expand).collect::<Result<Vec<_>, _>>()?;
    linker::link(&expand(root)?, &modules, flags)
}
