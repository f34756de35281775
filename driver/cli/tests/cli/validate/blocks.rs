//! Blocks of memory that are set or copied, against loops that do the same.

use super::nests::verdict;

/// What sets or copies blocks.
const INTRINSICS: &str = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n\
    declare void @llvm.memset.p0.i32(ptr, i8, i32, i1)\n\
    declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n\
    declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)\n";

fn function(body: &str) -> String {
    let header = "ptr noalias noundef %a, ptr noalias noundef %b, i64 noundef %n, i8 %v";
    format!("{INTRINSICS}define void @f({header}) {{\nentry:\n{body}  ret void\n}}\n")
}

/// A loop whose counter goes from one number to another.
fn counted([from, to]: [&str; 2], step: i64, body: &str) -> String {
    let test = if step > 0 { "slt" } else { "sgt" };
    function(&format!(
        "  br label %x\nx:\n  %i = phi i64 [ {from}, %entry ], [ %j, %y ]\n  %c = icmp {test} i64 %i, {to}\n  \
         br i1 %c, label %y, label %z\ny:\n{body}  %j = add nsw i64 %i, {step}\n  br label %x\nz:\n"
    ))
}

/// `a[i] = value`.
fn stored(ty: &str, value: &str) -> String {
    format!("  %p = getelementptr inbounds {ty}, ptr %a, i64 %i\n  store {ty} {value}, ptr %p\n")
}

/// `a[i + to] = from[i + offset]`.
fn copied(ty: &str, to: i64, from: &str, offset: i64) -> String {
    format!(
        "  %k = add nsw i64 %i, {offset}\n  %q = getelementptr inbounds {ty}, ptr {from}, i64 %k\n  \
         %w = load {ty}, ptr %q\n  %d = add nsw i64 %i, {to}\n  %p = getelementptr inbounds {ty}, ptr %a, i64 %d\n  \
         store {ty} %w, ptr %p\n"
    )
}

fn set(address: &str, byte: &str, length: &str) -> String {
    format!("  call void @llvm.memset.p0.i64(ptr {address}, i8 {byte}, i64 {length}, i1 false)\n")
}

fn moved(by: &str, to: &str, from: &str, length: &str) -> String {
    format!("  call void @llvm.{by}.p0.p0.i64(ptr {to}, ptr {from}, i64 {length}, i1 false)\n")
}

/// The code, where there are elements.
fn where_some(code: &str) -> String {
    function(&format!("  %g = icmp sgt i64 %n, 0\n  br i1 %g, label %t, label %e\nt:\n{code}  br label %e\ne:\n"))
}

/// An address some bytes into `a`, as `%q`.
fn into(bytes: i64) -> String {
    format!("  %q = getelementptr inbounds i8, ptr %a, i64 {bytes}\n")
}

const BYTES: &str = "  %l = shl nuw i64 %n, 2\n";

#[test]
fn blocks_are_loops_over_elements() {
    let all = ["0", "100"];
    let condition = Some("%n <= 16777216");
    let whole = "holds whole values of the type that it is read as";
    for (name, before, after, expected) in [
        ("zeros", counted(all, 1, &stored("i32", "0")), function(&set("align 4 %a", "0", "400")), None),
        ("ones", counted(all, 1, &stored("i16", "-1")), function(&set("%a", "-1", "200")), None),
        ("pattern", counted(all, 1, &stored("i32", "16843009")), function(&set("%a", "1", "400")), None),
        ("0.0", counted(all, 1, &stored("double", "0.0")), function(&set("%a", "0", "800")), None),
        ("bytes", counted(["0", "%n"], 1, &stored("i8", "%v")), where_some(&set("%a", "%v", "%n")), None),
        (
            "size",
            counted(["0", "%n"], 1, &stored("i32", "0")),
            where_some(&format!("{BYTES}{}", set("%a", "0", "%l"))),
            condition,
        ),
        (
            "part",
            counted(["3", "100"], 1, &stored("i32", "0")),
            function(&format!("{}{}", into(12), set("%q", "0", "388"))),
            None,
        ),
        (
            "said",
            counted(all, 1, &stored("i32", "0")),
            function(&set("noundef nonnull align 4 dereferenceable(400) %a", "0", "400")),
            None,
        ),
        (
            "copy",
            counted(all, 1, &copied("i32", 0, "%b", 0)),
            function(&moved("memcpy", "align 4 %a", "align 4 %b", "400")),
            None,
        ),
        (
            "move down",
            counted(all, 1, &copied("i32", 0, "%a", 1)),
            function(&format!("{}{}", into(4), moved("memmove", "%a", "%q", "400"))),
            None,
        ),
        (
            "move up",
            counted(["99", "-1"], -1, &copied("i32", 1, "%a", 0)),
            function(&format!("{}{}", into(4), moved("memmove", "%q", "%a", "400"))),
            None,
        ),
        (
            "apart",
            counted(all, 1, &copied("i32", 0, "%a", 100)),
            function(&format!("{}{}", into(400), moved("memcpy", "%a", "%q", "400"))),
            None,
        ),
        (
            "back",
            function(&set("%a", "0", "400")),
            counted(all, 1, &stored("i32", "0").replace("ptr %p", "ptr %p, align 1")),
            None,
        ),
        (
            "copied back",
            function(&moved("memcpy", "align 4 %a", "align 4 %b", "400")),
            counted(all, 1, &copied("i32", 0, "%b", 0)),
            Some(&*format!("%b {whole}")),
        ),
    ] {
        let (found, precondition, shown) = verdict(&[before, after], "ll");
        assert_eq!((found.as_str(), precondition.as_deref()), ("proved", expected), "{name}: {shown}");
    }
}

#[test]
fn other_blocks_are_not_proved() {
    let all = ["0", "100"];
    let zeros = counted(all, 1, &stored("i32", "0"));
    for (name, before, after, refuted) in [
        ("more", zeros.clone(), function(&set("%a", "0", "404")), true),
        ("fewer", zeros.clone(), function(&set("%a", "0", "396")), true),
        ("a byte", counted(all, 1, &stored("i32", "1")), function(&set("%a", "1", "400")), true),
        ("-0.0", counted(all, 1, &stored("float", "-0.0")), function(&set("%a", "0", "400")), true),
        ("half", zeros.clone(), function(&set("%a", "0", "398")), false),
        (
            "negative",
            counted(["0", "%n"], 1, &stored("i32", "0")),
            function(&format!("{BYTES}{}", set("%a", "0", "%l"))),
            false,
        ),
        ("aligned", zeros.clone(), function(&set("align 16 %a", "0", "400")), false),
        ("an object", zeros.clone(), function(&set("dereferenceable(404) %a", "0", "400")), false),
        ("undef", counted(all, 1, &stored("i8", "0")), function(&set("%a", "undef", "100")), false),
        ("poison", counted(all, 1, &stored("i8", "%v")), function(&set("%a", "noundef %v", "100")), false),
        ("volatile", zeros.clone(), function(&set("%a", "0", "400").replace("i1 false", "i1 true")), false),
        (
            "overlap",
            counted(all, 1, &copied("i32", 0, "%a", 99)),
            function(&format!("{}{}", into(396), moved("memcpy", "%a", "%q", "400"))),
            false,
        ),
        (
            "direction",
            counted(all, 1, &copied("i32", 1, "%a", 0)),
            function(&format!("{}{}", into(4), moved("memmove", "%q", "%a", "400"))),
            true,
        ),
        (
            "order",
            function(&format!("{}{}", set("%a", "0", "400"), moved("memcpy", "%a", "%b", "400"))),
            function(&format!("{}{}", moved("memcpy", "%a", "%b", "400"), set("%a", "0", "400"))),
            true,
        ),
        (
            "bytes of a word",
            function(&set("align 4 %a", "0", "400")),
            counted(["0", "400"], 1, &stored("i8", "0").replace("ptr %p", "ptr %p, align 4")),
            false,
        ),
    ] {
        let (found, _, shown) = verdict(&[before, after], "ll");
        assert_ne!(found, "proved", "{name}: {shown}");
        assert!(!refuted || found == "refuted", "{name}: {shown}");
    }
}

/// A length of 32 bits has no sign.
#[test]
fn lengths_are_unsigned() {
    let long = function(&set("%a", "0", "-4").replace(".i64", ".i32").replace("i64 -4", "i32 -4"));
    let (found, _, shown) = verdict(&[long, function("")], "ll");
    assert_ne!(found, "proved", "{shown}");
}
