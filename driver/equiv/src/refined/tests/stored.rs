//! What has been stored and is read again, where it is poison, `undef`, or another value at each use.

use super::definitions_within;

fn proved(before: &str, after: &str) -> bool {
    let function = |body: &str| {
        format!(
            "define i32 @f(ptr %p, ptr %q, i32 noundef %n, i32 %x, ptr %p2, i1 noundef %c) {{\nentry:\n{body}\n}}\n\
             declare i32 @llvm.vector.reduce.add.v4i32(<4 x i32>)\n!0 = !{{}}\n"
        )
    };
    definitions_within(&function(before), &function(after), 20_000_000).proved
}

/// Ends behind a branch that both versions have.
fn behind_a_branch(before: &str, last: &str) -> String {
    format!("{before}\nbr i1 %c, label %a, label %b\na:\n%t = load i32, ptr %q, !noundef !0\nbr label %b\nb:\n{last}")
}

/// Behind a loop, so that nothing is known of memory.
fn behind_a_loop(last: &str) -> String {
    format!(
        "br label %l\nl:\n%i = phi i32 [ 0, %entry ], [ %j, %l ]\n%t = load i32, ptr %q, !noundef !0\n%j = add i32 %i, 1\n\
         %k = icmp ult i32 %j, %n\nbr i1 %k, label %l, label %m\nm:\n{last}"
    )
}

#[test]
fn poison_in_memory_of_the_first_version_is_anything_in_that_of_the_second_one() {
    let poison = "store i32 poison, ptr %p";
    assert!(!proved(&behind_a_branch(poison, "ret i32 0"), &behind_a_branch("store i32 5, ptr %p", "ret i32 1")));
    assert!(proved(&behind_a_branch(poison, "ret i32 0"), &behind_a_branch("store i32 5, ptr %p", "ret i32 0")));
    let read = "%v = load i32, ptr %p, !noundef !0";
    let [stored, left] = [format!("{read}\n{poison}"), read.to_string()];
    let other = "%w = add i32 %v, 1\nret i32 %w";
    assert!(proved(&behind_a_branch(&stored, "ret i32 %v"), &behind_a_branch(&left, "ret i32 %v")));
    assert!(!proved(&behind_a_branch(&stored, "ret i32 %v"), &behind_a_branch(&left, other)));
}

/// Of a value that is poison anything can be said, but not of what is in memory in its place.
#[test]
fn what_is_said_of_poison_is_not_said_of_what_takes_its_place() {
    let looping = |before: &str, inside: &str, result: &str| {
        format!(
            "{before}\nbr label %l\nl:\n%i = phi i32 [ 0, %entry ], [ %j, %l ]\n{inside}\n%j = add i32 %i, 1\n\
             %k = icmp ult i32 %j, %n\nbr i1 %k, label %l, label %m\nm:\nret i32 {result}"
        )
    };
    let old = looping(
        "%z = add i32 poison, 0\nstore i32 %z, ptr %p",
        "%v = phi i32 [ %z, %entry ], [ %w, %l ]\n%w = add i32 %v, 3\nstore i32 %w, ptr %p\n\
         %y = icmp ult i32 %w, %n\n%d = icmp ult i32 %v, %n",
        "0",
    );
    let new = |result: &str| looping("store i32 5, ptr %p", "store i32 5, ptr %p", result);
    assert!(!proved(&old, &new("1")));
}

#[test]
fn what_is_as_large_is_not_what_has_been_stored() {
    let stores = |value: &str, other: &str| format!("{value}\nstore i32 %b, ptr %p\nstore i32 {other}, ptr %q");
    let read = "%r = load i32, ptr %q";
    let zero = "%b = select i1 true, i32 0, i32 undef";
    let poison = "%b = select i1 true, i32 poison, i32 undef";
    for (before, result, after, other) in [
        (stores(zero, "poison"), "ret i32 0", stores(zero, "poison"), format!("{read}\nret i32 %r")),
        (stores(poison, "0"), "%r = load i32, ptr %q\nret i32 %r", stores(poison, "0"), "ret i32 77".into()),
    ] {
        assert!(!proved(&format!("{before}\n{result}"), &format!("{after}\n{other}")), "{before}");
    }
    let made = "%d = sub i32 %x, %x\n%k = icmp ne i32 %d, 0\n%b = select i1 %k, i32 0, i32 0\n\
                %e = select i1 %k, i32 poison, i32 0";
    let [made, and] = [stores(made, "%e"), "%z = and i32 %x, 0".into()];
    let other = format!("{made}\n{read}\n{and}\n%o = or i32 %r, %z\nret i32 %o");
    assert!(!proved(&format!("{made}\n{and}\nret i32 %z"), &other));
}

#[test]
fn poison_that_is_read_is_not_zero_that_is_read() {
    let stores = |read: &str, result: &str| {
        behind_a_loop(&format!(
            "store i32 poison, ptr %p\n%y = load i32, ptr %p\nstore i32 %y, ptr %p2\nstore i32 0, ptr %q\n{read}\n\
             store i32 0, ptr %p\nstore i32 0, ptr %p2\nstore i32 0, ptr %q\n{result}\nret i32 %e"
        ))
    };
    let old = stores("%r = load i32, ptr %q", "%z = and i32 %x, 0\n%e = or i32 %r, %z");
    assert!(!proved(&old, &stores("", "%e = sub i32 %x, %x")));
    assert!(proved(&old, &stores("", "%e = and i32 %x, 0")));
}

/// A folded value is read again nowhere.
#[test]
fn vectorised_sums_behind_stores_are_decided() {
    let sum = |vector: bool| match vector {
        false => {
            "store i32 7, ptr %p\nbr label %l\nl:\n%i = phi i64 [ 0, %entry ], [ %j, %l ]\n\
                  %s = phi i32 [ 0, %entry ], [ %t, %l ]\n%g = getelementptr inbounds i32, ptr %q, i64 %i\n\
                  %v = load i32, ptr %g, align 4\n%t = add i32 %v, %s\n%j = add nuw nsw i64 %i, 1\n\
                  %k = icmp eq i64 %j, 1024\nbr i1 %k, label %m, label %l\nm:\nret i32 %t"
        }
        true => {
            "store i32 7, ptr %p\nbr label %l\nl:\n%i = phi i64 [ 0, %entry ], [ %j, %l ]\n\
                 %s = phi <4 x i32> [ zeroinitializer, %entry ], [ %t, %l ]\n\
                 %g = getelementptr inbounds i32, ptr %q, i64 %i\n%v = load <4 x i32>, ptr %g, align 4\n\
                 %t = add <4 x i32> %v, %s\n%j = add nuw nsw i64 %i, 4\n%k = icmp eq i64 %j, 1024\n\
                 br i1 %k, label %m, label %l\nm:\n%r = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %t)\nret i32 %r"
        }
    };
    assert!(proved(sum(false), sum(true)));
    assert!(!proved(sum(false), &sum(true).replace("%j = add nuw nsw i64 %i, 4", "%j = add nuw nsw i64 %i, 8")));
}

#[test]
fn frozen_values_in_memory_are_not_what_has_been_frozen() {
    let made = "%v = select i1 undef, i32 3, i32 4\n";
    let old = format!(
        "{made}store i32 %v, ptr %p\n%w = freeze i32 %v\nstore i32 %w, ptr %p\n%r = load i32, ptr %p\n\
         %k = icmp eq i32 %r, 3\nbr i1 %k, label %y, label %m\ny:\nret i32 1\nm:\nret i32 1"
    );
    let new = |result: u32| format!("{made}%f = freeze i32 %v\nstore i32 %f, ptr %p\nret i32 {result}");
    assert!(!proved(&old, &new(0)));
}

/// The value that computes an address in the memory of the first version may be poison there, and `undef` in that of the
/// second one.
#[test]
fn addresses_are_defined_in_both_memories() {
    let stores = |stores: &str, result: &str| {
        let reads = "br label %l\nl:\n%i = phi i32 [ 0, %entry ], [ %j, %l ]\n%t = load i32, ptr %p2, !noundef !0\n\
                     %j = add i32 %i, 1\n%k = icmp ult i32 %j, %n\nbr i1 %k, label %l, label %m\nm:";
        format!(
            "%u = zext i32 %x to i64\n%g = getelementptr i8, ptr %p, i64 16\n{stores}\n{reads}\n{result}\nret i32 %r"
        )
    };
    let old = stores(
        "store i64 poison, ptr %g\n%y = load i64, ptr %g\n%z = select i1 true, i64 0, i64 %y\n\
         %a = getelementptr i8, ptr %p, i64 %z\nstore i32 5, ptr %a",
        "%r = and i32 %x, 0",
    );
    let new = |result: &str| stores("store i64 %u, ptr %g\nstore i32 5, ptr %p", result);
    assert!(!proved(&old, &new("%r = sub i32 %x, %x")));
}

/// Equal addresses of other objects are not the same pointer, nor is a number.
#[test]
fn pointers_in_memory_have_objects() {
    let function = |body: &str| format!("define ptr @f(ptr noundef %p, ptr noundef %a) {{\n{body}\n}}\n");
    let body = |result: &str| {
        format!(
            "%v = select i1 undef, ptr %p, ptr %p\nstore ptr %v, ptr %a\n%i = ptrtoint ptr %p to i64\nstore i64 %i, ptr %a\n\
             %x = load ptr, ptr %a\nret ptr {result}"
        )
    };
    assert!(!definitions_within(&function(&body("%x")), &function(&body("%p")), 20_000_000).proved);
}
