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
        "%r: i64 = opaque 9 pure (%p)\nstore %r, %k, %o",
        "opaque 4 writes (%p)",
        // The same object, another instruction.
        "%r: i64 = opaque 3 pure ()\n%c: i64 = select %b, %p, %r\nstore %c, %k, %o",
        "%c: i8 = icmp_eq %p, %o\nstore %p, %k, %o",
        "jump next(%p)\nnext(%r: i64):\nstore %r, %k, %o",
    ] {
        assert!(is_private(&format!("{body}\nreturn %k")), "{body}");
    }
}

#[test]
fn an_object_whose_address_goes_elsewhere_is_not() {
    for body in [
        "store %q, %p, %o",
        "opaque 9 writes (%p)",
        "opaque 9 observes (%p)",
        "%r: i64 = iadd %p, %four\nopaque 9 pinned (%r)",
        "jump next(%p)\nnext(%r: i64):\nopaque 9 writes (%r)",
        // It may be one of two.
        "%r: i64 = opaque 2 pure ()\n%c: i64 = select %b, %p, %r\nstore %c, %k, %o",
        "%c: i8 = icmp_eq %p, %q\nstore %p, %k, %o",
    ] {
        assert!(!is_private(&format!("{body}\nreturn %k")), "{body}");
    }
}
