//! What builds on many machines need of a compiler: it writes what it was asked for and nothing else, asks no network, and
//! what it makes names no folder of the machine. All system calls of a build are looked at (`strace`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Calls that make, change or remove files, and those that make sockets.
const TRACED: &str = "open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,link,linkat,symlink,symlinkat,\
                      truncate,socket";

/// Files that a line of the trace, with a call that succeeded, makes, changes or removes.
fn changed(line: &str) -> Vec<PathBuf> {
    let Some((call, result)) = line.rsplit_once(" = ") else { return vec![] };
    let (name, arguments) = call.split_once('(').unwrap_or((call, ""));
    let name = name.split_whitespace().last().unwrap_or_default();
    let opens = matches!(name, "open" | "openat");
    let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].iter().any(|flag| arguments.contains(flag));
    if result.starts_with('-') || name == "socket" || (opens && !writes) {
        return vec![];
    }
    // `AT_FDCWD</where/it/runs>, "file"`: a name is below the folder that is named before it.
    let (mut folder, mut found) = (PathBuf::from("/"), vec![]);
    for (i, part) in arguments.split('"').enumerate() {
        match i % 2 {
            0 => {
                let open = part.rfind('<').map(|at| &part[at + 1..]);
                folder = open.and_then(|rest| rest.split('>').next()).map_or(folder, PathBuf::from);
            }
            _ => found.push(folder.join(part)),
        }
    }
    found
}

#[test]
fn lines_of_a_trace_are_understood() {
    let paths = |line: &str| changed(line).iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    assert_eq!(paths("7 openat(AT_FDCWD</a>, \"x.o\", O_RDWR|O_CREAT|O_CLOEXEC, 0666) = 3</a/x.o>"), ["/a/x.o"]);
    assert_eq!(paths("7 rename(\"/a/x\", \"/b/y\") = 0"), ["/a/x", "/b/y"]);
    assert_eq!(paths("7 mkdirat(5</c/d>, \"e\", 0777) = 0"), ["/c/d/e"]);
    for line in [
        "7 openat(AT_FDCWD</a>, \"/etc/passwd\", O_RDONLY) = 3</etc/passwd>",
        "7 openat(AT_FDCWD</a>, \"/x\", O_WRONLY|O_CREAT, 0666) = -1 EACCES (Permission denied)",
        "7 socket(AF_UNIX, SOCK_STREAM, 0) = 3<socket:[1]>",
        "+++ exited with 0 +++",
    ] {
        assert!(changed(line).is_empty(), "{line}");
    }
}

/// All files below a folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// A build in a folder, and what its processes did.
fn traced(checkout: &Path) -> (Vec<u8>, String, [PathBuf; 4]) {
    fs::create_dir_all(checkout.join("include")).unwrap();
    for (name, text) in [
        (
            "sum.c",
            "#include \"sum.h\"\n#include <assert.h>\nint sum(int x, int y) { assert(x); return x * 8 / 8 + y; }\n",
        ),
        ("include/sum.h", "int sum(int x, int y);\n"),
        ("mine.rw", "pack mine\nimport std.core\nrule zero(x: i32): x + 0 => x\n"),
    ] {
        fs::write(checkout.join(name), text).unwrap();
    }
    let machine = tempfile::tempdir().unwrap();
    let [cache, home, temporary] = ["cache", "home", "tmp"].map(|name| machine.path().join(name));
    for folder in [&home, &temporary] {
        fs::create_dir(folder).unwrap();
    }
    let trace = machine.path().join("trace");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-y", "-s", "4096", "-o"]).arg(&trace).args(["-e", &format!("trace={TRACED}")]);
    command.arg(env!("CARGO_BIN_EXE_rewright")).args(["wrap", "--rules", "mine.rw", "--rules", "std", "--"]);
    command.args(["sh", "-c", "$CC -O2 -I include -c sum.c -o sum.o"]).current_dir(checkout);
    command.env("REWRIGHT_CACHE", &cache).env("HOME", &home).env("TMPDIR", &temporary).env_remove("XDG_CACHE_HOME");
    let ran = command.output().expect("strace is installed: scripts/setup.sh --tests");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let of_user: Vec<String> = files_below(&home).iter().map(|path| path.display().to_string()).collect();
    let is_known =
        |path: &String| ["compilers", "builds"].iter().any(|own| path.contains(&format!("/.cache/rewright/{own}/")));
    assert!(of_user.iter().all(is_known), "the user's folder has compilers, and the rules of builds: {of_user:?}");
    assert!(fs::read_dir(&temporary).unwrap().next().is_none(), "nothing is left among temporary files");
    let log = fs::read_to_string(&trace).unwrap();
    (fs::read(checkout.join("sum.o")).unwrap(), log, [checkout.to_path_buf(), cache, home, temporary])
}

#[test]
fn a_build_writes_what_it_was_asked_for_and_asks_no_network() {
    let dir = tempfile::tempdir().unwrap();
    let checkout = dir.path().join("checkout");
    let (_, log, folders) = traced(&checkout);
    let changed: Vec<PathBuf> = log.lines().flat_map(changed).collect();
    assert!(changed.contains(&checkout.join("sum.o")), "the trace has what is known to be written:\n{log}");
    let outside =
        |path: &PathBuf| !folders[1..].iter().any(|folder| path.starts_with(folder)) && !path.starts_with("/dev");
    let own: Vec<&PathBuf> = changed.iter().filter(|path| outside(path)).collect();
    // A file is written under another name beside it, and then put in its place.
    let is_named = |path: &Path, part: &str| path.file_name().is_some_and(|name| name.to_string_lossy().contains(part));
    let is_output =
        |path: &&&PathBuf| path.starts_with(&checkout) && (is_named(path, "sum") || is_named(path, ".rewright"));
    let others: Vec<_> = own.iter().filter(|path| !is_output(path)).collect();
    assert!(others.is_empty(), "{others:?}");
    let there: Vec<_> = fs::read_dir(&checkout).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(there.len(), 4, "sources and the object: {there:?}");
    // Its own processes talk over sockets of the file system.
    let networks: Vec<&str> =
        log.lines().filter(|line| line.contains("socket(") && !line.contains("AF_UNIX")).collect();
    assert!(networks.is_empty(), "{networks:?}");
}

#[test]
fn an_object_names_no_folder_of_the_machine() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("one"), dir.path().join("another/place/two"));
    let ((first, _, folders), (second, ..)) = (traced(&one), traced(&two));
    assert!(first == second, "the same in every folder");
    for folder in folders {
        let name = folder.display().to_string();
        assert!(!first.windows(name.len()).any(|part| part == name.as_bytes()), "{name}");
    }
    // The rules of a pack are in no other way part of it than by what they do.
    assert!(!first.windows(7).any(|part| part == b"mine.rw"));
}
