//! What an instruction does, apart from its operands: a text by which instructions of two functions are compared.

use crate::import::Payloads;
use cranelift_codegen::ir::Function;
use rewright_cfg_skeleton::ir::PayloadId;

/// An instruction or terminator that is not modelled, without the names of values: its opcode, types, immediates and
/// flags, and, where it names something of the function's preamble, all of that. Two with one description do the same
/// on the same operands.
pub fn describe(original: &Function, payloads: &Payloads, payload: PayloadId) -> String {
    let Some(inst) = payloads.inst(payload) else { return format!("unknown payload {}", payload.0) };
    let text = original.dfg.display_inst(inst).to_string();
    let bare = without_values(text.rsplit_once(" = ").map_or(text.as_str(), |(_, right)| right));
    let preamble: Vec<String> = preamble(original);
    let names = |line: &String| line.trim().split([' ', '=']).next().is_some_and(|name| mentions(&bare, name));
    match preamble.iter().any(names) {
        // Entities that it names may themselves name others.
        true => format!("{bare}\n{}", preamble.join("\n")),
        false => bare,
    }
}

/// The lines before the first block: stack slots, signatures, functions, globals, constants.
fn preamble(original: &Function) -> Vec<String> {
    let text = original.display().to_string();
    let lines = text.lines().skip(1).take_while(|line| !line.trim_start().starts_with("block"));
    lines.map(str::to_string).filter(|line| !line.trim().is_empty()).collect()
}

/// `v12` becomes `v`.
fn without_values(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    while let Some(start) = rest.find(is_word) {
        let (before, word) = rest.split_at(start);
        let end = word.find(|c| !is_word(c)).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        let is_value = word.strip_prefix('v').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        out.push_str(before);
        out.push_str(if is_value { "v" } else { word });
        rest = after;
    }
    out + rest
}

/// Is a name a word of a text?
fn mentions(text: &str, name: &str) -> bool {
    !name.is_empty() && text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_no_names() {
        assert_eq!(without_values("call fn0(v1, v23), v0x"), "call fn0(v, v), v0x");
        assert!(mentions("call fn0(v, v)", "fn0") && !mentions("call fn01(v)", "fn0"));
    }
}
