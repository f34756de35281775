//! Every command that writes, where nothing can be written.

use super::disk::{Disk, disks, elsewhere};
use super::{files, inputs, rewright};

/// Command lines that write into the folder, and of which file the error says that it cannot be written.
const WRITERS: [(&str, &str); 8] = [
    ("fmt packs/large.rw", "cannot write packs/large.rw"),
    ("check --fix slips.rw", "cannot write slips.rw"),
    ("test -U packs/large.rw", "cannot write packs/large.rw"),
    ("opt f.clif -o out.clif", "cannot write out.clif"),
    ("opt f.clif -o new.clif", "cannot write new.clif"),
    ("doc packs -o pages", "cannot write pages/"),
    ("verify packs --update --filter r.a1 --no-cache --threads 1 --samples 50", "cannot write packs/verify.expected"),
    ("corpus f.ll --rewrite ir", "cannot write ir/f.ll"),
];

#[test]
fn what_cannot_be_written_stays_as_it_was() {
    let (seed, own) = (inputs(), tempfile::tempdir().unwrap());
    let before = files(seed.path());
    for (arguments, says) in WRITERS {
        for disk in disks() {
            let (ran, after) = disk.run(seed.path(), &own, arguments);
            assert_eq!(ran.code, Some(2), "{disk:?}: {arguments}: {ran:?}");
            assert!(ran.stderr.contains(says), "{disk:?}: {arguments}: {ran:?}");
            assert_eq!(files(after.path()).changed(&before), [""; 0], "{disk:?}: {arguments}");
        }
        // Where there is room, each of them writes.
        let room = inputs();
        let output = rewright(room.path(), &own, arguments).output().unwrap();
        assert!(output.status.code().is_some_and(|code| code < 2), "{arguments}: {output:?}");
        assert_ne!(files(room.path()).changed(&before), [""; 0], "{arguments}");
    }
}

/// Where the limit holds for the compiler's temporary files, too, it fails by itself (`tests/wrapper`).
#[test]
fn an_object_that_cannot_be_written_stays_as_it_was() {
    let (seed, own) = (inputs(), tempfile::tempdir().unwrap());
    for disk in disks().iter().filter(|disk| **disk == Disk::Full) {
        for options in ["", "--strict", "--no-cache"] {
            let (ran, after) = disk.run(seed.path(), &own, &format!("cc --rules mine.rw {options} -O2 -c sum.c"));
            assert!(ran.code == Some(1) && ran.stderr.contains("cannot write sum.o"), "{ran:?}");
            assert_eq!(files(after.path()).changed(&files(seed.path())), [""; 0], "{ran:?}");
            let (ran, after) = disk.run(seed.path(), &own, &format!("cc --rules mine.rw {options} -O2 -MMD -c sum.c"));
            assert!(ran.code == Some(1) && ran.stderr.contains("cannot write sum.d"), "{ran:?}");
            assert_eq!(files(after.path()).changed(&files(seed.path())), [""; 0], "{ran:?}");
        }
    }
}

/// A cache that cannot be written to is said, and changes no result.
#[test]
fn a_cache_on_a_full_disk_is_said() {
    let (seed, own) = (inputs(), tempfile::tempdir().unwrap());
    let out = elsewhere(&own, "out");
    if disks().contains(&Disk::Full) {
        let verify = "verify packs/large.rw --filter r.a1 --threads 2 --samples 50 --cache @/cache";
        let (ran, _) = Disk::Full.run(seed.path(), &own, verify);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(ran.stderr.matches("results cannot be kept in").count(), 1, "{ran:?}");
        assert!(ran.stdout.contains("11 equal"), "{ran:?}");
    }
    // A folder that no user can write to, not even the superuser.
    let verify = "verify packs/large.rw --filter r.a1 --threads 2 --samples 50 --cache /proc/self/none";
    let output = rewright(seed.path(), &own, verify).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("results cannot be kept in /proc/self/none"), "{output:?}");
    assert_eq!(said.matches("cannot be kept").count(), 1, "{said}");
    let object = out.join("sum.o");
    let cc = format!("cc --rules mine.rw -O2 -c sum.c -o {}", object.display());
    let mut command = rewright(seed.path(), &own, &cc);
    let output = command.env("REWRIGHT_CACHE", "/proc/self/none").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && object.exists(), "{output:?}");
    assert_eq!(said.matches("results cannot be kept in /proc/self/none").count(), 1, "{said}");
}
