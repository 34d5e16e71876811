//! `import` declarations and the paths in them.

use super::token::{Fault, Kind, Tokens};

/// A name that a module takes from another.
#[derive(Debug)]
pub(super) struct Import<'a> {
    /// The name within the importing module.
    pub(super) local: &'a str,
    pub(super) module: &'a str,
    pub(super) item: &'a str,
    /// The byte at which the name stands.
    pub(super) at: usize,
}

/// Reads the import whose keyword is at `start`; `end` is the index after its `;`.
pub(super) fn parse<'a>(
    tokens: &Tokens<'a>,
    start: usize,
    end: usize,
    imports: &mut Vec<Import<'a>>,
) -> Result<(), Fault> {
    if !tokens.follows(end, b';') {
        return Err(Fault::new(
            tokens.at(start),
            "this import does not end with `;`",
        ));
    }
    let mut parser = Parser {
        tokens,
        imports,
        prefix: Vec::new(),
        next: start + 1,
    };
    parser.tree()?;
    if parser.next != end - 1 {
        return Err(parser.unexpected("`;`"));
    }
    Ok(())
}

/// The module and item that a path names. `None` where it names a module.
///
/// `super::` and `package::` say nothing here: instances have one namespace.
pub(super) fn resolve<'a>(
    segments: &[&'a str],
    at: usize,
) -> Result<Option<(&'a str, &'a str)>, Fault> {
    let rooted = segments
        .iter()
        .take_while(|segment| matches!(**segment, "super" | "package"))
        .count();
    match segments[rooted..] {
        [_] => Ok(None),
        [module, item] => Ok(Some((module, item))),
        _ => Err(Fault::new(
            at,
            format!(
                "`{}` is not of the form `module::item`",
                segments.join("::")
            ),
        )),
    }
}

struct Parser<'t, 'a> {
    tokens: &'t Tokens<'a>,
    imports: &'t mut Vec<Import<'a>>,
    /// The segments before the braces that are being read.
    prefix: Vec<&'a str>,
    next: usize,
}

impl Parser<'_, '_> {
    /// One path with its braces. As deep as the brackets, which `Tokens` bounds.
    fn tree(&mut self) -> Result<(), Fault> {
        let outer = self.prefix.len();
        loop {
            if self.tokens.is(self.next, b'{') {
                self.list()?;
                break;
            }
            let at = self.tokens.at(self.next);
            let Some(segment) = self.tokens.word(self.next) else {
                return Err(self.unexpected("a name"));
            };
            self.next += 1;
            self.prefix.push(segment);
            if self.tokens.kind(self.next) == Some(Kind::Path) {
                self.next += 1;
                continue;
            }
            self.leaf(segment, at)?;
            break;
        }
        self.prefix.truncate(outer);
        Ok(())
    }

    fn list(&mut self) -> Result<(), Fault> {
        let close = self.tokens.inside(self.next).end;
        self.next += 1;
        while self.next < close {
            self.tree()?;
            if self.tokens.is(self.next, b',') {
                self.next += 1;
            } else if self.next != close {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
        self.next = close + 1;
        Ok(())
    }

    /// The end of a path, whose last segment stands at byte `at`.
    fn leaf(&mut self, segment: &'_ str, at: usize) -> Result<(), Fault> {
        let renamed = self.tokens.word(self.next) == Some("as");
        let target = resolve(&self.prefix, at)?;
        let mut local = None;
        if renamed {
            local = self.tokens.word(self.next + 1);
            if local.is_none() {
                self.next += 1;
                return Err(self.unexpected("a name after `as`"));
            }
            self.next += 2;
        }
        match (target, local) {
            (Some((module, item)), local) => self.imports.push(Import {
                local: local.unwrap_or(item),
                module,
                item,
                at,
            }),
            (None, None) => {}
            (None, Some(_)) => {
                return Err(Fault::new(
                    at,
                    format!("module `{segment}` cannot be renamed by `as`; give it a slot"),
                ));
            }
        }
        Ok(())
    }

    fn unexpected(&self, expected: &str) -> Fault {
        Fault::new(
            self.tokens.at(self.next),
            format!(
                "import: expected {expected}, found `{}`",
                self.tokens.slice(self.next)
            ),
        )
    }
}
