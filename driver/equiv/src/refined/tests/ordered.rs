//! Volatile and atomic accesses, and fences.

use super::of_definitions;

/// Bodies, and whether the second one refines the first one.
const ORDERED: &[(&str, &str, bool)] = &[
    // The same accesses in the same order, with what goes on around them.
    (
        "%v = load volatile i32, ptr %q\n%a = mul i32 %v, 8\nstore volatile i32 %a, ptr %q\nret i32 %a",
        "%v = load volatile i32, ptr %q\n%a = shl i32 %v, 3\nstore volatile i32 %a, ptr %q\nret i32 %a",
        true,
    ),
    (
        "%o = atomicrmw add ptr %q, i32 1 seq_cst\n%a = add i32 %o, 1\n%z = icmp eq i32 %a, 0\n\
         br i1 %z, label %t, label %e\nt:\ncall void @h(ptr %q)\nbr label %e\ne:\nret i32 %a",
        "%o = atomicrmw add ptr %q, i32 1 seq_cst\n%z = icmp eq i32 %o, -1\nbr i1 %z, label %t, label %e\n\
         t:\ncall void @h(ptr %q)\nbr label %e\ne:\n%a = add i32 1, %o\nret i32 %a",
        true,
    ),
    (
        "%c1 = cmpxchg ptr %q, i32 %x, i32 %y acq_rel monotonic\n%b = extractvalue { i32, i1 } %c1, 1\n\
         %r = zext i1 %b to i32\nret i32 %r",
        "%c1 = cmpxchg ptr %q, i32 %x, i32 %y acq_rel monotonic\n%b = extractvalue { i32, i1 } %c1, 1\n\
         %r = select i1 %b, i32 1, i32 0\nret i32 %r",
        true,
    ),
    (
        "store i32 1, ptr %q\nfence release\nstore i32 2, ptr %q\nret i32 0",
        "store i32 1, ptr %q\nfence release\nstore i32 2, ptr %q\nret i32 0",
        true,
    ),
    (
        "%v = load volatile i32, ptr %q\nstore i32 %v, ptr %q\nstore i32 7, ptr %q\nret i32 0",
        "%v = load volatile i32, ptr %q\nstore i32 7, ptr %q\nret i32 0",
        true,
    ),
    // Dropped, added, doubled, in another order, in another place.
    ("%v = load volatile i32, ptr %q\nret i32 0", "ret i32 0", false),
    ("ret i32 0", "%v = load volatile i32, ptr %q\nret i32 0", false),
    (
        "%v = load volatile i32, ptr %q\nret i32 %v",
        "%w = load volatile i32, ptr %q\n%v = load volatile i32, ptr %q\nret i32 %v",
        false,
    ),
    (
        "%v = load volatile i32, ptr %q\n%w = load volatile i32, ptr %q\n%r = sub i32 %v, %w\nret i32 %r",
        "%v = load volatile i32, ptr %q\n%w = load volatile i32, ptr %q\nret i32 0",
        false,
    ),
    (
        "%v = load volatile i32, ptr %q\n%w = load volatile i32, ptr %q\n%r = sub i32 %v, %w\nret i32 %r",
        "%w = load volatile i32, ptr %q\n%v = load volatile i32, ptr %q\n%r = sub i32 %v, %w\nret i32 %r",
        false,
    ),
    (
        "store volatile i32 1, ptr %q\nstore volatile i32 2, ptr %q\nret i32 0",
        "store volatile i32 2, ptr %q\nret i32 0",
        false,
    ),
    (
        "store volatile i32 1, ptr %q\nstore volatile i32 2, ptr %p\nret i32 0",
        "store volatile i32 2, ptr %p\nstore volatile i32 1, ptr %q\nret i32 0",
        false,
    ),
    (
        "store volatile i32 %n, ptr %q\n%r = load i32, ptr %q\nret i32 %r",
        "store volatile i32 %n, ptr %q\nret i32 %n",
        false,
    ),
    ("store volatile i32 1, ptr %q\nret i32 0", "store volatile i32 1, ptr %p\nret i32 0", false),
    ("store volatile i32 1, ptr %q\nret i32 0", "store volatile i32 3, ptr %q\nret i32 0", false),
    (
        "store volatile i32 1, ptr %q\nret i32 0",
        "br i1 %c, label %t, label %e\nt:\nstore volatile i32 1, ptr %q\nbr label %e\ne:\nret i32 0",
        false,
    ),
    // As something weaker, stronger, narrower, or aligned in another way.
    ("store volatile i32 1, ptr %q\nret i32 0", "store i32 1, ptr %q\nret i32 0", false),
    ("store i32 1, ptr %q\nret i32 0", "store volatile i32 1, ptr %q\nret i32 0", false),
    ("store volatile i32 1, ptr %q, align 4\nret i32 0", "store volatile i32 1, ptr %q, align 8\nret i32 0", false),
    ("store volatile i32 1, ptr %q\nret i32 0", "store volatile i16 1, ptr %q, align 4\nret i32 0", false),
    ("store volatile i32 0, ptr %q, align 4\nret i32 0", "store volatile float 0.0, ptr %q, align 4\nret i32 0", false),
    (
        "store atomic i32 1, ptr %q seq_cst, align 4\nret i32 0",
        "store atomic i32 1, ptr %q release, align 4\nret i32 0",
        false,
    ),
    (
        "store atomic i32 1, ptr %q seq_cst, align 4\nret i32 0",
        "store atomic volatile i32 1, ptr %q seq_cst, align 4\nret i32 0",
        false,
    ),
    ("store atomic i32 1, ptr %q seq_cst, align 4\nret i32 0", "store i32 1, ptr %q, align 4\nret i32 0", false),
    (
        "store atomic i32 1, ptr %q syncscope(\"singlethread\") seq_cst, align 4\nret i32 0",
        "store atomic i32 1, ptr %q seq_cst, align 4\nret i32 0",
        false,
    ),
    (
        "%o = atomicrmw add ptr %q, i32 1 seq_cst\nret i32 %o",
        "%o = atomicrmw add ptr %q, i32 1 acquire\nret i32 %o",
        false,
    ),
    (
        "%o = atomicrmw add ptr %q, i32 1 seq_cst\nret i32 %o",
        "%o = atomicrmw sub ptr %q, i32 1 seq_cst\nret i32 %o",
        false,
    ),
    (
        "%o = atomicrmw add ptr %q, i32 1 seq_cst\nret i32 %o",
        "%o = atomicrmw add ptr %q, i32 2 seq_cst\nret i32 %o",
        false,
    ),
    (
        "%o = atomicrmw volatile add ptr %q, i32 1 seq_cst\nret i32 %o",
        "%o = atomicrmw add ptr %q, i32 1 seq_cst\nret i32 %o",
        false,
    ),
    ("fence seq_cst\nret i32 0", "fence acquire\nret i32 0", false),
    ("fence seq_cst\nret i32 0", "ret i32 0", false),
    (
        "%c1 = cmpxchg ptr %q, i32 %x, i32 %y acq_rel monotonic\nret i32 0",
        "%c1 = cmpxchg ptr %q, i32 %y, i32 %x acq_rel monotonic\nret i32 0",
        false,
    ),
    (
        "%c1 = cmpxchg ptr %q, i32 %x, i32 %y acq_rel monotonic\nret i32 0",
        "%c1 = cmpxchg weak ptr %q, i32 %x, i32 %y acq_rel monotonic\nret i32 0",
        false,
    ),
    // No access that other code may observe moves across them.
    (
        "store i32 1, ptr %q\nfence release\nstore i32 2, ptr %p\nret i32 0",
        "fence release\nstore i32 1, ptr %q\nstore i32 2, ptr %p\nret i32 0",
        false,
    ),
    (
        "%v = load i32, ptr %q\n%a = load atomic i32, ptr %p acquire, align 4\n%w = load i32, ptr %q\nret i32 %w",
        "%v = load i32, ptr %q\n%a = load atomic i32, ptr %p acquire, align 4\nret i32 %v",
        false,
    ),
    (
        "store i32 1, ptr %q\nstore atomic i32 1, ptr %p release, align 4\nstore i32 2, ptr %q\nret i32 0",
        "store atomic i32 1, ptr %p release, align 4\nstore i32 2, ptr %q\nret i32 0",
        false,
    ),
    // A volatile store may be the end; what comes behind it comes not before it.
    (
        "store volatile i32 1, ptr %q\n%d = udiv i32 %x, %y\nret i32 %d",
        "%d = udiv i32 %x, %y\nstore volatile i32 1, ptr %q\nret i32 %d",
        false,
    ),
    // The value that is read may be anything, and its metadata count.
    ("%v = load volatile i32, ptr %q\nret i32 %v", "%v = load volatile i32, ptr %q, !noundef !7\nret i32 %v", false),
    ("%v = load volatile i32, ptr %q, !noundef !7\nret i32 %v", "%v = load volatile i32, ptr %q\nret i32 %v", true),
    ("%v = load volatile i32, ptr %q\nret i32 %v", "%v = load volatile i32, ptr %q, !range !6\nret i32 %v", false),
    (
        "%v = load volatile i32, ptr %q, !range !6, !noundef !7\nret i32 %v",
        "%v = load volatile i32, ptr %q\n%r = and i32 %v, 1\nret i32 %r",
        true,
    ),
    (
        "%v = load volatile i32, ptr %q\n%f = freeze i32 %v\nret i32 %f",
        "%v = load volatile i32, ptr %q\nret i32 %v",
        false,
    ),
    // Of no address is more known than of any other: it may be null, it may be a register of a machine.
    ("%v = load volatile i32, ptr null\nret i32 %x", "unreachable", false),
    (
        "store volatile i32 1, ptr %q\nret i32 0",
        "%v = load i32, ptr %q\nstore volatile i32 1, ptr %q\nret i32 0",
        false,
    ),
    // Others see slots that are accessed so.
    (
        "%s = alloca i32\nstore volatile i32 1, ptr %s\n%r = load i32, ptr %s\nret i32 %r",
        "%s = alloca i32\nstore volatile i32 1, ptr %s\nret i32 1",
        false,
    ),
    (
        "%s = alloca i32\nstore i32 7, ptr %s\n%v = load volatile i32, ptr %s\nret i32 %v",
        "%s = alloca i32\nstore i32 8, ptr %s\n%v = load volatile i32, ptr %s\nret i32 %v",
        false,
    ),
    (
        "%s = alloca i32\nstore i32 7, ptr %s\n%v = load volatile i32, ptr %s\nret i32 %v",
        "%s = alloca i32\nstore i32 7, ptr %s\n%v = load volatile i32, ptr %s\nret i32 7",
        false,
    ),
    // In loops.
    (
        "br label %l\nl:\n%v = load volatile i32, ptr %q\n%z = icmp eq i32 %v, %n\nbr i1 %z, label %e, label %l\ne:\nret i32 %v",
        "br label %l\nl:\n%v = load volatile i32, ptr %q\n%z = icmp eq i32 %n, %v\nbr i1 %z, label %e, label %l\ne:\nret i32 %v",
        true,
    ),
    (
        "br label %l\nl:\n%v = load volatile i32, ptr %q\n%z = icmp eq i32 %v, %n\nbr i1 %z, label %e, label %l\ne:\nret i32 %v",
        "%v = load volatile i32, ptr %q\nbr label %l\nl:\n%z = icmp eq i32 %n, %v\nbr i1 %z, label %e, label %l\ne:\nret i32 %v",
        false,
    ),
];

#[test]
fn accesses_that_others_notice_stay() {
    for (n, (before, after, refines)) in ORDERED.iter().enumerate() {
        let function = |body: &str| {
            let parameters = "i1 %c, i32 %x, i32 %y, ptr noundef %p, ptr noundef %q, i32 noundef %n";
            format!("!6 = !{{i32 0, i32 2}}\n!7 = !{{}}\ndefine i32 @f({parameters}) {{\nentry:\n{body}\n}}\n")
        };
        let decided = of_definitions(&function(before), &function(after));
        assert_eq!(decided.proved, *refines, "{n}: {before}\n--\n{after}\n{:?}", decided.seen.open);
    }
}
