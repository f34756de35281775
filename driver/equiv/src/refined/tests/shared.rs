//! Parts that both versions have in common need no proof; parts that only look like that do.

use super::decided;

#[test]
fn a_decision_needs_no_choices_of_its_own() {
    // The first version decides more often: by what its call promises, and by a branch that leads nowhere.
    let old = "%r = call i32 @g(i32 noundef %x)\n%a = icmp eq i32 %r, 1\nbr i1 %a, label %y, label %n\n\
        y:\nbr label %n\n\
        n:\n%b = icmp ne i32 %r, 7\nbr i1 %b, label %one, label %two\n\
        one:\nbr label %end\n\
        two:\n%s = call i32 @g(i32 noundef %r)\nbr label %end\n\
        end:\n%v = phi i32 [ -1, %one ], [ %s, %two ]\nret i32 %v";
    let new = "%r = call i32 @g(i32 noundef %x)\n%b = icmp eq i32 %r, 7\nbr i1 %b, label %two, label %end\n\
        two:\n%s = call i32 @g(i32 noundef %r)\nbr label %end\n\
        end:\n%v = phi i32 [ %s, %two ], [ -1, %entry ]\nret i32 %v";
    assert!(decided(old, new).proved);
    for (old, new) in [
        // A frozen value is decided in the same way each time.
        (
            "%r = call i32 @g(i32 %x)\n%k = freeze i32 %r\n%a = icmp eq i32 %k, 1\n%v = select i1 %a, i32 2, i32 3\nret i32 %v",
            "%r = call i32 @g(i32 %x)\n%a = icmp eq i32 %r, 1\nbr i1 %a, label %y, label %n\n\
                y:\nret i32 2\n\
                n:\nret i32 3",
        ),
        // A decision that only one arm makes is made before.
        (
            "%a = icmp eq i32 %x, 1\nbr i1 %c, label %y, label %n\n\
                y:\nbr i1 %a, label %t, label %n\n\
                t:\nret i32 1\n\
                n:\nret i32 0",
            "%a = icmp eq i32 %x, 1\nbr i1 %a, label %y, label %n\n\
                y:\nbr i1 %c, label %t, label %n\n\
                t:\nret i32 1\n\
                n:\nret i32 0",
        ),
        // Two uses that no branch has seen before.
        (
            "%r = call i32 @g(i32 %x)\n%a = icmp eq i32 %r, 1\nbr i1 %a, label %y, label %n\n\
                y:\nret i32 %r\n\
                n:\nret i32 0",
            "%r = call i32 @g(i32 %x)\n%a = icmp eq i32 %r, 1\n%b = icmp eq i32 %r, 2\nbr i1 %a, label %y, label %m\n\
                y:\nret i32 %r\n\
                m:\nbr i1 %b, label %y, label %n\n\
                n:\nret i32 0",
        ),
    ] {
        let found = decided(old, new);
        assert!(!found.proved, "{old}\n\n{new}\n{found:?}");
    }
}

#[test]
fn only_what_was_written_since_is_compared() {
    let begins = "store i32 1, ptr %p\nstore i32 2, ptr %q\n";
    for (old, new, holds) in [
        ("store i32 %x, ptr %p\nret i32 0", "%z = add i32 %x, 0\nstore i32 %z, ptr %p\nret i32 0", true),
        ("store i32 %x, ptr %p\nret i32 0", "ret i32 0", false),
        (
            "store i32 3, ptr %p\nstore i32 4, ptr %q\nret i32 0",
            "store i32 4, ptr %q\nstore i32 3, ptr %p\nret i32 0",
            false,
        ),
        // The same value is written again, where something else may have been written between.
        ("store i32 3, ptr %q\nret i32 0", "store i32 3, ptr %q\nstore i32 1, ptr %p\nret i32 0", false),
        ("store i32 3, ptr %q\nret i32 0", "store i32 3, ptr %q\nstore i32 3, ptr %q\nret i32 0", true),
        // Bits are the same, and what is poison is not.
        (
            "%z = shl i32 %x, 1\nstore i32 %z, ptr %p\nret i32 0",
            "%z = shl nuw i32 %x, 1\nstore i32 %z, ptr %p\nret i32 0",
            false,
        ),
        (
            "%z = shl nuw i32 %x, 1\nstore i32 %z, ptr %p\nret i32 0",
            "%z = shl i32 %x, 1\nstore i32 %z, ptr %p\nret i32 0",
            true,
        ),
        // Others look at memory between, and change it.
        (
            "call void @h(ptr %p)\nstore i32 5, ptr %p\nret i32 0",
            "store i32 5, ptr %p\ncall void @h(ptr %p)\nret i32 0",
            false,
        ),
        ("call void @h(ptr %p)\nret i32 0", "call void @h(ptr %p)\nstore i32 2, ptr %q\nret i32 0", false),
        (
            "call void @h(ptr %p)\nstore i32 5, ptr %p\nret i32 0",
            "call void @h(ptr %p)\nstore i32 5, ptr %p\nstore i32 5, ptr %p\nret i32 0",
            true,
        ),
        // Conditions are those of the same block, however its edges are ordered.
        (
            "br i1 %c, label %y, label %n\ny:\nbr label %e\nn:\nstore i32 %n, ptr %p\nbr label %e\ne:\nret i32 0",
            "br i1 %c, label %e, label %n\nn:\nstore i32 %n, ptr %p\nbr label %e\ne:\nret i32 0",
            true,
        ),
        (
            "br i1 %c, label %y, label %n\ny:\nbr label %e\nn:\nstore i32 %n, ptr %p\nbr label %e\ne:\nret i32 0",
            "br i1 %c, label %n, label %e\nn:\nstore i32 %n, ptr %p\nbr label %e\ne:\nret i32 0",
            false,
        ),
    ] {
        let found = decided(&format!("{begins}{old}"), &format!("{begins}{new}"));
        assert_eq!(found.proved, holds, "{old}\n\n{new}\n{found:?}");
    }
}
