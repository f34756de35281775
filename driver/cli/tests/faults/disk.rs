//! Disks without room.

use super::{Ran, home, ran};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

/// A disk that has no room for what a command writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Disk {
    /// A file system of its own that is full to the last byte.
    Full,
    /// Files may have no content: as where a quota is used up.
    Limited,
}

/// The disks that there are here. File systems of one's own need a kernel that allows them; elsewhere there is the
/// limit alone, and a word. Where tests are run for others to rely on them (`CI`), that is a failure.
#[allow(clippy::print_stderr, reason = "a test that is cut short says so")]
pub(super) fn disks() -> &'static [Disk] {
    static DISKS: OnceLock<&'static [Disk]> = OnceLock::new();
    DISKS.get_or_init(|| {
        let place = tempfile::tempdir().unwrap();
        let output = in_namespace(place.path(), "exit 7").output();
        match output {
            Ok(output) if output.status.code() == Some(7) => &[Disk::Full, Disk::Limited],
            other => {
                let reason = format!("no file system of our own: {other:?}");
                assert!(std::env::var_os("CI").is_none(), "{reason}");
                eprintln!("{reason}: only a limit of the size of files is tried");
                &[Disk::Limited]
            }
        }
    })
}

/// A shell in which a folder is a file system of 128 KiB that no other process sees.
fn in_namespace(place: &Path, script: &str) -> Command {
    let mut command = Command::new("unshare");
    let script = format!("mount -t tmpfs -o size=128k,mode=755 none \"$0\" || exit 99\n{script}");
    command.args(["-rm", "sh", "-c", &script]).arg(place);
    command
}

impl Disk {
    /// Runs a command on a copy of a folder that is on this disk, and gives what the folder holds afterwards. `@` in
    /// its arguments is that folder.
    pub(super) fn run(self, seed: &Path, own: &TempDir, arguments: &str) -> (Ran, TempDir) {
        self.run_with(seed, own, false, arguments)
    }

    /// The same, and temporary files go into that folder, too, if they shall.
    pub(super) fn run_with(self, seed: &Path, own: &TempDir, temporary: bool, arguments: &str) -> (Ran, TempDir) {
        let (place, after) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let copy = "cp -R \"$1\"/. \"$0\"/ && cd \"$0\" || exit 98\n";
        // Nothing is left, not even what the file system has begun.
        let fill = "cat /dev/zero >filler 2>/dev/null; : >filler2; for n in 1 2 3; do cat /dev/zero >filler$n \
            2>/dev/null; done\n";
        let work = "shift 2; trap '' XFSZ\n(LIMIT; exec \"$@\")\ncode=$?\nrm -f filler*\n";
        let end = "cp -R ./. \"$AFTER\"/; exit $code";
        let mut command = match self {
            Disk::Full => in_namespace(place.path(), &format!("{copy}{fill}{}{end}", work.replace("LIMIT", ":"))),
            Disk::Limited => {
                let mut command = Command::new("sh");
                command.args(["-c", &format!("{copy}{}{end}", work.replace("LIMIT", "ulimit -f 0"))]).arg(place.path());
                command
            }
        };
        command.arg(seed).arg("-").arg(env!("CARGO_BIN_EXE_rewright"));
        command.args(arguments.split_whitespace().map(|word| word.replace('@', place.path().to_str().unwrap())));
        home(&mut command, own);
        if temporary {
            command.env("TMPDIR", place.path());
        }
        let output = command.env("AFTER", after.path()).output().unwrap();
        let ran = ran(output);
        assert!(!matches!(ran.code, Some(98 | 99)), "{self:?}: {ran:?}");
        (ran, after)
    }
}

/// A path for what a test leaves out of a disk that is full.
pub(super) fn elsewhere(own: &TempDir, name: &str) -> PathBuf {
    let path = own.path().join(name);
    fs::create_dir_all(&path).unwrap();
    path
}
