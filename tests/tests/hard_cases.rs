//! Cases that are hard for optimisers, each a file of `clif/hard` that says why. With the packs that ship, each
//! function becomes the better form stated here, and every directive of the file holds before and after.
//!
//! A form is the operations block by block, in order and without constants: `icmp brif | return | iadd return`.

use rewright_clif::optimise::ClifOptimiser;
use rewright_clif::read::{File, read, write};
use rewright_dsl::diagnostic::Severity;
use rewright_native::runtest::{directives, run_interpreted};
use rewright_packs as packs;
use rewright_pipeline::optimiser::{Fate, Options};
use std::path::Path;

/// A file that went through packs.
pub(crate) struct Case {
    after: File,
    costs: Vec<(u64, u64)>,
}

impl Case {
    fn new(name: &str) -> Case {
        Case::with(&[packs::DEFAULT], &format!("clif/hard/{name}.clif"))
    }

    /// With packs that ship; `path` is relative to the folder of these tests.
    pub(crate) fn with(names: &[&str], path: &str) -> Case {
        let roots = names.iter().map(|name| packs::root(Path::new(name)).expect("the standard packs ship"));
        let loaded = packs::load(roots.collect());
        assert!(loaded.diagnostics.iter().all(|d| d.severity != Severity::Error));
        let clif = ClifOptimiser::new(loaded.program).expect("the standard packs are a program");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let text = std::fs::read_to_string(&path).expect("the case has a file");
        let before = read(&text).expect("the case is CLIF");
        let outcome = clif.optimise(&before, &Options::default(), |_| true);
        let functions = || outcome.statistics.wanted();
        for function in functions() {
            assert!(
                matches!(function.fate, Fate::Optimised | Fate::Unchanged),
                "{}: {:?}",
                function.name,
                function.fate
            );
        }
        let costs = functions().filter_map(|f| f.outcome.as_ref()).map(|o| (o.cost_before, o.cost_after)).collect();
        let replaced: Vec<_> = outcome.replaced.iter().map(Option::as_ref).collect();
        let after = read(&write(&before, &replaced)).expect("what goes out is CLIF");
        let (calls, mistakes) = directives(&before);
        assert!(mistakes.is_empty() && !calls.is_empty(), "{mistakes:?}");
        for call in calls {
            for file in [&before, &after] {
                let ran = run_interpreted(file, call.function, &call.text);
                assert!(ran.holds(), "`{}`: {ran:?}", call.text);
            }
        }
        Case { after, costs }
    }

    /// The form of a function.
    fn form(&self, name: &str) -> String {
        let f = &self.after.functions[self.index(name)].func;
        let opcodes = |block| f.layout.block_insts(block).map(|inst| f.dfg.insts[inst].opcode().to_string());
        let block = |block| opcodes(block).filter(|opcode| opcode != "iconst").collect::<Vec<_>>().join(" ");
        f.layout.blocks().map(block).collect::<Vec<_>>().join(" | ")
    }

    fn index(&self, name: &str) -> usize {
        let functions = self.after.functions.iter();
        functions.map(|f| f.name()).position(|found| found == format!("%{name}")).expect("the case has this function")
    }

    /// The function has this form, and costs less than before.
    #[track_caller]
    pub(crate) fn becomes(&self, name: &str, form: &str) {
        assert_eq!(self.form(name), form, "%{name}");
        let (before, after) = self.costs[self.index(name)];
        assert!(after < before, "%{name}: {before} before, {after} after");
    }

    /// The function had this form, and keeps it.
    #[track_caller]
    pub(crate) fn stays(&self, name: &str, form: &str) {
        assert_eq!(self.form(name), form, "%{name}");
        let (before, after) = self.costs[self.index(name)];
        assert!(after <= before, "%{name}: {before} before, {after} after");
    }
}

#[test]
fn keccak_under_de_morgan() {
    let case = Case::new("keccak_de_morgan");
    let form = case.form("chi");
    // Which of two equally cheap forms a term has is not said.
    assert_eq!(form.split(' ').count(), 15 + 1, "{form}");
    assert_eq!(form.matches("bxor").count(), 5, "{form}");
    assert_eq!(form.matches("bnot").count(), 5, "{form}");
}

#[test]
fn a_word_stored_byte_by_byte() {
    let case = Case::new("bytes_stored");
    case.becomes("little", "store return");
    case.becomes("big", "bswap store return");
    case.becomes("may_trap", "istore8 ushr istore8 return");
    case.becomes("seen", "ireduce store load ushr ireduce store return");
    case.becomes("slot", "stack_addr bswap store return");
}

#[test]
fn nots_used_elsewhere() {
    let case = Case::new("nots_used_elsewhere");
    case.stays("shared", "bnot bnot band return");
    case.becomes("alone", "bor bnot return");
    case.becomes("undone", "bnot bnot band return");
}

#[test]
fn masked_words_reused() {
    let case = Case::new("mask_reused");
    case.becomes("alone", "bor band return");
    case.stays("one_reused", "band band bor return");
    case.becomes("both_reused", "band band bor return");
}

#[test]
fn a_multiply_in_both_arms() {
    Case::new("multiply_in_both_arms").becomes("both", "imul brif | iadd jump | isub jump | bxor return");
}

#[test]
fn a_cold_only_use_in_a_loop() {
    let form = "jump | icmp brif | bxor iadd icmp brif | return | imul iadd jump";
    Case::new("cold_only_use").becomes("sum", form);
}

#[test]
fn rematerialised_sums_with_constants() {
    Case::new("remat_chain").stays("chain", "iadd iadd iadd iadd brif | return | return");
}

#[test]
fn minus_one_before_an_address() {
    // The addresses are equal to the one stored to, so nothing is loaded.
    Case::new("minus_one_before_address").becomes("before", "stack_addr ishl iadd store return");
}

#[test]
fn a_sum_in_both_orders() {
    let case = Case::new("both_orders");
    case.becomes("both", "iadd imul return");
    case.becomes("nested", "return");
}

#[test]
fn congruence_after_a_change() {
    Case::new("congruence_after_change").becomes("late", "udiv return");
}

#[test]
fn pairs_of_the_machine() {
    let case = Case::new("machine_pairs");
    case.becomes("divide", "udiv imul isub return");
    // The quotient traps where the remainder does not: the least integer by -1.
    case.stays("divide_signed", "sdiv srem return");
    // One product of the machine; two of half the width are dearer.
    case.stays("halves", "uextend uextend imul ushr ireduce ireduce return");
}

#[test]
fn quotient_and_remainder_by_one_constant() {
    Case::new("divide_by_one_constant").becomes("tens", "umulhi ushr imul isub return");
}

#[test]
fn products_with_small_constants() {
    let case = Case::new("small_constants");
    case.becomes("three", "ishl iadd return");
    case.becomes("seven", "ishl isub return");
    case.becomes("nine", "ishl iadd return");
    case.becomes("minus_eight", "ishl ineg return");
}

#[test]
fn sixty_subtractions() {
    let form = format!("{} return", vec!["isub"; 59].join(" "));
    Case::new("subtractions").becomes("chain", &form);
}

#[test]
fn a_product_with_one_prunes_nothing() {
    Case::new("times_one").becomes("through", "return");
}

#[test]
fn block_parameters_equal_after_rewriting() {
    let case = Case::new("equal_parameters");
    case.becomes("merge", "return");
    case.becomes("around", "return");
}

#[test]
fn constants_of_a_path() {
    let case = Case::new("path_sensitive");
    case.becomes("arms", "icmp brif | return | iadd return");
    case.becomes("again", "icmp brif | return | return");
}

#[test]
fn dominated_bounds_checks() {
    let case = Case::new("bounds_checks");
    case.becomes("same", "icmp trapnz iadd bxor return");
    case.becomes("nested", "icmp brif | return | return");
}

#[test]
fn known_bits() {
    let case = Case::new("known_bits");
    case.becomes("extended", "uextend iadd return");
    case.becomes("masked", "band return");
}

#[test]
fn a_trap_that_is_certain() {
    Case::new("certain_trap").becomes("certain", "brif | trap | return");
}

#[test]
fn bytes_turned_in_any_order() {
    let case = Case::new("bytes_turned");
    for order in ["upwards", "downwards", "mixed", "crossed"] {
        case.becomes(order, "bswap return");
    }
}

#[test]
fn a_sum_hoisted_out_of_a_loop() {
    Case::new("hoisted_sum").becomes("loop", "iadd jump | iadd bxor iadd icmp brif | return");
}

#[test]
fn an_exponential_tree_of_choices() {
    let form = format!("{} return", vec!["iadd select"; 24].join(" "));
    Case::new("select_tree").becomes("tree", &form);
}

#[test]
fn sibling_divisions_stay_apart() {
    Case::new("sibling_divisions").stays("siblings", "br_table | udiv iadd return | udiv isub return | return");
}

#[test]
fn an_unreachable_loop() {
    Case::new("unreachable_loop").becomes("dead", "iadd return");
}

#[test]
fn a_narrow_part_of_a_wide_product() {
    Case::new("narrow_product").becomes("none", "return");
}

#[test]
fn comparisons_of_another_type_than_their_operands() {
    let case = Case::new("comparison_types");
    for function in ["eq_negated", "ne_negated"] {
        case.becomes(function, "icmp return");
    }
    let decided =
        ["smax_sge", "ule_umax", "sge_smin", "umin_ule", "sgt_smax", "ugt_umax", "smin_sgt", "umin_ugt", "sle_smax"];
    for function in decided {
        case.becomes(function, "return");
    }
}

#[test]
fn idioms_as_people_write_them() {
    let case = Case::new("idioms");
    let one_instruction = [
        ("popcnt", vec!["popcount32", "popcount_ladder", "popcount_add"]),
        ("ctz", vec!["ctz_by_popcnt", "ctz_by_clz"]),
        ("clz", vec!["clz_smear", "clz_guard"]),
        ("bswap", vec!["bswap32_bytes", "bswap32_c", "bswap64_c", "bswap64_halves"]),
        ("bitrev", vec!["bitrev8_masks"]),
        ("rotl", vec!["rot16_promoted"]),
    ];
    for (instruction, functions) in one_instruction {
        for function in functions {
            case.becomes(function, &format!("{instruction} return"));
        }
    }
    let several = [
        ("parity32", "popcnt band return"),
        ("next_pow2", "iadd clz ushr select iadd return"),
        ("is_pow2", "iadd bxor icmp return"),
        ("bit_as_number", "ushr band return"),
        ("blend", "bxor band bxor return"),
        ("range_check_u", "iadd icmp return"),
        ("bool_or_range", "iadd icmp return"),
        ("two_constants", "bor icmp return"),
        ("ascii_lower", "bor icmp return"),
        ("both_zero", "bor icmp return"),
        ("same_signs", "bxor icmp return"),
        ("clamp_s", "smax umin return"),
        ("clamp_swap", "return"),
        ("sat_sub_u", "umin isub return"),
        ("sat_add_bits", "bnot umin iadd return"),
        ("carry_twice", "iadd icmp uextend iadd iadd iadd return"),
        ("carry_bits", "iadd icmp uextend return"),
        ("average", "uextend uextend iadd ushr ireduce return"),
        ("smin_of_uext", "umin uextend return"),
        ("div_of_masked", "ireduce uextend ushr return"),
        ("udiv8", "uextend umulhi ushr ireduce return"),
        ("sdiv16", "sextend sshr smulhi sshr isub ireduce return"),
        ("udiv32_14", "ushr umulhi ushr return"),
        ("divisible_by_10", "imul rotr icmp return"),
        ("sdivisible_by_4", "band icmp return"),
        ("is_odd_s", "band icmp return"),
        ("cmp128_halves", "iconcat iconcat icmp return"),
        ("add128_concat", "iconcat iconcat iadd return"),
    ];
    for (function, form) in several {
        case.becomes(function, form);
    }
}

#[test]
fn ranges_and_bits_decide_tests() {
    let case = Case::new("ranges");
    case.becomes("field", "return");
    case.becomes("bytes", "return");
    case.stays("bytes_at_their_most", "uextend uextend iadd icmp return");
    case.becomes("product", "return");
    for name in ["by_branch", "by_branch_and_sum"] {
        case.becomes(name, "icmp brif | return | return");
    }
    case.becomes("one_after_the_other", "icmp brif | icmp brif | return | return");
    case.becomes("at_a_merge", "brif | jump | jump | imul return");
    case.becomes("by_check", "icmp trapnz return");
    // A value below 4 is below 6.
    case.becomes("earlier_check", "icmp trapnz icmp trapnz return");
    case.stays("other_order", "icmp brif | icmp brif | icmp return | return");
    case.stays("sum_that_overflows", "icmp brif | iadd icmp return | return");
}

#[test]
fn checks_in_both_arms() {
    let case = Case::new("checks_in_both_arms");
    case.becomes("arms", "sdiv brif | imul return | return");
    case.becomes("sums", "iadd udiv brif | iadd return | return");
    case.becomes("inv", "udiv jump | iadd iadd icmp brif | return");
    case.stays("codes", "brif | trapz iadd return | trapz return");
    case.stays("zero_times", "jump | icmp brif | udiv iadd iadd jump | return");
}
