//! `rewright wrap` around builds, and what of them is kept.

use super::{ALONE, PACK, appears, cc, files, rewright, run, sources};
use std::fs;
use std::process::Command;
use std::time::{Duration, SystemTime};

#[test]
fn a_build_with_spaces_and_parallel_commands() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let place = dir.path().join("a place");
    fs::create_dir(&place).unwrap();
    for name in ["sum.c", "main.c", "own.h", "mine.rw", "warns.c"] {
        fs::copy(dir.path().join(name), place.join(name)).unwrap();
    }
    let makefile =
        "CFLAGS = -O2 -MMD -w\nprogram: sum.o main.o warns.o\n\t$(CC) $^ -o $@\nclean:\n\trm -f *.o program\n";
    fs::write(place.join("Makefile"), makefile).unwrap();
    for (round, cached) in [0, 3].into_iter().enumerate() {
        let mut command = rewright(&own);
        command.args(["wrap", "--rules", "mine.rw", "--stats", "--format", "json", "--", "make", "-s", "-j3"]);
        let ran = run(command, &place, &[], "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let facts: serde_json::Value = serde_json::from_str(ran.stderr.lines().last().unwrap()).unwrap();
        let counts = ["files", "cached", "handed_over", "fell_back", "functions", "optimised", "failed"];
        let counts: Vec<u64> = counts.iter().map(|key| facts[key].as_u64().unwrap()).collect();
        assert_eq!(counts, [3, cached, 1, 0, 3, 1, 0], "round {round}: {facts}");
        let program = run(Command::new(place.join("program")), &place, &[], "");
        assert_eq!(program.stdout, "42\n");
        run(Command::new("make"), &place, &["clean"], "");
    }
    // A Makefile with a compiler of its own.
    fs::write(place.join("Makefile"), format!("CC = clang-19\n{makefile}")).unwrap();
    for (option, said) in [("-s", "no command came through `rewright`"), ("-se", "3 files compiled with rules")] {
        run(Command::new("make"), &place, &["clean"], "");
        let mut command = rewright(&own);
        command.args(["wrap", "--rules", "mine.rw", "--stats", "--", "make", option]);
        let ran = run(command, &place, &[], "");
        assert!(ran.code == Some(0) && ran.stderr.contains(said), "{ran:?}");
    }
    fs::write(place.join("Makefile"), makefile).unwrap();
    // A build's own exit code.
    fs::write(place.join("main.c"), "int main(void) { return }\n").unwrap();
    let mut command = rewright(&own);
    command.args(["wrap", "--rules", "mine.rw", "--stats", "--", "make", "-s"]);
    let ran = run(command, &place, &[], "");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("main.c:1:") && ran.stderr.contains("1 rejected by the compiler"), "{ran:?}");
    let mut command = rewright(&own);
    command.args(["wrap", "--rules", "mine.rw", "--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(run(command, &place, &[], "").code, Some(137));
}

/// The compiler that `./configure` and CMake write down keeps the rules that it was made for, and says so where a build
/// wants others.
#[test]
fn a_compiler_that_was_configured_keeps_its_rules() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let wrap = |options: &[&str], build: &str| {
        let mut command = rewright(&own);
        command.arg("wrap").args(options).args(["--", "sh", "-c", build]);
        let ran = run(command, dir.path(), &[], "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.stderr
    };
    wrap(&["--rules", "mine.rw"], "echo $CC >compiler");
    let build = "$(cat compiler) -O2 -w -c sum.c -o sum.o && $(cat compiler) -O2 -w -c main.c -o main.o";
    let said = wrap(&["--rules", "std"], build);
    assert_eq!(said.matches("for `--rules std`, configure anew").count(), 1, "{said}");
    // The build decides about options that change no object.
    let said = wrap(&["--rules", "mine.rw", "--remarks", "--keep", "ir"], build);
    assert!(said.contains(": optimised") && !said.contains("configure anew"), "{said}");
    assert!(fs::read_dir(dir.path().join("ir")).unwrap().count() >= 2);
}

/// Options of a build take effect in a compiler that was configured before, unless they make other objects.
#[test]
fn options_of_a_build_reach_a_compiler_that_was_configured() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let wrap = |options: &[&str], build: &str| {
        let mut command = rewright(&own);
        command.args(["wrap", "--rules", "mine.rw"]).args(options).args(["--", "sh", "-c", build]);
        run(command, dir.path(), &[], "")
    };
    wrap(&[], "echo $CC >compiler");
    let build = "$(cat compiler) -O2 -w -c sum.c -o sum.o";
    wrap(&[], build);
    let stats = wrap(&["--stats"], build);
    assert!(stats.stderr.contains("(1 from the cache)"), "{stats:?}");
    let stats = wrap(&["--stats", "--no-cache", "--validate"], build);
    assert!(stats.stderr.contains("(0 from the cache)") && stats.stderr.contains("%  validation"), "{stats:?}");
    let strict = wrap(&["--strict"], "$(cat compiler) -c sum.c -o sum.o");
    assert!(strict.code != Some(0) && strict.stderr.contains("--strict was given"), "{strict:?}");
    let said = wrap(&["--effort", "3"], build);
    assert!(said.stderr.contains("for `--rules") && said.stderr.contains("--effort 3`, configure anew"), "{said:?}");
}

/// An object depends on packs, also on those that are imported: with dependency files it is made anew.
#[test]
fn packs_are_dependencies_of_objects() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    fs::create_dir(dir.path().join("my packs")).unwrap();
    fs::rename(dir.path().join("mine.rw"), dir.path().join("my packs/mine.rw")).unwrap();
    let top = "pack top\nimport mine\nschedule default { saturate mine.sums }\n";
    fs::write(dir.path().join("my packs/top.rw"), top).unwrap();
    let makefile = "all: sum.o\nsum.o: sum.c\n\t$(CC) -O2 $(DEPS) -c $< -o $@\n-include sum.d\n";
    fs::write(dir.path().join("Makefile"), makefile).unwrap();
    let make = |deps: &str| {
        let mut command = rewright(&own);
        let wrap = ["wrap", "--rules", "my packs/top.rw", "--stats", "--report", "page.html", "--", "make", "-s"];
        command.args(wrap).arg(format!("DEPS={deps}"));
        let ran = run(command, dir.path(), &[], "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.stderr
    };
    let aged = |name: &str, seconds: u64| {
        let file = fs::File::options().append(true).open(dir.path().join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    };
    // Newer than the object; all else is older.
    let change = |name: &str| {
        let name = format!("my packs/{name}");
        ["sum.c", "my packs/top.rw", "my packs/mine.rw"].iter().for_each(|name| aged(name, 20));
        aged("sum.o", 10);
        let text = fs::read_to_string(dir.path().join(&name)).unwrap() + "// changed\n";
        fs::write(dir.path().join(name), text).unwrap();
    };
    assert!(make("-MMD -MP").contains("1 file compiled with rules"));
    let page = fs::read(dir.path().join("page.html")).unwrap();
    let said = make("-MMD -MP");
    assert!(said.contains("0 files compiled") && said.contains("page.html is not written"), "{said}");
    assert_eq!(fs::read(dir.path().join("page.html")).unwrap(), page);
    for name in ["top.rw", "mine.rw"] {
        change(name);
        assert!(make("-MMD -MP").contains("1 file compiled with rules"), "{name}");
    }
    // Without dependency files nothing tells the build, and it is said for as long as nothing is compiled.
    fs::remove_file(dir.path().join("sum.d")).unwrap();
    fs::remove_file(dir.path().join("sum.o")).unwrap();
    assert!(make("").contains("1 file compiled with rules"));
    change("mine.rw");
    for _ in 0..2 {
        let said = make("");
        assert!(said.contains("nothing was compiled, though the rules have changed"), "{said}");
    }
    fs::remove_file(dir.path().join("sum.o")).unwrap();
    assert!(!make("").contains("nothing was compiled, though"));
    assert!(!make("").contains("nothing was compiled, though"));
}

/// `timeout` and services end one process, and nothing is to go on without it.
#[test]
fn a_build_ends_with_its_wrapper() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let (started, ended) = (dir.path().join("started"), dir.path().join("ended"));
    let mut command = rewright(&own);
    // As `make` does: it takes away what it has half made, and says how it was ended.
    let build = "trap 'kill $!; touch ended; exit 143' TERM; sleep 100 & touch started; wait";
    command.args(["wrap", "--rules", "mine.rw", "--", "sh", "-c", build]);
    let mut child = command.current_dir(dir.path()).env("TMPDIR", own.path()).spawn().unwrap();
    appears(&started);
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(ended.exists());
    let left = fs::read_dir(own.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(left.filter(|name| name.starts_with("rewright-")).count(), 0);
}

/// A wrapper that is killed passes nothing on, and the build ends nevertheless: what it runs, and what that has left
/// behind.
#[test]
fn a_build_ends_with_a_wrapper_that_is_killed() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let mut command = rewright(&own);
    // One that is asked to end, one that does not listen, and one whose parent has gone.
    let build = "(trap '' TERM; echo $$ >deaf; while :; do sleep 1; done) & \
                 (sh -c 'echo $$ >orphan; exec sleep 300' &); \
                 trap 'touch asked; exit 1' TERM; echo $$ >build; sleep 300 & while :; do wait; done";
    command.args(["wrap", "--rules", "mine.rw", "--", "sh", "-c", build]);
    let mut child = command.current_dir(dir.path()).env("TMPDIR", own.path()).spawn().unwrap();
    let processes = ["build", "deaf", "orphan"].map(|name| dir.path().join(name));
    processes.iter().for_each(|file| appears(file));
    let wait = || std::thread::sleep(std::time::Duration::from_millis(50));
    let pids: Vec<String> = processes
        .iter()
        .map(|file| {
            loop {
                match fs::read_to_string(file).unwrap() {
                    pid if pid.ends_with('\n') => break pid.trim().to_string(),
                    _ => wait(),
                }
            }
        })
        .collect();
    child.kill().unwrap();
    child.wait().unwrap();
    let lives = |pid: &String| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
    };
    let begun = std::time::Instant::now();
    while pids.iter().any(lives) {
        assert!(begun.elapsed().as_secs() < 60, "{pids:?}");
        wait();
    }
    assert!(dir.path().join("asked").exists());
}

/// A server that a build starts for the next one stays, as it would without us.
#[test]
fn what_a_build_leaves_on_purpose_stays() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let mut command = rewright(&own);
    let build =
        "setsid sh -c 'echo $$ >server; exec sleep 300' >/dev/null 2>&1 & while ! [ -s server ]; do sleep 0.1; done";
    command.args(["wrap", "--rules", "mine.rw", "--", "sh", "-c", build]);
    assert_eq!(run(command, dir.path(), &[], "").code, Some(0));
    let pid = fs::read_to_string(dir.path().join("server")).unwrap();
    assert!(Command::new("kill").arg(pid.trim()).status().unwrap().success());
}

#[test]
fn what_rules_see_is_kept_on_demand() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    for source in ["sum.c", "warns.c"] {
        let mut command = cc(&own);
        command.args(["--keep", "kept"]);
        let ran = run(command, dir.path(), &["-O2", "-c", source], "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    let kept: Vec<_> = files(&dir.path().join("kept")).into_iter().collect();
    let [changed, seen, unchanged] = &kept[..] else { panic!("{kept:?}") };
    let text = |file: &(String, (u32, Vec<u8>))| String::from_utf8_lossy(&file.1.1).into_owned();
    assert_eq!(seen.0.strip_suffix(".ll"), changed.0.strip_suffix(".changed"));
    assert!(seen.0.starts_with("sum-") && text(seen).contains("xor ") && !text(changed).contains("xor "));
    assert!(unchanged.0.starts_with("warns-") && unchanged.0.ends_with(".ll"));
    let ran = run(rewright(&own), dir.path(), &["corpus", "kept"], "");
    assert!(ran.stdout.contains("2 functions, 2 understood"), "{ran:?}");
}

#[test]
fn a_pack_for_functions_that_are_not_there() {
    const ABSENT: &str = "pack absent\nimport std.core\n@llvm(\"@matrix_turn\")\n\
        fn turn(a: ptr) -> ptr  pure  cost 500\n\
                          @llvm(\"@matrix_trace\")\nfn trace(a: ptr) -> i64  effects reads(memory)  cost 900\n\
                          ruleset r {\n  rule twice(a: ptr): turn(turn(a)) => a\n  rule turned(a: ptr): \
                          trace(turn(a)) => trace(a)\n}\nschedule default { saturate r }\n";
    let own = tempfile::tempdir().unwrap();
    let build = "for f in sum main warns; do $CC -O2 -w -c $f.c || exit; done";
    let (plain, ours) = (sources(), sources());
    let mut command = Command::new("sh");
    command.env("CC", "clang-19");
    run(command, plain.path(), &["-c", build], "");
    fs::write(ours.path().join("absent.rw"), ABSENT).unwrap();
    let ran = run(rewright(&own), ours.path(), &["check", "absent.rw"], "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let mut command = rewright(&own);
    command.args(["wrap", "--rules", "absent.rw", "--strict", "--stats", "--", "sh", "-c", build]);
    let ran = run(command, ours.path(), &[], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
    fs::remove_file(ours.path().join("absent.rw")).unwrap();
    assert_eq!(files(ours.path()), files(plain.path()));
    let said: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(said[0], ALONE);
    assert!(
        said[1].contains("absent.rw:")
            && said[1].contains(": note: no function that the packs declare is called in the 3 files"),
        "{ran:?}"
    );
    assert_eq!(
        said[2],
        "3 files compiled with rules (0 from the cache), 0 commands handed over, 0 fell back, 0 rejected by the \
         compiler"
    );
    assert_eq!(said[3], "3 functions (0 met before): 0 optimised, 3 unchanged, 0 not understood, 0 failed");
    // And nothing but where the time went.
    assert!(said[4].ends_with(" s, of which") && said[5..].iter().all(|line| line.contains(" %  ")), "{ran:?}");
}

/// `./configure` and CMake write their compiler's path down, and `make` comes later, under the wrapper or not.
#[test]
fn a_compiler_that_is_written_down_stays() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let wrap = |pack: &str, build: &str| {
        let mut command = rewright(&own);
        command.args(["wrap", "--rules", pack, "--", "sh", "-c", build]);
        let ran = run(command, dir.path(), &[], "");
        // Some of these compile nothing, which is said.
        let said: Vec<&str> = ran.stderr.lines().filter(|line| !line.starts_with("note: no command came")).collect();
        assert_eq!((ran.code, said), (Some(0), vec![ALONE]));
    };
    wrap("mine.rw", "echo \"$CC\" >compiler; $CC -O2 -c sum.c");
    let compiler = fs::read_to_string(dir.path().join("compiler")).unwrap().trim().to_string();
    let object = fs::read(dir.path().join("sum.o")).unwrap();
    fs::remove_file(dir.path().join("sum.o")).unwrap();
    let facts = |path: &str| fs::metadata(path).unwrap().modified().unwrap();
    let written = facts(&compiler);
    wrap("mine.rw", "$(cat compiler) -O2 -c sum.c; [ $CC = $(cat compiler) ]");
    assert_eq!((fs::read(dir.path().join("sum.o")).unwrap() == object, facts(&compiler)), (true, written));
    fs::remove_file(dir.path().join("sum.o")).unwrap();
    let mut command = Command::new(&compiler);
    command.env("HOME", own.path()).env_remove("REWRIGHT_SERVER");
    assert_eq!(run(command, dir.path(), &["-O2", "-c", "sum.c"], "").code, Some(0));
    assert!(fs::read(dir.path().join("sum.o")).unwrap() == object);
    // Other packs are another compiler; the same ones with another text have one that has changed.
    wrap("none.rw", "[ $CC != $(cat compiler) ]");
    let text = fs::read_to_string(&compiler).unwrap();
    fs::write(dir.path().join("mine.rw"), PACK.replace("carries", "carry")).unwrap();
    wrap("mine.rw", "[ $CC = $(cat compiler) ]");
    assert_ne!(fs::read_to_string(&compiler).unwrap(), text);
    // Where it cannot stay, there is one for the build.
    fs::create_dir(own.path().join("a place")).unwrap();
    let mut command = rewright(&own);
    command.env("HOME", own.path().join("a place")).args(["wrap", "--rules", "mine.rw", "--", "sh", "-c"]);
    let ran = run(command, dir.path(), &["$CC -O2 -c sum.c && $CC -O2 -w sum.o main.c -o program && ./program"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "42\n"), "{ran:?}");
}
