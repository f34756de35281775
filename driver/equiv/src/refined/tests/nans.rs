//! Which NaN an operation gives is chosen anew by each instruction.

use super::mentioned::holds;

fn refines(result: &str, before: &str, after: &str) -> bool {
    let module = |body: &str| {
        format!(
            "declare void @use(float, float)\ndefine {result} @f(float noundef %a, float noundef %b, ptr noundef %p, ptr noundef %q, i1 noundef %c) {{\nentry:\n{body}\n}}\n"
        )
    };
    holds(&module(before), &module(after))
}

const ONE: &str = "%x = fmul float %a, %b\n";
const OTHER: &str = "%y = fmul float %b, %a\n";

#[test]
fn two_instructions_give_two_nans() {
    let bits = |of: &str, n: usize| format!("%i{n} = bitcast float {of} to i32\n");
    let difference = |x: &str, y: &str| format!("{}{}%d = sub i32 %i0, %i1\nret i32 %d", bits(x, 0), bits(y, 1));
    let both = format!("{ONE}{OTHER}");
    let [once, twice] = [difference("%x", "%x"), difference("%x", "%y")];
    assert!(!refines("i32", "ret i32 0", &format!("{both}{twice}")));
    assert!(!refines("i32", &format!("{ONE}{once}"), &format!("{both}{twice}")));
    assert!(refines("i32", &format!("{both}{twice}"), &format!("{ONE}{once}")));
    assert!(refines("i32", &format!("{both}{twice}"), &format!("{both}{twice}")));
}

#[test]
fn who_sees_two_nans_sees_whether_they_are_one() {
    for (result, uses) in [
        ("void", "store float %x, ptr %p\nstore float Y, ptr %q\nret void"),
        ("void", "call void @use(float %x, float Y)\nret void"),
        (
            "{ float, float }",
            "%r = insertvalue { float, float } poison, float %x, 0\n\
             %s = insertvalue { float, float } %r, float Y, 1\nret { float, float } %s",
        ),
        ("float", "store float %x, ptr %p\nret float Y"),
    ] {
        let [one, two] =
            [format!("{ONE}{}", uses.replace('Y', "%x")), format!("{ONE}{OTHER}{}", uses.replace('Y', "%y"))];
        assert!(refines(result, &one, &one.replace("%a, %b", "%b, %a")), "{one}");
        assert!(refines(result, &two, &one), "{two}\n{one}");
        assert!(refines(result, &two, &two.replace("%a, %b", "%b, %a")), "{two}");
        assert!(!refines(result, &one, &two), "{one}\n{two}");
    }
}

#[test]
fn only_one_of_two_arms_gives_a_nan() {
    let one = format!(
        "{ONE}br i1 %c, label %s, label %t\ns:\nstore float %x, ptr %p\nret void\nt:\nstore float %x, ptr %q\nret void"
    );
    let two = "br i1 %c, label %s, label %t\ns:\n%x = fmul float %a, %b\nstore float %x, ptr %p\nret void\n\
               t:\n%y = fmul float %b, %a\nstore float %y, ptr %q\nret void";
    assert!(refines("void", &one, two) && refines("void", two, &one));
    // The values that are computed from them are the same, too.
    let more = |text: &str| {
        text.replace("store float %x", "%v = fadd float %x, %a\nstore float %v")
            .replace("store float %y", "%w = fadd float %a, %y\nstore float %w")
    };
    let again = two.replace("fmul float %b, %a", "fmul float %a, %b");
    assert!(refines("void", &more(two), &more(&again)));
}

#[test]
fn one_nan_stays_one_in_all_lanes() {
    let pair = |first: &str, second: &str| {
        format!(
            "%x = fmul float %a, 1.0\n%n = fcmp uno float %a, %a\n%y = select i1 %n, float 0x7FF8000000000000, float %x\n\
             %r = insertvalue {{ float, float }} poison, float {first}, 0\n\
             %s = insertvalue {{ float, float }} %r, float {second}, 1\nret {{ float, float }} %s"
        )
    };
    let ty = "{ float, float }";
    assert!(refines(ty, &pair("%x", "%x"), &pair("%a", "%a")));
    assert!(refines(ty, &pair("%x", "%b"), &pair("%a", "%b")));
    assert!(refines(ty, &pair("%x", "%x"), &pair("%y", "%y")));
    assert!(!refines(ty, &pair("%x", "%x"), &pair("%x", "%y")));
    assert!(!refines(ty, &pair("%x", "%x"), &pair("%a", "%y")));
    // The sign of a NaN is seen in what is computed of it.
    let signed = |first: &str| {
        format!(
            "%x = fmul float %a, 1.0\n%i = bitcast float %x to i32\n%j = and i32 %i, -2147483648\n\
             %k = or i32 %j, 1065353216\n%l = bitcast i32 %k to float\n%y = fadd float %l, 1.0\n\
             %r = insertvalue {{ float, float }} poison, float {first}, 0\n\
             %s = insertvalue {{ float, float }} %r, float %y, 1\nret {{ float, float }} %s"
        )
    };
    assert!(refines(ty, &signed("%x"), &signed("%x")));
    assert!(!refines(ty, &signed("%x"), &signed("%a")));
}

/// An operation that was executed once gives one NaN, which the other version may not choose anew in each iteration.
#[test]
fn a_nan_from_before_a_loop_is_one() {
    let looping = |before: &str, inside: &str| {
        format!(
            "{before}\nbr label %l\nl:\n%i = phi i64 [ 0, %entry ], [ %j, %l ]\n{inside}\n\
             %o = getelementptr float, ptr %p, i64 %i\nstore float %x, ptr %o\n%j = add nuw nsw i64 %i, 1\n\
             %d = icmp ult i64 %j, 100\nbr i1 %d, label %l, label %e\ne:\nret void"
        )
    };
    let (before, inside) = (looping(ONE, ""), looping("", ONE));
    assert!(refines("void", &inside, &before));
    assert!(refines("void", &before, &before.replace("add nuw nsw", "add nuw")));
    assert!(!refines("void", &before, &inside));
}
