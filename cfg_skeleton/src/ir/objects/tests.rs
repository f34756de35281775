//! Which objects are private.

use super::*;
use crate::ir::parse::read;
use crate::testing::universe;
use rewright_typeprop::Universe;

/// Is the object at `%p` private in a function with these instructions?
fn is_private(body: &str) -> bool {
    let mut u: Universe = universe();
    let text = format!(
        "func %f(%q: i64, %k: i32) -> i32 {{\n  %o: i64 = const 0\n  %four: i64 = const 4\n  %p: i64 = opaque 1 pinned ()\n  %b: i8 = icmp_eq %k, %k\n  \
         {}\n}}\n",
        body.replace('\n', "\n  ")
    );
    let mut f = read(&text, &mut u).unwrap_or_else(|e| panic!("{e:?}\n{text}")).functions.remove(0);
    let places = [(1, 1), (2, 2), (3, 1)];
    for (payload, object) in places {
        f.objects.set_place(PayloadId(payload), Place { object: ObjectId::Numbered(object), offset: 0, size: None });
    }
    f.objects.set_bound(PayloadId(4));
    f.objects.set_step(PayloadId(5));
    let cfg = Cfg::new(&f);
    let private = PrivateObjects::new(&f, &cfg, &u);
    let address = f.insts.iter().find(|inst| f.objects.place(inst).is_some()).map(|inst| inst.results[0]);
    address.is_some_and(|address| private.of(address) == Some(ObjectId::Numbered(1)))
}

#[test]
fn an_object_whose_address_is_only_accessed_is_private() {
    for body in [
        "store %p, %k, %o",
        "%r: i64 = iadd %p, %four\nstore %r, %k, %o\n%l: i32 = load %p, %o",
        "%r: i64 = opaque 5 pure (%p)\nstore %r, %k, %o",
        "opaque 4 writes (%p)",
        // The same address again.
        "%d: i64 = isub %p, %q\n%r: i64 = iadd %q, %d\nstore %r, %k, %o",
        // The same object, another instruction.
        "%r: i64 = opaque 3 pure ()\n%c: i64 = select %b, %p, %r\nstore %c, %k, %o",
        "%c: i8 = icmp_eq %p, %o\nbr %c, then, els\nthen:\nreturn %k\nels:\nstore %p, %k, %o",
        "%r: i64 = iadd %p, %four\n%c: i64 = select %b, %p, %r\nstore %c, %k, %o",
        "jump next(%p)\nnext(%r: i64):\nstore %r, %k, %o\n%s: i64 = iadd %r, %four\nbr %k, next(%s), out\nout:",
        "jump next(%p)\nnext(%r: i64):\nstore %r, %k, %o",
    ] {
        assert!(is_private(&format!("{body}\nreturn %k")), "{body}");
    }
}

#[test]
fn an_object_whose_address_goes_elsewhere_is_not() {
    for body in [
        "store %q, %p, %o",
        "%r: i64 = opaque 9 pure (%p)\nstore %r, %k, %o",
        "opaque 9 writes (%p)",
        "opaque 9 observes (%p)",
        "%r: i64 = iadd %p, %four\nopaque 9 pinned (%r)",
        "jump next(%p)\nnext(%r: i64):\nopaque 9 writes (%r)",
        // It may be one of two.
        "%r: i64 = opaque 2 pure ()\n%c: i64 = select %b, %p, %r\nstore %c, %k, %o",
        "%c: i8 = icmp_eq %p, %q\nbr %c, then, els\nthen:\nreturn %k\nels:\nstore %p, %k, %o",
        "%c: i8 = icmp_ult %p, %four\nbr %c, then, els\nthen:\nreturn %k\nels:\nstore %p, %k, %o",
        // An address that may be another one.
        "%c: i64 = select %b, %p, %q\nstore %c, %k, %o",
        "%c: i64 = select %b, %o, %p\nstore %c, %k, %o",
        "br %k, next(%p), next(%q)\nnext(%r: i64):\nstore %r, %k, %o",
        "jump next(%p)\nnext(%r: i64):\nstore %r, %k, %o\n%l: i64 = load %q, %o\nbr %k, next(%l), out\nout:",
        // Numbers that were computed from it.
        "%d: i64 = isub %q, %p\n%r: i64 = iadd %q, %d\nstore %r, %k, %o",
        "%d: i64 = band %p, %four\n%r: i64 = iadd %q, %d\nstore %r, %k, %o",
        "%d: i64 = isub %q, %p\nstore %d, %k, %o",
        "%d: i64 = iadd %p, %four\n%e: i64 = isub %d, %p\n%r: i64 = iadd %q, %e\nstore %r, %k, %o",
    ] {
        assert!(!is_private(&format!("{body}\nreturn %k")), "{body}");
    }
}
