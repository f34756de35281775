//! What functions of libraries cannot do although they are allowed, what they still can, and how long they live.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(target_os = "linux")]

use crate::ran::rewright;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// C functions of one `int` with what they give: a name, whether they tell of a protection that a system may lack, and
/// an expression. `OUTSIDE` is a file beside the library.
const FUNCTIONS: [(&str, bool, &str, i32); 26] = [
    ("reads", false, "open(OUTSIDE, O_RDONLY) >= 0", 1),
    ("creates", true, "open(OUTSIDE \".new\", O_WRONLY | O_CREAT, 0600) >= 0", 0),
    ("writes", true, "open(OUTSIDE, O_WRONLY) >= 0", 0),
    ("appends", true, "fopen(OUTSIDE, \"a\") != 0", 0),
    ("cuts", true, "truncate(OUTSIDE, 0) == 0", 0),
    ("removes", true, "unlink(OUTSIDE) == 0", 0),
    ("renames", true, "rename(OUTSIDE, OUTSIDE \".old\") == 0", 0),
    ("links", true, "symlink(OUTSIDE, OUTSIDE \".link\") == 0", 0),
    ("makes_folders", true, "mkdir(OUTSIDE \".d\", 0700) == 0", 0),
    ("changes_mode", true, "chmod(OUTSIDE, 0777) == 0", 0),
    ("changes_times", true, "utimes(OUTSIDE, 0) == 0", 0),
    ("writes_to_scratch", false, "scratch()", 1),
    ("writes_to_null", false, "open(\"/dev/null\", O_WRONLY) >= 0", 1),
    ("speaks_ip", true, "socket(AF_INET, SOCK_STREAM, 0) >= 0", 0),
    ("speaks_unix", true, "socket(AF_UNIX, SOCK_STREAM, 0) >= 0", 0),
    ("forks", true, "fork() >= 0", 0),
    ("spawns", true, "system(\"true\") == 0", 0),
    ("executes", true, "execl(\"/bin/true\", \"true\", (char *)0) == -1", 1),
    ("signals_others", true, "kill(getppid(), 0) == 0 || kill(1, 0) == 0 || kill(-1, 0) == 0", 0),
    ("leaves_the_group", true, "setsid() >= 0 || setpgid(0, 0) == 0", 0),
    ("outlives", true, "prctl(PR_SET_PDEATHSIG, 0) == 0", 0),
    ("traces", true, "ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0", 0),
    ("takes_memory", false, "memory()", 0),
    ("opens_much", false, "files() < 1000", 1),
    ("threads", false, "thread()", 1),
    ("reads_input", false, "getchar() == EOF", 1),
];

const HELPERS: &str = r#"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
static int scratch(void) {
    char name[4096];
    snprintf(name, sizeof name, "%s/fileXXXXXX", getenv("TMPDIR"));
    int fd = mkstemp(name);
    return fd >= 0 && write(fd, "x", 1) == 1 && unlink(name) == 0;
}
static int memory(void) {
    for (int i = 0; i < 32; i++) {
        char *p = malloc(1 << 28);
        if (!p) return 0;
        memset(p, 1, 4096);
    }
    return 1;
}
static int files(void) {
    int n = 0;
    while (n < 2000 && dup(2) >= 0) n++;
    for (int fd = 3 + 64; fd < 2100; fd++) if (fd > 200) close(fd);
    return n;
}
static void *work(void *p) { *(int *)p = 1; return 0; }
static int thread(void) {
    pthread_t t;
    int done = 0;
    return pthread_create(&t, 0, work, &done) == 0 && pthread_join(t, 0) == 0 && done;
}
int waits(int x) { printf("%d\n", getpid()); fflush(stdout); for (;;) pause(); return x; }
"#;

fn library(dir: &Path) {
    let mut text = HELPERS.to_string();
    let mut pack =
        "pack odd\nimport std.core\n@link(\"./odd.so\", \"waits\")\nfn waits(x: i32) -> i32  effects io  cost 9\n"
            .to_string();
    let (mut rules, mut examples) = ("ruleset r {\n".to_string(), String::new());
    for (name, _, expression, result) in FUNCTIONS {
        writeln!(text, "int f_{name}(int x) {{ return ({expression}) ? 1 : 0; }}").unwrap();
        write!(pack, "@link(\"./odd.so\", \"f_{name}\")\nfn f_{name}(x: i32) -> i32  pure  cost 200\n").unwrap();
        writeln!(rules, "  dynamic rule of_{name}(const x: i32): f_{name}(x) => eval(f_{name}(x))").unwrap();
        writeln!(examples, "example \"{name}\" (): f_{name}(1) becomes {result}").unwrap();
    }
    let program = "func %main(%x: i32) -> i32 {\n  %y = waits %x\n  return %y\n}\n";
    for (name, text) in
        [("odd.c", text), ("odd.rw", format!("{pack}{rules}}}\n{examples}")), ("main.ir", program.into())]
    {
        fs::write(dir.join(name), text).unwrap();
    }
    let outside = format!("-DOUTSIDE=\"{}\"", dir.join("outside").display());
    let mut cc = Command::new("cc");
    cc.current_dir(dir).args(["-shared", "-fPIC", "-w", "-pthread", &outside, "-o", "odd.so", "odd.c"]);
    assert!(cc.status().unwrap().success());
    fs::write(dir.join("outside"), "as it was").unwrap();
}

#[test]
fn libraries_that_are_allowed_do_no_harm_and_work() {
    let dir = tempfile::tempdir().unwrap();
    library(dir.path());
    let ran = rewright(dir.path(), "test odd.rw --allow-link ./odd.so --format json");
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let wrong: Vec<&str> =
        report["diagnostics"].as_array().unwrap().iter().map(|d| d["message"].as_str().unwrap()).collect();
    assert_eq!(ran.code, Some(i32::from(!wrong.is_empty())), "{ran:?}");
    let open = ran.stderr.contains("are called without");
    for (name, may_be_open, ..) in FUNCTIONS {
        let is_wrong = wrong.iter().any(|message| message.contains(&format!("\"{name}\"")));
        assert!(!is_wrong || open && may_be_open, "{name}: {wrong:#?} {}", ran.stderr);
    }
    if !open {
        assert_eq!(fs::read_to_string(dir.path().join("outside")).unwrap(), "as it was");
    }
}

/// However the parent ends.
#[test]
fn a_process_ends_with_its_parent() {
    let dir = tempfile::tempdir().unwrap();
    library(dir.path());
    let args = "run main.ir --rules odd.rw --allow-link ./odd.so --timeout 1000 --fn main 1";
    let mut parent = Command::new(env!("CARGO_BIN_EXE_rewright"))
        .current_dir(dir.path())
        .args(args.split_whitespace())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(parent.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let stat = Path::new("/proc").join(line.trim()).join("stat");
    let lives = || fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
    assert!(lives(), "{line}");
    parent.kill().unwrap();
    parent.wait().unwrap();
    let begun = Instant::now();
    while lives() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{line}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
