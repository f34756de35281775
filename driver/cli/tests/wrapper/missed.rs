//! Code that rules do not see: it is compiled as the compiler does it, and that is said, or refused.

use super::{ALONE, cc, files, rewright, run, sources};
use std::fs;
use std::process::Command;

/// Command lines, and why rules do not see what they compile.
const MISSED: [(&str, &str); 27] = [
    ("-O2 -S sum.c", "-S"),
    ("-O2 -S sum.c -o text.out", "-S"),
    ("-O2 -c -x c - -o in.o < int f(void) { return 1; }", "standard input"),
    ("-O0 -c sum.c", "not optimised: rules apply from -O1 on"),
    ("-c sum.c", "not optimised: rules apply from -O1 on"),
    ("-c -w sum.c warns.c", "not optimised: rules apply from -O1 on"),
    ("-w sum.c main.c -o program", "not optimised: rules apply from -O1 on"),
    ("-O2 -O0 -c sum.c", "not optimised: rules apply from -O1 on"),
    ("-Og -c sum.c", "-Og: rules apply at -O1, -O2, -O3, -Os and -Oz"),
    ("-O2 -c text.s", "assembly, which rules do not see"),
    ("-O2 -c text.s warns.c", "assembly, which rules do not see"),
    ("-O2 loop-free.c text.s -shared -o lib.so", "assembly, which rules do not see"),
    ("-O2 -Wp,-MMD,deps -c main.c", "dependencies through the preprocessor"),
    ("-O2 -c warns.c -o -", "an output that is no regular file"),
    ("-O2 -MMD -MF - -c main.c", "an output that is no regular file"),
    ("-O2 -c -- sum.c", "files that may look like options"),
    ("-O2 -c --save-temps sum.c", "--save-temps"),
    ("-O2 -c -frecord-command-line warns.c", "-frecord-command-line"),
    ("-O2 -c -fsanitize=address warns.c", "-fsanitize=address"),
    ("-O2 -c --target=i386-linux-gnu sum.c", "the target's layout is not known"),
    ("-O2 -c called.c", "a warning of the back end"),
    ("-O2 -c loop.c", "a warning of the back end"),
    ("-O2 -flto -c sum.c", "-flto"),
    ("-O2 -emit-llvm -c sum.c", "-emit-llvm"),
    ("-O2 -c -save-stats warns.c", "-save-stats"),
    ("-O2 --output=out.o -c warns.c", "--output=out.o"),
    ("-O2 -c -Xclang -emit-llvm warns.c", "-Xclang"),
];

#[test]
fn it_is_said_and_refused_on_demand() {
    for (line, reason) in MISSED {
        let (line, stdin) = line.split_once('<').unwrap_or((line, ""));
        let args: Vec<&str> = line.split_whitespace().collect();
        let (plain, ours, own) = (sources(), sources(), tempfile::tempdir().unwrap());
        let expected = run(Command::new("clang-19"), plain.path(), &args, stdin);
        let got = run(cc(&own), ours.path(), &args, stdin);
        assert_eq!((got.code, &got.stdout), (expected.code, &expected.stdout), "{line}: {got:?}");
        assert_eq!(expected.code, Some(0), "{line}: {expected:?}");
        let note = got.stderr.strip_prefix(&expected.stderr).unwrap_or_else(|| panic!("{line}: {got:?}"));
        let is_note = note.starts_with("rewright: ") && note.contains(&format!(": compiled without rules ({reason}"));
        assert!(is_note && note.lines().count() == 1, "{line}: {got:?}");
        assert_eq!(files(ours.path()), files(plain.path()), "{line}");
        let strict = sources();
        let before = files(strict.path());
        let mut command = cc(&own);
        command.arg("--strict");
        let refused = run(command, strict.path(), &args, stdin);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{line}: {refused:?}");
        assert!(
            refused.stderr.contains(reason) && refused.stderr.contains("--strict was given"),
            "{line}: {refused:?}"
        );
        assert_eq!(files(strict.path()), before, "{line}");
    }
}

/// A build says each reason once, whatever number of files it has for it; what is not compiled is no reason.
#[test]
fn options_of_ours_come_first() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let ran = run(cc(&own), dir.path(), &["-O2", "-c", "sum.c", "--keep", "ir"], "");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("`--keep` stands behind arguments of the compiler; write it before them"), "{ran:?}");
    assert!(!dir.path().join("sum.o").exists());
}

#[test]
fn a_build_says_it_once() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let build = "$CC -c sum.c && $CC -c -w warns.c && $CC -c text.s && $CC -c conftest.c && $CC -E sum.c >sum.i \
        && \
                 $CC -shared sum.o warns.o -o lib.so && $CC --version >version";
    let mut command = rewright(&own);
    command.args(["wrap", "--rules", "mine.rw", "--", "sh", "-c", build]);
    let ran = run(command, dir.path(), &[], "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let said: Vec<&str> = ran.stderr.lines().collect();
    let [alone, level, language] = said[..] else { panic!("{ran:?}") };
    assert_eq!(alone, ALONE);
    assert!(level.starts_with("rewright: sum.c: compiled without rules (not optimised"), "{level}");
    assert!(language.starts_with("rewright: text.s: compiled without rules (assembly"), "{language}");
    // Tests of configuration scripts pass, whatever is asked of the build itself.
    let mut command = rewright(&own);
    command.args(["wrap", "--rules", "mine.rw", "--strict", "--", "sh", "-c", "$CC conftest.c -o t && ! $CC -c sum.c"]);
    let ran = run(command, dir.path(), &[], "");
    assert!(ran.code == Some(0) && ran.stderr.contains("sum.c: rules do not apply"), "{ran:?}");
}

#[test]
fn packs_that_are_missing_or_wrong_are_errors() {
    let own = tempfile::tempdir().unwrap();
    for (pack, complaint) in [("nope.rw", "cannot read nope.rw"), ("wrong.rw", "the packs have mistakes")] {
        let plain = sources();
        run(Command::new("clang-19"), plain.path(), &["-O2", "-c", "sum.c"], "");
        for args in [&["-O2", "-c", "sum.c"][..], &["-O2", "sum.c", "main.c", "-o", "program"]] {
            let ours = sources();
            let before = files(ours.path());
            let mut command = rewright(&own);
            command.args(["cc", "--rules", pack]);
            let ran = run(command, ours.path(), args, "");
            assert!(ran.code == Some(1) && ran.stderr.contains(complaint), "{ran:?}");
            assert_eq!(files(ours.path()), before);
        }
        let ours = sources();
        let mut command = rewright(&own);
        command.args(["cc", "--rules", pack, "--keep-going"]);
        let ran = run(command, ours.path(), &["-O2", "-c", "sum.c"], "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stderr.contains("sum.c: compiled without rules") && ran.stderr.contains(complaint), "{ran:?}");
        assert_eq!(files(ours.path()), files(plain.path()));
        let ours = sources();
        let mut command = rewright(&own);
        command.args(["wrap", "--rules", pack, "--", "touch", "started"]);
        let ran = run(command, ours.path(), &[], "");
        assert!(ran.code == Some(1) && ran.stderr.contains(complaint), "{ran:?}");
        assert!(!ours.path().join("started").exists());
        let mut command = rewright(&own);
        command.args([
            "wrap",
            "--rules",
            pack,
            "--keep-going",
            "--",
            "sh",
            "-c",
            "$CC -O2 -c sum.c && $CC -O2 -w -c warns.c",
        ]);
        let ran = run(command, ours.path(), &[], "");
        assert!(ran.code == Some(0) && ran.stderr.matches(complaint).count() == 1, "{ran:?}");
        assert_eq!(fs::read(ours.path().join("sum.o")).unwrap(), fs::read(plain.path().join("sum.o")).unwrap());
    }
}
