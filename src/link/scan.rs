//! What one module declares, imports and refers to.

use super::conditional;
use super::import::{self, Import};
use super::token::{Fault, Kind, Tokens};
use std::collections::HashSet;
use std::ops::Range;

/// A module after conditional translation.
#[derive(Debug)]
pub(super) struct Scan<'a> {
    /// The names declared at module scope, in their order.
    pub(super) declared: Vec<&'a str>,
    /// Where each of them is declared, attributes included.
    pub(super) spans: Vec<Range<usize>>,
    /// Which of them are entry points.
    pub(super) entry_points: Vec<usize>,
    pub(super) imports: Vec<Import<'a>>,
    /// Each directive on one line, with the byte at which it stood.
    pub(super) directives: Vec<(String, usize)>,
    /// The paths outside imports.
    pub(super) paths: Vec<PathUse<'a>>,
    /// The identifiers that could refer to a declaration at module scope.
    pub(super) words: Vec<Word<'a>>,
    /// The bytes to blank.
    pub(super) blanks: Vec<Range<usize>>,
}

/// `module::item` in an expression or a type.
#[derive(Debug)]
pub(super) struct PathUse<'a> {
    pub(super) module: &'a str,
    pub(super) item: &'a str,
    pub(super) span: Range<usize>,
}

/// An identifier that is no path, member or context-dependent name.
#[derive(Debug)]
pub(super) struct Word<'a> {
    pub(super) name: &'a str,
    pub(super) at: usize,
    /// Whether it stands where a local or a parameter is declared.
    pub(super) declares: bool,
}

/// Reads a module. `names` receives every word in it, for the choice of new
/// names that mean nothing yet.
pub(super) fn scan<'a>(
    text: &'a str,
    flags: &[&str],
    names: &mut HashSet<&'a str>,
) -> Result<Scan<'a>, Fault> {
    let all = Tokens::new(text)?;
    names.extend((0..all.len()).filter_map(|i| all.word(i)));
    let mut scan = Scan {
        declared: Vec::new(),
        spans: Vec::new(),
        entry_points: Vec::new(),
        imports: Vec::new(),
        directives: Vec::new(),
        paths: Vec::new(),
        words: Vec::new(),
        blanks: Vec::new(),
    };
    let removed = conditional::removed(&all, flags)?;
    let live = scan.blank(&all, &removed)?;
    let machinery = scan.module_scope(&live)?;
    let code = scan.blank(&live, &machinery)?;
    scan.uses(&code)?;
    Ok(scan)
}

impl<'a> Scan<'a> {
    fn blank(&mut self, tokens: &Tokens<'a>, ranges: &[Range<usize>]) -> Result<Tokens<'a>, Fault> {
        self.blanks
            .extend(ranges.iter().map(|range| tokens.span(range.clone())));
        tokens.without(ranges)
    }

    /// Collects imports, directives and declarations; returns the tokens of
    /// the first two.
    fn module_scope(&mut self, tokens: &Tokens<'a>) -> Result<Vec<Range<usize>>, Fault> {
        let mut machinery = Vec::new();
        let mut i = 0;
        while i < tokens.len() {
            let head = tokens.past_attributes(i);
            let end = tokens.past_statement(head).max(i + 1);
            match tokens.word(head) {
                Some("import") => {
                    import::parse(tokens, head, end, &mut self.imports)?;
                    machinery.push(i..end);
                }
                Some("enable" | "requires" | "diagnostic") => {
                    self.directives
                        .push((one_line(tokens, head..end), tokens.at(head)));
                    machinery.push(i..end);
                }
                Some("fn" | "struct" | "alias" | "const" | "override") => {
                    let stage =
                        |k| matches!(tokens.word(k), Some("compute" | "vertex" | "fragment"));
                    if (i..head).any(stage) {
                        self.entry_points.push(self.declared.len());
                    }
                    self.declare(tokens, head + 1, i..end);
                }
                Some("var") => {
                    self.declare(tokens, variable_name(tokens, head), i..end);
                }
                _ => {}
            }
            i = end;
        }
        Ok(machinery)
    }

    fn declare(&mut self, tokens: &Tokens<'a>, name: usize, range: Range<usize>) {
        if let Some(name) = tokens.word(name) {
            self.declared.push(name);
            self.spans.push(tokens.span(range));
        }
    }

    /// Collects what may refer to a declaration, of this module or another.
    fn uses(&mut self, tokens: &Tokens<'a>) -> Result<(), Fault> {
        // Words of a template list that name no declaration; ascending.
        let mut fixed: Vec<usize> = Vec::new();
        // The index up to which words before `:` are members.
        let mut members = 0;
        // The index at which the last keyword seen declares a name.
        let mut declared = usize::MAX;
        let mut i = 0;
        while i < tokens.len() {
            if tokens.is(i, b'@') {
                i = past_attribute_name(tokens, i);
                continue;
            }
            let Some(name) = tokens.word(i) else {
                i += 1;
                continue;
            };
            if tokens.kind(i + 1) == Some(Kind::Path) {
                i = self.path(tokens, i)?;
                continue;
            }
            match name {
                "struct" if tokens.is(i + 2, b'{') => members = tokens.past(i + 2),
                "let" | "const" => declared = i + 1,
                "var" => {
                    declared = variable_name(tokens, i);
                    fixed.extend(i + 1..declared);
                }
                "ptr" => fixed.extend(enumerants(tokens, i, name)),
                _ if name.starts_with("texture_storage_") => {
                    fixed.extend(enumerants(tokens, i, name));
                }
                _ => {}
            }
            let typed = tokens.is(i + 1, b':');
            let member = tokens.follows(i, b'.') || (typed && i < members);
            if !member && !fixed.contains(&i) {
                self.words.push(Word {
                    name,
                    at: tokens.at(i),
                    declares: typed || i == declared,
                });
            }
            fixed.retain(|index| *index > i);
            i += 1;
        }
        Ok(())
    }

    /// Reads the path that starts at `i`; returns the index after it.
    fn path(&mut self, tokens: &Tokens<'a>, i: usize) -> Result<usize, Fault> {
        let mut segments: Vec<&str> = tokens.word(i).into_iter().collect();
        let mut end = i + 1;
        while tokens.kind(end) == Some(Kind::Path) {
            let Some(segment) = tokens.word(end + 1) else {
                return Err(Fault::new(tokens.at(end), "a name must follow `::`"));
            };
            segments.push(segment);
            end += 2;
        }
        let Some((module, item)) = import::resolve(&segments, tokens.at(i))? else {
            return Err(Fault::new(
                tokens.at(i),
                format!("`{}` names no item of a module", segments.join("::")),
            ));
        };
        self.paths.push(PathUse {
            module,
            item,
            span: tokens.span(i..end),
        });
        Ok(end)
    }
}

/// A directive without its comments and line breaks, so that equal ones are equal.
fn one_line(tokens: &Tokens, range: Range<usize>) -> String {
    let mut line = String::new();
    for i in range.clone() {
        if i > range.start && tokens.word(i).is_some() && !tokens.follows(i, b'(') {
            line.push(' ');
        }
        line.push_str(tokens.slice(i));
    }
    line
}

/// The index after the name of the attribute at `i`, and after its arguments
/// where they are names of WGSL's own rather than expressions.
fn past_attribute_name(tokens: &Tokens, i: usize) -> usize {
    match tokens.word(i + 1) {
        None => i + 1,
        Some(
            "align" | "binding" | "blend_src" | "group" | "id" | "location" | "size"
            | "workgroup_size",
        ) => i + 2,
        Some(_) if tokens.is(i + 2, b'(') => tokens.past(i + 2),
        Some(_) => i + 2,
    }
}

/// The index of the name that the `var` at `i` declares: its address space
/// and access mode come first.
fn variable_name(tokens: &Tokens, i: usize) -> usize {
    match tokens.template(i + 1) {
        Some((_, close)) => close + 1,
        None => i + 1,
    }
}

/// The address spaces, access modes and texel formats in the template list
/// that may follow the word at `i`.
fn enumerants(tokens: &Tokens, i: usize, name: &str) -> Vec<usize> {
    let Some((arguments, _)) = tokens.template(i + 1) else {
        return Vec::new();
    };
    arguments
        .into_iter()
        .enumerate()
        // `ptr<function, T, read>`: the type is an ordinary name.
        .filter(|(position, _)| name != "ptr" || *position != 1)
        .flat_map(|(_, argument)| argument)
        .collect()
}
