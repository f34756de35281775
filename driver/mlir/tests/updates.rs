//! Statements that combine a cell with a value, in another order.

use rewright_cfg_skeleton::verdict::{Kind, Verdict};
use rewright_mlir::{NestReport, NoOracle, Options, certificates, validate};

const ARGUMENTS: &str =
    "%n: index, %m: index, %a: memref<?xi32>, %b: memref<?x?xi32>, %c: memref<?xi32>, %d: memref<?xi32>";

fn file(body: &str) -> String {
    format!(
        "func.func private @ext()
        func.func @f({ARGUMENTS}) -> i32 {{
        %zero = arith.constant 0 : i32
        %rare = arith.constant 123456789 : i32
        %k0 = arith.constant 0 : index
        {body}\n}}\n"
    )
}

/// The verdict on `@f`.
fn named(report: NestReport) -> Verdict {
    report.functions.into_iter().find(|verdict| verdict.function == "f").expect("a verdict on `f`")
}

fn verdict(before: &str, after: &str, options: &Options) -> Verdict {
    named(validate(&file(before), &file(after), options))
}

/// The verdict, and that there is a certificate of each proof.
fn proved(before: &str, after: &str) {
    let found = verdict(before, after, &Options::default());
    assert!(found.verdict == Kind::Proved && found.precondition.is_none(), "{found}\n{before}\n{after}");
    let made = certificates(&file(before), &file(after), &Options::default(), &mut NoOracle);
    assert!(made.iter().any(|(name, found)| name == "f" && found.is_ok()), "{before}\n{after}");
}

/// With more steps than each proof here takes, and few runs: they prove nothing.
fn unproved(before: &str, after: &str) {
    let found = verdict(before, after, &Options { budget: 2_000_000, rounds: 4, ..Options::default() });
    assert_ne!(found.verdict, Kind::Proved, "{found}\n{before}\n{after}");
}

/// A loop that updates `%c[0]`, forwards or backwards: in `body`, `%i` is the number of the iteration.
fn each(body: &str) -> [String; 2] {
    let whole = |body: &str| format!("affine.for %i = 0 to %n {{\n{body}\n}}\nreturn %zero : i32");
    [whole(body), whole(&backwards(body))]
}

fn backwards(body: &str) -> String {
    body.replace("%i]", "%n - 1 - %i]").replace("[%i,", "[%n - 1 - %i,")
}

/// `%c[0] = %c[0] by %a[i]`
fn update(by: &str) -> String {
    format!(
        "%l = affine.load %c[0] : memref<?xi32>
         %x = affine.load %a[%i] : memref<?xi32>
         %s = {by} %l, %x : i32
         affine.store %s, %c[0] : memref<?xi32>"
    )
}

#[test]
fn updates_by_one_operation_may_change_their_order() {
    let [before, after] = each(&update("arith.subi"));
    proved(&before, &after);
    unproved(&before, &after.replace("%l, %x : i32", "%x, %l : i32"));
    for by in ["addi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui"] {
        let [before, after] = each(&update(&format!("arith.{by}")));
        proved(&before, &after);
        // The operands in the other order, too.
        proved(&before, &after.replace("%l, %x : i32", "%x, %l : i32"));
    }
    // A value that a loop carries, and one of two.
    let carried = |subscript: &str| {
        format!(
            "%s:2 = affine.for %i = 0 to %n iter_args(%t = %zero, %u = %rare) -> (i32, i32) {{
               %x = affine.load %a[{subscript}] : memref<?xi32>
               %v = arith.addi %t, %x : i32
               %w = arith.xori %u, %x : i32
               affine.yield %v, %w : i32, i32
             }}
             %r = arith.muli %s#0, %s#1 : i32
             return %r : i32"
        )
    };
    proved(&carried("%i"), &carried("%n - 1 - %i"));
    // Rows and columns.
    let sum = |outer: &str, inner: &str| {
        format!(
            "affine.for {outer} {{ affine.for {inner} {{
               %l = affine.load %c[0] : memref<?xi32>
               %x = affine.load %b[%i, %j] : memref<?x?xi32>
               %s = arith.addi %x, %l : i32
               affine.store %s, %c[0] : memref<?xi32>
             }} }}
             return %zero : i32"
        )
    };
    proved(&sum("%i = 0 to %n", "%j = 0 to %m"), &sum("%j = 0 to %m", "%i = 0 to %n"));
}

#[test]
fn updates_of_cells_that_data_names_may_change_their_order() {
    let [before, after] = each(
        "%0 = affine.load %a[%i] : memref<?xi32>
         %k = arith.index_cast %0 : i32 to index
         %l = memref.load %c[%k] : memref<?xi32>
         %x = affine.load %d[%i] : memref<?xi32>
         %s = arith.addi %l, %x : i32
         memref.store %s, %c[%k] : memref<?xi32>",
    );
    proved(&before, &after);
    // Weights that the counts decide.
    unproved(&before, &after.replace("%d[%n - 1 - %i]", "%c[%n - 1 - %i]"));
    unproved(&before.replace("%d[%i]", "%c[%i]"), &after.replace("%d[%n - 1 - %i]", "%c[%n - 1 - %i]"));
}

/// What differs on rare values only, which runs do not meet.
#[test]
fn updates_that_something_sees_keep_their_order() {
    let load = "%l = affine.load %c[0] : memref<?xi32>\n%x = affine.load %a[%i] : memref<?xi32>";
    let store = "affine.store %s, %c[0] : memref<?xi32>";
    let is_rare = |of: &str| format!("%q = arith.cmpi eq, {of}, %rare : i32\n%e = arith.extui %q : i1 to i32");
    let seen = is_rare("%l");
    let rare = is_rare("%x");
    let bodies = [
        // The value depends on the cell.
        format!("{load}\n{seen}\n%v = arith.addi %x, %e : i32\n%s = arith.addi %l, %v : i32\n{store}"),
        format!("{load}\n{seen}\n%v = arith.select %q, %rare, %x : i32\n%s = arith.addi %v, %l : i32\n{store}"),
        format!("{load}\n{seen}\n%s0 = arith.addi %l, %x : i32\n%s = arith.addi %s0, %e : i32\n{store}"),
        // Another statement sees the cell, before the update, as the value that is stored, or after it.
        format!(
            "{load}\n{seen}\n%d0 = affine.load %d[0] : memref<?xi32>\n%o = arith.ori %d0, %e : i32\n\
                 affine.store %o, %d[0] : memref<?xi32>\n%s = arith.addi %l, %x : i32\n{store}"
        ),
        format!(
            "{load}\n%s = arith.addi %l, %x : i32\n{store}\n{}\n%d0 = affine.load %d[0] : memref<?xi32>\n\
                 %o = arith.ori %d0, %e : i32\naffine.store %o, %d[0] : memref<?xi32>",
            is_rare("%s")
        ),
        format!(
            "{load}\n%s = arith.addi %l, %x : i32\n{store}\n%p = affine.load %c[0] : memref<?xi32>\n{}\n\
                 %d0 = affine.load %d[0] : memref<?xi32>\n%o = arith.ori %d0, %e : i32\n\
                 affine.store %o, %d[0] : memref<?xi32>",
            is_rare("%p")
        ),
        // A branch does.
        format!(
            "{load}\n{seen}\nscf.if %q {{\naffine.store %rare, %d[0] : memref<?xi32>\n}}\n\
                 %s = arith.addi %l, %x : i32\n{store}"
        ),
        format!(
            "{load}\n{seen}\nscf.if %q {{\n%s = arith.addi %l, %x : i32\n{store}\n}} else {{\n\
                 %s = arith.addi %l, %zero : i32\n{store}\n}}"
        ),
        // Operations that do not give the same together: sums and masks, sums and products, sums and what is set.
        format!(
            "{load}\n{rare}\n%s = arith.addi %l, %x : i32\n{store}\n%p = affine.load %c[0] : memref<?xi32>\n\
                 %w = arith.xori %p, %e : i32\naffine.store %w, %c[0] : memref<?xi32>"
        ),
        format!(
            "{load}\n{rare}\n%s = arith.addi %l, %x : i32\n{store}\nscf.if %q {{\n\
                 %p = affine.load %c[0] : memref<?xi32>\n%w = arith.muli %p, %x : i32\n\
                 affine.store %w, %c[0] : memref<?xi32>\n}}"
        ),
        format!(
            "{load}\n{rare}\n%s = arith.addi %l, %x : i32\n{store}\nscf.if %q {{\n\
                 affine.store %zero, %c[0] : memref<?xi32>\n}}"
        ),
        format!(
            "{load}\n{rare}\n%s = arith.maxsi %l, %x : i32\n{store}\n%p = affine.load %c[0] : memref<?xi32>\n\
                 %w = arith.minsi %p, %x : i32\nscf.if %q {{\naffine.store %w, %c[0] : memref<?xi32>\n}}"
        ),
        // Two that are not one after the other: the first one is lost.
        format!(
            "{load}\n{rare}\n%p = affine.load %c[0] : memref<?xi32>\n%s = arith.addi %l, %e : i32\n{store}\n\
                 %w = arith.addi %p, %x : i32\naffine.store %w, %c[0] : memref<?xi32>"
        ),
        format!(
            "{load}\n{rare}\nscf.if %q {{\naffine.store %zero, %c[0] : memref<?xi32>\n}}\n\
                 %s = arith.addi %l, %x : i32\n{store}"
        ),
        // Cells of one array that depend on each other.
        format!(
            "{load}\n{rare}\n%p = affine.load %c[1] : memref<?xi32>\n%s = arith.addi %l, %p : i32\n{store}\n\
                 %p2 = affine.load %c[1] : memref<?xi32>\n%w = arith.addi %p2, %e : i32\n\
                 affine.store %w, %c[1] : memref<?xi32>"
        ),
        // What is read of one cell, and stored in another one.
        format!("{load}\n{rare}\n%s = arith.muli %l, %e : i32\naffine.store %s, %c[1] : memref<?xi32>"),
        // Promises that other sums break.
        format!("{load}\n%s = arith.addi %l, %x overflow<nsw> : i32\n{store}"),
        format!("{load}\n%s = arith.muli %l, %x overflow<nuw> : i32\n{store}"),
        // Operations that depend on the order.
        format!(
            "{load}\n{rare}\n%s = arith.shli %l, %e : i32\n%t = arith.ori %s, %e : i32\naffine.store %t, %c[0] : memref<?xi32>"
        ),
        format!("{load}\n{rare}\n%s = arith.subi %e, %l : i32\n{store}"),
        // A call sees each.
        format!("{load}\n%s = arith.addi %l, %x : i32\n{store}\nfunc.call @ext() : () -> ()"),
        format!("{load}\nfunc.call @ext() : () -> ()\n%s = arith.addi %l, %x : i32\n{store}"),
    ];
    for body in &bodies {
        let [before, after] = each(body);
        unproved(&before, &after);
    }
    // The value that is left behind is not the sum: what the last iteration has read.
    let last = |subscript: &str| {
        format!(
            "%s:2 = affine.for %i = 0 to %n iter_args(%t = %zero, %u = %zero) -> (i32, i32) {{
               %x = affine.load %a[{subscript}] : memref<?xi32>
               %q = arith.cmpi eq, %t, %rare : i32
               %e = arith.extui %q : i1 to i32
               %v = arith.addi %t, %x : i32
               %w = arith.ori %u, %e : i32
               affine.yield %v, %w : i32, i32
             }}
             return %s#1 : i32"
        )
    };
    unproved(&last("%i"), &last("%n - 1 - %i"));
}

#[test]
fn sums_of_floats_and_parts_of_sums_keep_their_order() {
    let [before, after] = each(&update("arith.addi"));
    let float = |text: &str| {
        text.replace("addi", "addf").replace("i32", "f32").replace(" 0 :", " 0.0 :").replace("789 :", "789.0 :")
    };
    let body = |text: &str| float(&file(text));
    let report = validate(&body(&before), &body(&after), &Options::default());
    let found = named(report);
    assert_ne!(found.verdict, Kind::Proved, "{found}");
    // One element twice, one not at all, and one too many.
    for subscript in ["%n - 2 - %i", "%i floordiv 2", "%n - %i"] {
        unproved(&before, &before.replace("%a[%i]", &format!("%a[{subscript}]")));
    }
    unproved(&before, &after.replace("0 to %n", "1 to %n"));
    unproved(&before, &after.replace("arith.addi", "arith.xori"));
    unproved(&before, &after.replace("%c[0]", "%c[1]"));
}
