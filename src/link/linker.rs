//! Resolution of names across modules, and the linked text.

use super::nearest::nearest;
use super::scan::{Scan, scan};
use super::token::{Fault, line_break};
use super::{LinkError, Linked, Module, Piece};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Reserved words that an instance and an item can form between them.
const RESERVED: [&str; 10] = [
    "co_await",
    "co_return",
    "co_yield",
    "const_assert",
    "const_cast",
    "dynamic_cast",
    "reinterpret_cast",
    "static_assert",
    "static_cast",
    "thread_local",
];

pub(super) fn link(root: &Module, modules: &[Module], flags: &[&str]) -> Result<Linked, LinkError> {
    let mut linker = Linker {
        root,
        modules,
        instances: instances(modules)?,
        scans: (0..=modules.len()).map(|_| None).collect(),
        names: RESERVED.into_iter().collect(),
    };
    linker.reach(flags)?;
    let live = Live::of(&linker)?;
    let renamed = linker.rename();
    let mut output = Output::default();
    linker.write_directives(&mut output);
    for index in 0..linker.scans.len() {
        linker.write_module(index, &renamed, &live, &mut output)?;
    }
    Ok(output.finish())
}

/// The index of each instance.
fn instances(modules: &[Module]) -> Result<HashMap<&str, usize>, LinkError> {
    let mut instances = HashMap::with_capacity(modules.len());
    for (index, module) in modules.iter().enumerate() {
        let problem = if !is_identifier(&module.name) {
            "is not a WGSL identifier"
        } else if instances.insert(module.name.as_str(), index).is_some() {
            "is the name of two instances"
        } else {
            continue;
        };
        let message = format!("`{}` {problem}", module.name);
        return Err(error(module, Fault::new(0, message)));
    }
    Ok(instances)
}

/// Whether names that start with this are WGSL identifiers.
fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    let start = chars.next().is_some_and(|c| c == '_' || c.is_alphabetic());
    start
        && name != "_"
        && !name.starts_with("__")
        && chars.all(|c| c == '_' || c.is_alphanumeric())
}

/// A fault of a module with its file and line.
pub(super) fn error(module: &Module, fault: Fault) -> LinkError {
    let before = &module.text.as_bytes()[..fault.at.min(module.text.len())];
    LinkError {
        file: module.file.to_string(),
        line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
        message: fault.message,
    }
}

struct Linker<'a> {
    root: &'a Module,
    modules: &'a [Module],
    instances: HashMap<&'a str, usize>,
    /// The modules reached, by their index; the root has the last.
    scans: Vec<Option<Scan<'a>>>,
    /// Every word of every module reached.
    names: HashSet<&'a str>,
}

/// The new names of each module's declarations, by the module's index.
type Renamed<'a> = Vec<HashMap<&'a str, String>>;

impl<'a> Linker<'a> {
    fn module(&self, index: usize) -> &'a Module {
        self.modules.get(index).unwrap_or(self.root)
    }

    /// Scans the root and every module that it needs, directly or not.
    fn reach(&mut self, flags: &[&str]) -> Result<(), LinkError> {
        let mut waiting = vec![self.modules.len()];
        while let Some(index) = waiting.pop() {
            if self.scans[index].is_some() {
                continue;
            }
            let module = self.module(index);
            let scan =
                scan(&module.text, flags, &mut self.names).map_err(|fault| error(module, fault))?;
            for (name, _, at) in targets(&scan) {
                let instance = self
                    .instance(module, name, at)
                    .map_err(|fault| error(module, fault))?;
                waiting.push(instance);
            }
            self.scans[index] = Some(scan);
        }
        for (index, scan) in self.scans.iter().enumerate() {
            let module = self.module(index);
            for (name, item, at) in scan.iter().flat_map(targets) {
                self.check_item(module, name, item, at)
                    .map_err(|fault| error(module, fault))?;
            }
        }
        Ok(())
    }

    /// The index of the instance that `name` means within `module`.
    fn instance(&self, module: &Module, name: &str, at: usize) -> Result<usize, Fault> {
        let slot = module.slots.iter().find(|(local, _)| local == name);
        let instance = slot.map_or(name, |(_, instance)| instance);
        if let Some(index) = self.instances.get(instance) {
            return Ok(*index);
        }
        let mut message = format!("there is no module `{name}`");
        if instance != name {
            message += &format!(", which is to be the instance `{instance}`");
        }
        let known = self.modules.iter().map(|module| module.name.as_str());
        let slots = module.slots.iter().map(|(local, _)| local.as_str());
        if let Some(near) = nearest(instance, known.chain(slots)) {
            message += &format!("; the nearest is `{near}`");
        }
        Err(Fault::new(at, message))
    }

    /// Refuses a path to what its module does not declare.
    fn check_item(&self, module: &Module, name: &str, item: &str, at: usize) -> Result<(), Fault> {
        let index = self.instance(module, name, at)?;
        let declared = self.scans[index]
            .as_ref()
            .map_or(&[][..], |scan| &scan.declared);
        if declared.contains(&item) {
            return Ok(());
        }
        let file = &self.module(index).file;
        let mut message = format!("module `{name}` ({file}) declares no `{item}`");
        if let Some(near) = nearest(item, declared.iter().copied()) {
            message += &format!("; the nearest is `{near}`");
        }
        Err(Fault::new(at, message))
    }

    /// Chooses the new names. None of them is a word of any module, so none
    /// can be captured or capture.
    fn rename(&self) -> Renamed<'a> {
        let mut chosen: HashSet<String> = HashSet::new();
        let free = |name: &String, chosen: &HashSet<String>| {
            !self.names.contains(name.as_str()) && !chosen.contains(name)
        };
        let mut renamed: Renamed = Vec::with_capacity(self.scans.len());
        for (index, scan) in self.scans.iter().enumerate() {
            let mut names = HashMap::new();
            let module = self.modules.get(index);
            // The root's declarations keep their names.
            if let (Some(module), Some(scan)) = (module, scan) {
                for item in &scan.declared {
                    if names.contains_key(item) {
                        continue;
                    }
                    let plain = format!("{}_{item}", module.name);
                    let mut name = plain.clone();
                    let mut suffix = 0;
                    while !free(&name, &chosen) {
                        suffix += 1;
                        name = format!("{plain}_{suffix}");
                    }
                    chosen.insert(name.clone());
                    names.insert(*item, name);
                }
            }
            renamed.push(names);
        }
        renamed
    }

    fn write_directives(&self, output: &mut Output) {
        let mut seen = HashSet::new();
        for (index, scan) in self.scans.iter().enumerate() {
            let module = self.module(index);
            for (directive, at) in scan.iter().flat_map(|scan| &scan.directives) {
                if seen.insert(directive) {
                    let line = error(module, Fault::new(*at, "")).line;
                    output.piece(module, line, |text| {
                        text.push_str(directive);
                        text.push('\n');
                    });
                }
            }
        }
    }

    /// Writes a module, if it is reached.
    fn write_module(
        &self,
        index: usize,
        renamed: &Renamed,
        live: &Live,
        output: &mut Output,
    ) -> Result<(), LinkError> {
        let Some(scan) = &self.scans[index] else {
            return Ok(());
        };
        let module = self.module(index);
        let edits = self
            .edits(index, scan, renamed)
            .map_err(|fault| error(module, fault))?;
        let mut text = String::with_capacity(module.text.len());
        write_edited(&mut text, &module.text, &edits);
        let root = index == self.modules.len();
        if !root && !text.ends_with('\n') {
            text.push('\n');
        }
        output.heading(module);
        // Edits keep lines, so that the text's are those of the source.
        let dead = dead_lines(&module.text, scan, &live.items[index]);
        if dead.is_empty() {
            output.piece(module, 1, |to| to.push_str(&text));
            return Ok(());
        }
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut from = 0;
        let end = lines.len()..lines.len();
        for range in dead.into_iter().chain(std::iter::once(end)) {
            if from < range.start {
                let kept = &lines[from..range.start];
                output.piece(module, from + 1, |text| text.extend(kept.iter().copied()));
            }
            from = from.max(range.end);
        }
        Ok(())
    }

    /// The replacements in a module's text, in its order.
    fn edits<'r>(
        &self,
        index: usize,
        scan: &Scan<'a>,
        renamed: &'r Renamed<'a>,
    ) -> Result<Vec<(Range<usize>, &'r str)>, Fault> {
        let module = self.module(index);
        let target = |name: &str, item: &str, at: usize| {
            let instance = self.instance(module, name, at)?;
            Ok(renamed[instance].get(item).map_or("", String::as_str))
        };
        let mut names: HashMap<&str, &str> = renamed[index]
            .iter()
            .map(|(item, name)| (*item, name.as_str()))
            .collect();
        let mut imported = HashSet::new();
        for import in &scan.imports {
            if !imported.insert(import.local) {
                let message = format!("`{}` is imported twice", import.local);
                return Err(Fault::new(import.at, message));
            }
            names.insert(import.local, target(import.module, import.item, import.at)?);
        }
        if let Some(item) = scan.declared.iter().find(|item| imported.contains(*item)) {
            let at = scan.words.iter().find(|word| word.name == *item);
            return Err(Fault::new(
                at.map_or(0, |word| word.at),
                format!("`{item}` is declared here and imported"),
            ));
        }
        if index != self.modules.len() {
            self.check_root(scan, &names)?;
        }
        let mut edits: Vec<(Range<usize>, &str)> = Vec::with_capacity(scan.words.len());
        for word in &scan.words {
            if let Some(name) = names.get(word.name) {
                edits.push((word.at..word.at + word.name.len(), name));
            }
        }
        for path in &scan.paths {
            let name = target(path.module, path.item, path.span.start)?;
            edits.push((path.span.clone(), name));
        }
        edits.extend(scan.blanks.iter().map(|blank| (blank.clone(), "")));
        edits.sort_unstable_by_key(|(range, _)| range.start);
        Ok(edits)
    }

    /// Refuses a word that means nothing in its module and would come to mean
    /// a declaration of the root: a function of WGSL's that the root
    /// redefines, or an import that is missing.
    fn check_root(&self, scan: &Scan, names: &HashMap<&str, &str>) -> Result<(), Fault> {
        let Some(root) = self.scans.last().and_then(Option::as_ref) else {
            return Ok(());
        };
        let locals = scan.words.iter().filter(|word| word.declares);
        let mut suspect: HashSet<&str> = root.declared.iter().copied().collect();
        for known in names.keys().copied().chain(locals.map(|word| word.name)) {
            suspect.remove(known);
        }
        match scan.words.iter().find(|word| suspect.contains(word.name)) {
            None => Ok(()),
            Some(word) => Err(Fault::new(
                word.at,
                format!(
                    "`{}` is not declared in this module and would become the one of the root \
                     ({}); import it from a module, or rename the root's",
                    word.name, self.root.file
                ),
            )),
        }
    }
}

/// The declarations that the root needs, directly or not, by module.
struct Live {
    items: Vec<Vec<bool>>,
}

impl Live {
    fn of(linker: &Linker) -> Result<Live, LinkError> {
        let root = linker.modules.len();
        let mut live = Live {
            items: Vec::with_capacity(root + 1),
        };
        // Declarations and module-scope statements to follow.
        let mut waiting: Vec<(usize, Range<usize>)> = Vec::new();
        for (index, scan) in linker.scans.iter().enumerate() {
            let Some(scan) = scan else {
                live.items.push(Vec::new());
                continue;
            };
            let text = &linker.module(index).text;
            // Only what has its lines to itself can be left out.
            let kept = |(k, span): (usize, &Range<usize>)| {
                index == root || scan.entry_points.contains(&k) || own_lines(text, span).is_none()
            };
            let items: Vec<bool> = scan.spans.iter().enumerate().map(kept).collect();
            let spans = scan.spans.iter().zip(&items);
            waiting.extend(
                spans
                    .filter(|(_, kept)| **kept)
                    .map(|(span, _)| (index, span.clone())),
            );
            let mut from = 0;
            for span in &scan.spans {
                waiting.push((index, from..span.start));
                from = span.end;
            }
            waiting.push((index, from..text.len()));
            live.items.push(items);
        }
        while let Some((index, span)) = waiting.pop() {
            let needed = linker
                .needs(index, &span)
                .map_err(|fault| error(linker.module(index), fault))?;
            for (index, name) in needed {
                let Some(scan) = &linker.scans[index] else {
                    continue;
                };
                for (k, declared) in scan.declared.iter().enumerate() {
                    if *declared == name && !std::mem::replace(&mut live.items[index][k], true) {
                        waiting.push((index, scan.spans[k].clone()));
                    }
                }
            }
        }
        Ok(live)
    }
}

impl<'a> Linker<'a> {
    /// The declarations that the text within `span` may refer to.
    fn needs(&self, index: usize, span: &Range<usize>) -> Result<Vec<(usize, &'a str)>, Fault> {
        let Some(scan) = &self.scans[index] else {
            return Ok(Vec::new());
        };
        let module = self.module(index);
        let mut needed = Vec::new();
        let first = scan.words.partition_point(|word| word.at < span.start);
        for word in scan.words[first..]
            .iter()
            .take_while(|word| word.at < span.end)
        {
            if scan.declared.contains(&word.name) {
                needed.push((index, word.name));
            } else if let Some(import) = scan.imports.iter().find(|i| i.local == word.name) {
                needed.push((
                    self.instance(module, import.module, import.at)?,
                    import.item,
                ));
            }
        }
        for path in scan
            .paths
            .iter()
            .filter(|path| span.contains(&path.span.start))
        {
            needed.push((
                self.instance(module, path.module, path.span.start)?,
                path.item,
            ));
        }
        Ok(needed)
    }
}

/// The lines (from 0) that a declaration has to itself.
fn own_lines(text: &str, span: &Range<usize>) -> Option<Range<usize>> {
    let before = &text[..span.start];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let after = &text[span.end..];
    let rest = after.find('\n').map_or(after, |at| &after[..at]);
    let alone = before[line_start..].trim().is_empty() && rest.trim().is_empty();
    let count = |text: &str| text.bytes().filter(|b| *b == b'\n').count();
    let first = count(before);
    alone.then(|| first..first + count(&text[span.clone()]) + 1)
}

/// The lines (from 0) of what is left out: declarations with the comments that
/// stand right above them and the empty line below, ascending.
fn dead_lines(text: &str, scan: &Scan, live: &[bool]) -> Vec<Range<usize>> {
    let lines: Vec<&str> = text.split('\n').collect();
    let is = |line: usize, f: fn(&str) -> bool| lines.get(line).is_some_and(|l| f(l.trim()));
    let dead = scan.spans.iter().zip(live).filter(|(_, live)| !**live);
    dead.filter_map(|(span, _)| {
        let mut range = own_lines(text, span)?;
        while range.start > 0 && is(range.start - 1, |line| line.starts_with("//")) {
            range.start -= 1;
        }
        if is(range.end, str::is_empty) && range.end + 1 < lines.len() {
            range.end += 1;
        }
        Some(range)
    })
    .collect()
}

/// What a module asks of others: module, item, and the byte where it does.
fn targets<'a>(scan: &Scan<'a>) -> impl Iterator<Item = (&'a str, &'a str, usize)> {
    let imports = scan
        .imports
        .iter()
        .map(|import| (import.module, import.item, import.at));
    let paths = scan
        .paths
        .iter()
        .map(|path| (path.module, path.item, path.span.start));
    imports.chain(paths)
}

/// Copies a text with replacements, in whose place its line breaks stay.
fn write_edited(to: &mut String, text: &str, edits: &[(Range<usize>, &str)]) {
    let mut from = 0;
    for (range, name) in edits {
        if range.start < from {
            continue;
        }
        to.push_str(&text[from..range.start]);
        to.push_str(name);
        write_blank(to, &text[range.clone()], name.is_empty());
        from = range.end;
    }
    to.push_str(&text[from..]);
}

/// Writes the line breaks of a text and, if `pad`, as many blanks as its last
/// line has bytes, so that what follows keeps its column.
fn write_blank(to: &mut String, text: &str, pad: bool) {
    let bytes = text.as_bytes();
    let mut line = 0;
    let mut i = 0;
    while i < bytes.len() {
        let length = line_break(bytes, i);
        if length > 0 {
            to.push_str(&text[i..i + length]);
            line = i + length;
        }
        i += length.max(1);
    }
    if pad {
        to.extend(std::iter::repeat_n(' ', bytes.len() - line));
    }
}

/// The linked text as it grows.
struct Output {
    linked: Linked,
    /// The line that is written next, from 1.
    line: usize,
}

impl Default for Output {
    fn default() -> Self {
        Self {
            linked: Linked {
                text: String::new(),
                pieces: Vec::new(),
            },
            line: 1,
        }
    }
}

impl Output {
    /// The comment before a module, on one line whatever the file's name.
    fn heading(&mut self, module: &Module) {
        let file = module.file.replace(
            |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'),
            " ",
        );
        self.linked.text += &format!("// ---- {} ({file})\n", module.name);
        self.line += 1;
    }

    /// Writes lines that stand in the module's file from line `origin` on.
    fn piece(&mut self, module: &Module, origin: usize, write: impl FnOnce(&mut String)) {
        let start = self.linked.text.len();
        write(&mut self.linked.text);
        let bytes = &self.linked.text.as_bytes()[start..];
        let breaks = bytes.iter().filter(|byte| **byte == b'\n').count();
        self.linked.pieces.push(Piece {
            first: self.line,
            count: breaks,
            file: module.file.to_string(),
            origin,
        });
        self.line += breaks;
    }

    /// The result. Its last line has no break, and is where a compiler
    /// reports the end of the text.
    fn finish(mut self) -> Linked {
        if let Some(last) = self.linked.pieces.last_mut() {
            last.count += 1;
        }
        self.linked
    }
}
