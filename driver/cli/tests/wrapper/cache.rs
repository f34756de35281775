//! Objects kept by content: our own cache, and one in front of us.

use super::{PACK, SUM, cc, files, log, rewright, run, script, sources};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Compiles `sum.c` and gives the object and what the log says last.
fn compile_sum(own: &TempDir, dir: &Path, more: &[&str]) -> (Vec<u8>, serde_json::Value) {
    let args = [&["-O2", "-c", "sum.c"], more].concat();
    let ran = run(cc(own), dir, &args, "");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    (fs::read(dir.join("sum.o")).unwrap(), log(own).pop().unwrap())
}

#[test]
fn objects_are_found_again_where_nothing_has_changed() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let (object, facts) = compile_sum(&own, dir.path(), &[]);
    assert_eq!((&facts["optimised"], &facts["cached"]), (&1.into(), &0.into()), "{facts}");
    assert_eq!(facts["rules"]["mine.sums.carries"], 1);
    fs::remove_file(dir.path().join("sum.o")).unwrap();
    let (again, facts) = compile_sum(&own, dir.path(), &["-MD"]);
    assert_eq!((&facts["optimised"], &facts["cached"]), (&1.into(), &1.into()), "{facts}");
    assert_eq!(again, object);
    // The files that the front end writes are written nevertheless.
    assert!(fs::read_to_string(dir.path().join("sum.d")).unwrap().contains("sum.c"));
    // Another option, another pack, another file.
    assert_eq!(compile_sum(&own, dir.path(), &["-fPIC"]).1["cached"], 0);
    fs::write(dir.path().join("mine.rw"), PACK.replace("carries", "carry")).unwrap();
    assert_eq!(compile_sum(&own, dir.path(), &[]).1["cached"], 0);
    fs::write(dir.path().join("mine.rw"), PACK).unwrap();
    assert_eq!(compile_sum(&own, dir.path(), &[]).1["cached"], 1);
    fs::write(dir.path().join("sum.c"), SUM.replace("<< 1", "<< 2")).unwrap();
    let (other, facts) = compile_sum(&own, dir.path(), &[]);
    assert_eq!((&facts["optimised"], &facts["cached"]), (&0.into(), &0.into()));
    assert_ne!(other, object);
}

/// Every way in which a file can be damaged is a test of the cache itself (`src/cache.rs`).
#[test]
fn a_cache_that_is_spoilt_is_no_cache() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let (object, _) = compile_sum(&own, dir.path(), &[]);
    let cached = own.path().join("cache");
    let again = |says: &str| {
        let ran = run(cc(&own), dir.path(), &["-O2", "-c", "sum.c"], "");
        assert!(ran.code == Some(0) && ran.stderr.contains(says), "{ran:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
        assert_eq!(fs::read(dir.path().join("sum.o")).unwrap(), object);
        assert_eq!(log(&own).pop().unwrap()["cached"], 0);
    };
    // One bit of the code, where nothing else would notice.
    let is_object = |name: &String| fs::read(cached.join(name)).unwrap().ends_with(&object);
    let [name] = &files(&cached).into_keys().filter(is_object).collect::<Vec<_>>()[..] else { panic!("one object") };
    let mut content = fs::read(cached.join(name)).unwrap();
    let code = content.len() - object.len() + 0x40;
    content[code] ^= 1;
    fs::write(cached.join(name), content).unwrap();
    again("was damaged");
    // It is said once: there is a sound one now.
    assert_eq!(compile_sum(&own, dir.path(), &[]).1["cached"], 1);
    fs::write(cached.join(name), "spoilt").unwrap();
    again("was damaged");
    fs::remove_dir_all(&cached).unwrap();
    fs::write(&cached, "no folder").unwrap();
    again("results cannot be kept in");
}

/// Beside objects, the cache holds the packs as rules for LLVM IR, which all files share.
#[test]
fn packs_are_read_once_for_all_files() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let kept = || files(&own.path().join("cache")).len();
    let mut known = 0;
    let mut compile = |new: usize| {
        let (object, _) = compile_sum(&own, dir.path(), &[]);
        known += new;
        assert_eq!(kept(), known);
        let mut alone = cc(&own);
        alone.arg("--no-cache");
        let ran = run(alone, dir.path(), &["-O2", "-c", "sum.c"], "");
        assert_eq!((ran.code, kept()), (Some(0), known));
        assert_eq!(fs::read(dir.path().join("sum.o")).unwrap(), object);
    };
    compile(2);
    fs::write(dir.path().join("sum.c"), SUM.replace("<< 1", "<< 2")).unwrap();
    compile(1);
    // Another pack, which does nothing here, and the first one again.
    fs::write(dir.path().join("mine.rw"), PACK.replace("carries", "carry")).unwrap();
    compile(2);
    fs::write(dir.path().join("mine.rw"), PACK).unwrap();
    fs::write(dir.path().join("sum.c"), SUM).unwrap();
    compile(0);
}

/// A second build says of rules what the first one said, and keeps the LLVM IR that the first one kept.
#[test]
fn what_is_kept_beside_an_object_comes_back_with_it() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let keep = |folder: &str| {
        let mut command = cc(&own);
        command.args(["--keep", folder]);
        let ran = run(command, dir.path(), &["-O2", "-c", "sum.c"], "");
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
        (files(&dir.path().join(folder)), log(&own).pop().unwrap())
    };
    // An object that was kept without LLVM IR is made again, once.
    assert_eq!(compile_sum(&own, dir.path(), &[]).1["cached"], 0);
    let (first, facts) = keep("first");
    assert_eq!((first.len(), &facts["cached"]), (2, &0.into()));
    let (second, again) = keep("second");
    assert_eq!((&second, &again["cached"]), (&first, &1.into()));
    for count in ["files", "functions", "optimised", "unchanged", "rules", "reasons"] {
        assert_eq!(again[count], facts[count], "{count}");
    }
    assert_eq!(facts["rules"]["mine.sums.carries"], 1);
}

#[test]
fn commands_at_once_share_a_cache() {
    let own = tempfile::tempdir().unwrap();
    let folders: Vec<TempDir> = (0..4).map(|_| sources()).collect();
    let running: Vec<_> = folders
        .iter()
        .map(|dir| cc(&own).current_dir(dir.path()).args(["-O2", "-c", "sum.c"]).spawn().unwrap())
        .collect();
    for mut child in running {
        assert!(child.wait().unwrap().success());
    }
    let objects: Vec<_> = folders.iter().map(|dir| fs::read(dir.path().join("sum.o")).unwrap()).collect();
    assert!(objects.iter().all(|o| *o == objects[0]));
    assert_eq!(log(&own).len(), 4);
}

/// A cache in front of us asks for preprocessed text, then for an object, of that text or of the source; another
/// machine gets the text alone.
#[test]
fn a_cache_or_another_machine_in_front() {
    let (dir, own, other) = (sources(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let kept = own.path().join("kept");
    fs::create_dir(&kept).unwrap();
    let front = script(
        &own,
        "front",
        &format!(
            "for last; do :; done; key=$(\"$@\" -E | cksum | tr ' ' -); kept='{}'/$key; [ -f \"$kept\" ] || \"$@\" -o \
             \"$kept\" || exit\n\
             cp \"$kept\" \"${{last%.c}}.o\"",
            kept.display()
        ),
    );
    let mut objects = vec![];
    for _ in 0..2 {
        let mut command = Command::new(&front);
        command.arg(env!("CARGO_BIN_EXE_rewright")).args(["cc", "--rules", "mine.rw"]);
        command.env("HOME", own.path()).env("REWRIGHT_LOG", own.path().join("log")).env_remove("REWRIGHT_SERVER");
        let ran = run(command, dir.path(), &["-O2", "-c", "sum.c"], "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        objects.push(fs::read(dir.path().join("sum.o")).unwrap());
    }
    // The second time, only text was asked for.
    assert_eq!(log(&own).iter().filter(|line| line["optimised"] == 1).count(), 1);
    run(cc(&own), dir.path(), &["-E", "sum.c", "-o", "sum.i"], "");
    for (own, folder) in [(&own, dir.path()), (&other, other.path())] {
        if own.path() == folder {
            fs::copy(dir.path().join("sum.i"), folder.join("sum.i")).unwrap();
            fs::copy(dir.path().join("mine.rw"), folder.join("mine.rw")).unwrap();
        }
        let ran = run(cc(own), folder, &["-O2", "-c", "sum.i", "-o", "far.o"], "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        objects.push(fs::read(folder.join("far.o")).unwrap());
    }
    assert!(objects.windows(2).all(|pair| pair[0] == pair[1]), "objects differ");
}

/// A checkout of a program in a folder of its own, built with a cache of its own and a store that others share, and with
/// nothing else to write to: what the build says of it, and its objects by name.
fn built(checkout: &Path, store: &str, options: &[&str]) -> (String, serde_json::Value, BTreeMap<String, Vec<u8>>) {
    let own = tempfile::tempdir().unwrap();
    fs::create_dir_all(checkout.join("include")).unwrap();
    for (name, text) in [
        ("mine.rw", PACK),
        ("sum.c", "#include \"sum.h\"\nint sum(int x, int y) { return (x ^ y) + ((x & y) << ONE); }\n"),
        ("other.c", "int other(int x, int y) { return (x ^ y) + ((x & y) << 1); }\n"),
        ("include/sum.h", "#define ONE 1\nint sum(int x, int y);\n"),
    ] {
        fs::write(checkout.join(name), text).unwrap();
    }
    for object in ["sum.o", "other.o"] {
        let _ = fs::remove_file(checkout.join(object));
    }
    let script = "for f in sum other; do $CC -O2 -g -ffile-prefix-map=$PWD=. -I $PWD/include -c $f.c || exit 1; done";
    let mut command = rewright(&own);
    command.args(["wrap", "--rules", "mine.rw", "--stats", "--format", "json", "--cache-store", store]).args(options);
    command.args(["--", "sh", "-c", script]);
    let before: Vec<String> = files(checkout).into_keys().collect();
    let ran = run(command, checkout, &[], "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let stats = ran.stderr.lines().find(|line| line.starts_with('{')).unwrap();
    let objects = files(checkout).into_iter().filter(|(name, _)| !before.contains(name));
    let objects: BTreeMap<String, Vec<u8>> = objects.map(|(name, (_, content))| (name, content)).collect();
    assert_eq!(objects.keys().collect::<Vec<_>>(), ["other.o", "sum.o"], "nothing else is written");
    (ran.stderr.clone(), serde_json::from_str(stats).unwrap(), objects)
}

#[test]
fn checkouts_in_different_folders_share_objects() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("one"), dir.path().join("far/away/two"));
    let store = dir.path().join("store").display().to_string();
    let counts = |stats: &serde_json::Value| [stats["cached"].as_u64(), stats["shared"].as_u64()].map(Option::unwrap);
    let (_, stats, first) = built(&one, &store, &[]);
    assert_eq!(counts(&stats), [0, 0]);
    let (_, stats, second) = built(&two, &store, &[]);
    assert_eq!(counts(&stats), [2, 2]);
    assert!(first == second);
    for (name, object) in &first {
        for path in [dir.path().to_path_buf(), std::env::temp_dir()] {
            let path = path.display().to_string();
            assert!(!object.windows(path.len()).any(|part| part == path.as_bytes()), "{path} is in {name}");
        }
    }
    // The text of a rule is part of a key, and so is whether results were compared.
    assert_eq!(counts(&built(&two, &store, &["--validate"]).1), [0, 0]);
    // Every entry damaged, or another's: objects are made again, with a word, and the entries, too.
    let entries: Vec<_> = files(&dir.path().join("store")).into_keys().collect();
    assert_eq!(entries.len(), 4, "{entries:?}");
    let sound: Vec<Vec<u8>> =
        entries.iter().map(|name| fs::read(dir.path().join("store").join(name)).unwrap()).collect();
    for (name, other) in entries.iter().zip(sound.iter().cycle().skip(1)) {
        fs::write(dir.path().join("store").join(name), other).unwrap();
    }
    let (said, stats, third) = built(&one, &store, &[]);
    assert!(counts(&stats) == [0, 0] && third == first, "{said}");
    assert_eq!(said.matches("is not what was kept under that name; it is made again").count(), 2, "{said}");
    assert_eq!(counts(&built(&one, &store, &[]).1), [2, 2]);
}

#[test]
fn a_store_that_fails_loses_no_build() {
    let dir = tempfile::tempdir().unwrap();
    let checkout = dir.path().join("one");
    let store = dir.path().join("store").display().to_string();
    let (said, _, objects) = built(&checkout, &store, &[]);
    let made = "store yet; it is made for the store";
    assert_eq!(said.matches(made).count(), 1, "a folder that is not there is named, once for the build: {said}");
    assert!(!built(&checkout, &store, &[]).0.contains(made));
    let no_folder = dir.path().join("file");
    fs::write(&no_folder, "").unwrap();
    let (said, _, again) = built(&checkout, &no_folder.display().to_string(), &[]);
    assert!(again == objects);
    assert_eq!(said.matches("results are not shared: ").count(), 1, "once for the build: {said}");
    // An invalid address is a mistake, before anything is built.
    let own = tempfile::tempdir().unwrap();
    let mut command = rewright(&own);
    command.args(["wrap", "--rules", "mine.rw", "--cache-store", "results", "--", "touch", "built"]);
    let ran = run(command, &checkout, &[], "");
    assert!(ran.code == Some(2) && ran.stderr.contains("`results` is no store: name a folder"), "{ran:?}");
    assert!(!checkout.join("built").exists());
}

/// The assembler reads the file when the object is made; no key knows what it says.
#[test]
fn what_the_assembler_reads_is_not_kept() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    fs::write(dir.path().join("in.c"), "__asm__(\".data\\n.incbin \\\"data\\\"\\n\");\nint f(int x) { return x; }\n")
        .unwrap();
    let compiled = |data: &str| {
        fs::write(dir.path().join("data"), data).unwrap();
        let ran = run(cc(&own), dir.path(), &["-O2", "-c", "in.c"], "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        fs::read(dir.path().join("in.o")).unwrap()
    };
    for data in ["first one", "second one"] {
        assert!(compiled(data).windows(data.len()).any(|part| part == data.as_bytes()), "{data}");
    }
}
