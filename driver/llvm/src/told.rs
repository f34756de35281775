//! What reports say of a function of LLVM IR: the names of its values, their places in the source, and its text before
//! and after, in which what stays has one name.

use super::body::{Body, Operand, Shape};
use super::import::{Imported, InstPosition, Source};
use super::lex::{Kind, tokens};
use super::locations::Locations;
use super::module::{Definition, File};
use rewright_cfg_skeleton::ir::{Function, Value};
use rewright_pipeline::optimiser::{OptimisedFunction, ValueNames};
use rewright_pipeline::source::{Sides, SourcePlace, TextLine};
use std::collections::{BTreeMap, BTreeSet};

/// What values are called in what goes out, if something new does under a prefix, and were called; and where they are
/// in the source.
pub(super) fn value_names(
    imported: &Imported,
    changed: Option<(&OptimisedFunction, &str)>,
    locations: &Locations<'_>,
    file: &File,
    definition: &Definition,
) -> ValueNames {
    let head = definition.head(file);
    let (place, function) = (locations.of_function(head), locations.name_of_function(head));
    let mut names = ValueNames { place, function, places: places(imported, locations), ..ValueNames::default() };
    let Some((outcome, prefix)) = changed else { return names };
    names.results = (0..outcome.function.values.len()).map(|value| Some(format!("%{prefix}.{value}"))).collect();
    let locals = locals(imported);
    let original = |function: &Function| function.block(function.entry()).params.clone();
    for (ours, theirs) in original(&outcome.function).iter().zip(original(&imported.function)) {
        names.results[ours.index()] = locals.get(&theirs).map(|name| (*name).clone());
    }
    for inst in &imported.function.insts {
        if let (Some(number), Some(name)) = (inst.origin, inst.results.first().and_then(|value| locals.get(value))) {
            names.originals.insert(number, (*name).clone());
        }
    }
    names.in_source = in_source(imported, locations, &file.text[definition.body.clone()]);
    for (ours, theirs) in former_names(imported, outcome, prefix) {
        if let Some(known) = names.in_source.get(&theirs).cloned() {
            names.in_source.insert(ours, known);
        }
    }
    names
}

/// By name: the variable of the source that has this value, or the call that gives it. Without debug information nothing
/// is known.
fn in_source(imported: &Imported, locations: &Locations<'_>, body: &str) -> BTreeMap<String, String> {
    let mut known = locations.variables(body);
    if known.is_empty() {
        return known;
    }
    for instruction in imported.body.blocks.iter().flat_map(|block| &block.instructions) {
        let (Some(name), Shape::Call { callee: Some(callee), args, .. }) = (&instruction.result, &instruction.shape)
        else {
            continue;
        };
        let operand = |arg: &Operand| match known.get(&arg.text) {
            Some(variable) => variable.clone(),
            None if arg.is_local() => "..".into(),
            None => arg.text.trim_start_matches('@').to_string(),
        };
        let args: Vec<String> = args.iter().map(operand).collect();
        let call = format!("{}({})", callee.trim_start_matches('@'), args.join(", "));
        known.entry(name.clone()).or_insert(call);
    }
    known
}

/// Where imported instructions are in the source, by their numbers.
pub(super) fn places(imported: &Imported, locations: &Locations<'_>) -> BTreeMap<u32, SourcePlace> {
    let sources = imported.payloads.sources.iter().map(Source::position).enumerate();
    let placed = sources.filter_map(|(number, at)| Some((number as u32, place(imported, at?, locations)?)));
    placed.collect()
}

/// Where an instruction of the original is in the source.
pub(super) fn place(imported: &Imported, at: InstPosition, locations: &Locations<'_>) -> Option<SourcePlace> {
    let instruction = &imported.body.blocks[at.0].instructions[at.1];
    let (_, node) = instruction.metadata.iter().find(|(kind, _)| kind == "!dbg")?;
    locations.of_node(node)
}

/// By value of the imported function: its name; of several, the first one.
fn locals(imported: &Imported) -> BTreeMap<Value, &String> {
    let mut named: Vec<(Value, &String)> =
        imported.payloads.locals.iter().map(|(name, value)| (*value, name)).collect();
    named.sort_by(|a, b| b.cmp(a));
    named.into_iter().collect()
}

/// The text of a function before and after.
pub(super) fn sides(
    file: &File,
    definition: &Definition,
    imported: &Imported,
    outcome: &OptimisedFunction,
    locations: &Locations<'_>,
    (body, prefix): (&str, &str),
) -> Sides {
    let renamed = former_names(imported, outcome, prefix);
    let before = lines(&file.text[definition.body.clone()], locations, &BTreeMap::new());
    let mut after = lines(body, locations, &renamed);
    // LLVM leaves out the label of an entry that has no name.
    let is_label = |line: Option<&TextLine>| line.is_some_and(|line| line.text.ends_with(':'));
    if is_label(after.first()) && !is_label(before.first()) {
        after.remove(0);
    }
    Sides { before, after, renamed }
}

/// By name in what goes out: the original's name for the same value or block.
fn former_names(imported: &Imported, outcome: &OptimisedFunction, prefix: &str) -> BTreeMap<String, String> {
    let Body { blocks, .. } = &imported.body;
    let labels = imported.payloads.blocks.iter().enumerate();
    let mut names: BTreeMap<String, String> =
        labels.map(|(ours, theirs)| (format!("%{prefix}.b{ours}"), blocks[*theirs].label.clone())).collect();
    let (locals, mut used) = (locals(imported), BTreeSet::new());
    let mut results = BTreeMap::new();
    for inst in &imported.function.insts {
        results.extend(inst.origin.zip(inst.results.first().copied()));
    }
    // A statement keeps its name; whatever is executed in its place takes it.
    let statements = outcome.function.insts.iter().filter_map(|inst| {
        let original = results.get(&inst.origin?)?;
        Some((*inst.results.first()?, *original))
    });
    let same = outcome.originals.iter().map(|(ours, theirs)| (*ours, *theirs));
    let known: BTreeMap<Value, Value> = statements.chain(same).collect();
    for (ours, theirs) in known {
        if let Some(name) = locals.get(&theirs).filter(|name| used.insert((**name).clone())) {
            names.insert(format!("%{prefix}.{}", ours.0), (*name).clone());
        }
    }
    names
}

/// The lines of a body, without metadata, comments and records of variables, in other names.
fn lines(body: &str, locations: &Locations<'_>, renamed: &BTreeMap<String, String>) -> Vec<TextLine> {
    let shown = body.lines().filter_map(|line| line_of(line, locations, renamed));
    shown.collect()
}

fn line_of(line: &str, locations: &Locations<'_>, renamed: &BTreeMap<String, String>) -> Option<TextLine> {
    let tokens = tokens(line);
    let word = |i: usize| tokens.get(i).map_or("", |t| &line[t.start..t.end]);
    let says_where_variables_are = |text: &str| text.starts_with("#dbg_") || text.starts_with("@llvm.dbg.");
    if tokens.is_empty() || tokens.iter().any(|t| says_where_variables_are(&line[t.start..t.end])) {
        return None;
    }
    // Attached metadata follow the instruction: `, !dbg !24, !tbaa !5`.
    let mut depth = 0i32;
    let mut end = tokens.len();
    for (i, token) in tokens.iter().enumerate() {
        match word(i) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ if token.kind == Kind::Metadata && depth <= 0 && i > 0 && word(i - 1) == "," => {
                end = i - 1;
                break;
            }
            _ => {}
        }
    }
    let mut text = line[..tokens[0].start].to_string();
    let mut at = tokens[0].start;
    for (i, token) in tokens[..end].iter().enumerate() {
        text.push_str(&line[at..token.start]);
        let is_label = token.kind == Kind::Word && word(i + 1) == ":" && i == 0;
        let name = if is_label { format!("%{}", word(i)) } else { word(i).to_string() };
        match renamed.get(&name).filter(|_| is_label || token.kind == Kind::Local) {
            Some(former) if is_label => text.push_str(&former[1..]),
            Some(former) => text.push_str(former),
            None => text.push_str(word(i)),
        }
        at = token.end;
    }
    let attached = tokens.iter().position(|t| &line[t.start..t.end] == "!dbg");
    let place = attached.and_then(|at| {
        let node = tokens.get(at + 1)?;
        // A location may be written out.
        let rest = if word(at + 2) == "(" { &line[node.start..] } else { &line[node.start..node.end] };
        locations.of_node(rest)
    });
    Some(TextLine { text, place })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_for_people() {
        let locations = Locations::read(
            "!1 = !DIFile(filename: \"a.c\")\n!2 = !DISubprogram(file: !1)\n!3 = !DILocation(line: 4, scope: !2)\n",
        );
        let renamed = BTreeMap::from([("%rw.1", "%x"), ("%rw.b2", "%out")].map(|(a, b)| (a.into(), b.into())));
        let shown =
            |line: &str| line_of(line, &locations, &renamed).map(|line| (line.text, line.place.map(|p| p.line)));
        assert_eq!(
            shown("  %rw.1 = add i32 %rw.1, %rw.12, !dbg !3 ; c"),
            Some(("  %x = add i32 %x, %rw.12".into(), Some(4)))
        );
        assert_eq!(shown("rw.b2:   ; preds = %rw.b2"), Some(("out:".into(), None)));
        assert_eq!(shown("  br label %rw.b2, !llvm.loop !9, !dbg !3"), Some(("  br label %out".into(), Some(4))));
        assert_eq!(shown("  ret void, !dbg !DILocation(line: 7, scope: !2)"), Some(("  ret void".into(), Some(7))));
        assert_eq!(shown("    #dbg_value(i32 %x, !16, !DIExpression(), !21)"), None);
        assert_eq!(shown("  call void @llvm.dbg.value(metadata i32 %x, metadata !1, metadata !2), !dbg !3"), None);
        assert_eq!(
            shown("  %s = call i8 @\"rw.b2:\"(metadata !3, [2 x i8] c\"; \\22\")"),
            Some(("  %s = call i8 @\"rw.b2:\"(metadata !3, [2 x i8] c\"; \\22\")".into(), None))
        );
        assert_eq!(shown("  ; nothing"), None);
        assert_eq!(shown(""), None);
    }
}
