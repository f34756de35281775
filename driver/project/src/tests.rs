use super::*;
use std::process::Command;

const LINEAR: &str = "pack acme.linear\n";

fn put(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn project(folder: &Path, text: &str) -> Project {
    put(folder, FILE, text);
    Project::around(folder).unwrap().unwrap()
}

#[test]
fn a_project_is_found_upwards_and_the_nearest_counts() {
    let dir = tempfile::tempdir().unwrap();
    project(dir.path(), "[project]\nname = \"outer\"\n");
    fs::create_dir_all(dir.path().join("a/b")).unwrap();
    let found = Project::around(&dir.path().join("a/b")).unwrap().unwrap();
    assert_eq!(found.manifest.project.name, "outer");
    project(&dir.path().join("a"), "[project]\nname = \"inner\"\n");
    let found = Project::around(&dir.path().join("a/b")).unwrap().unwrap();
    assert_eq!((found.manifest.project.name.as_str(), found.rules()), ("inner", None));
    assert_eq!(found.packs(), [fs::canonicalize(dir.path().join("a")).unwrap()]);
}

#[test]
fn a_folder_has_one_file_of_settings() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), FORMER_FILE, "{}");
    assert_eq!(Project::around(dir.path()).unwrap(), None);
    put(dir.path(), FILE, "");
    let error = Project::around(dir.path()).unwrap_err();
    assert!(matches!(error, ProjectError::Both(_)), "{error}");
}

#[test]
fn mistakes_say_where_they_are() {
    let dir = tempfile::tempdir().unwrap();
    for (text, says) in [
        ("[project]\npakcs = [\".\"]\n", "unknown field `pakcs`"),
        ("[verify]\nsolver = \"rm -rf\"\n", "unknown field `solver`"),
        ("[dependencies]\na = { svn = \"x\" }\n", "unknown field `svn`"),
        ("[dependencies]\na = { path = \"x\", rev = \"y\" }\n", "a dependency is"),
        ("[costs]\nper_loop = \"many\"\n", "line 2"),
        ("[project\n", "line 1"),
    ] {
        put(dir.path(), FILE, text);
        let error = Project::around(dir.path()).unwrap_err().to_string();
        assert!(error.contains(says) && error.contains(FILE), "{text}: {error}");
    }
}

#[test]
fn imports_are_found_in_the_search_path_and_in_dependencies() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "other/linear.rw", LINEAR);
    put(dir.path(), "whole/acme/dense.rw", "");
    put(dir.path(), "inner/src/tiles.rw", "");
    put(dir.path(), "inner/rewright.toml", "[project]\npath = [\"src\"]\n");
    put(dir.path(), "mine/packs/own/a.rw", "");
    let found = project(
        &dir.path().join("mine"),
        "[project]\npath = [\"packs\"]\n[dependencies]\nacme = { path = \"../other\" }\nin = { path = \"../inner\" }\n\
         none = { path = \"../none\" }\n",
    );
    let file = |name: &str| found.import(name).unwrap().map(|path| fs::canonicalize(path).unwrap());
    let whole = |path: &str| Some(fs::canonicalize(dir.path().join(path)).unwrap());
    assert_eq!(file("own.a"), whole("mine/packs/own/a.rw"));
    assert_eq!(file("acme.linear"), whole("other/linear.rw"));
    assert_eq!(file("in.tiles"), whole("inner/src/tiles.rw"));
    assert_eq!((file("acme.gone"), file("gone")), (None, None));
    assert!(matches!(found.import("none.a").unwrap_err(), ProjectError::NoDependency { .. }));
    // A dependency may have its own name's folder.
    let found = project(&dir.path().join("mine"), "[dependencies]\nacme = { path = \"../whole\" }\n");
    assert!(found.import("acme.dense").unwrap().is_some());
}

#[test]
fn a_former_configuration_is_read_and_translated() {
    let text = r#"{"about": "ours", "costs": {"profile": "size", "per_loop": 4, "operations": {"udiv{i64}": 40}}}"#;
    let file: costs::CostFile = serde_json::from_str(text).unwrap();
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "old.json", text);
    assert_eq!(settings::costs(Some(&dir.path().join("old.json"))).unwrap(), file.costs);
    let translated = settings::translate(&file).unwrap();
    assert_eq!(Manifest::parse(&translated).unwrap().costs, file.costs, "{translated}");
    assert!(translated.starts_with("# ours\n"), "{translated}");
}

#[test]
fn addresses_and_revisions_that_git_would_run_or_misread_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (git, rev) in [
        ("ext::sh -c true", "main"),
        ("--upload-pack=true", "main"),
        ("../somewhere", "main"),
        ("https://example.org/x", "--output=x"),
        ("https://example.org/x", "a..b"),
        ("https://example.org/x", ""),
    ] {
        let text = format!("[dependencies]\na = {{ git = \"{git}\", rev = \"{rev}\" }}\n");
        let error = fetch::fetch(&project(dir.path(), &text), false).unwrap_err();
        assert!(matches!(error, ProjectError::Address(..)), "{git} {rev}: {error}");
    }
}

#[test]
fn a_lock_holds_for_what_was_asked_for() {
    let commit = "0123456789012345678901234567890123456789";
    let entry = |rev: &str| lock::Locked {
        name: "a".into(),
        git: "https://example.org/\"x\"".into(),
        rev: rev.into(),
        commit: commit.into(),
    };
    let dir = tempfile::tempdir().unwrap();
    let lock = Lock { dependency: vec![entry("v1")] };
    lock.write(dir.path()).unwrap();
    let read = Lock::read(dir.path()).unwrap();
    assert_eq!(read, lock);
    assert_eq!(read.commit("a", &entry("v1").git, "v1"), Some(commit));
    assert_eq!(read.commit("a", &entry("v1").git, "v2"), None);
    put(dir.path(), lock::FILE, "dependency = 3\n");
    assert!(Lock::read(dir.path()).is_err());
}

/// A repository with one pack; gives its address and what `git` prints of commands in it.
fn repository(folder: &Path) -> String {
    put(folder, "linear.rw", LINEAR);
    git(folder, &["init", "--quiet", "-b", "main"]);
    commit(folder);
    format!("file://{}", fs::canonicalize(folder).unwrap().display())
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").args(identity).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_string()
}

fn commit(folder: &Path) {
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "--quiet", "-m", "packs"]);
}

#[test]
fn a_branch_is_fetched_once_and_updated_when_asked() {
    let dir = tempfile::tempdir().unwrap();
    let theirs = dir.path().join("theirs");
    let address = repository(&theirs);
    std::os::unix::fs::symlink("/etc/passwd", theirs.join("link.rw")).unwrap();
    commit(&theirs);
    // Fetched files go into the user's cache: its address makes this test's own there.
    let mine = project(
        &dir.path().join("mine"),
        &format!("[dependencies]\nacme = {{ git = \"{address}\", rev = \"main\" }}\n"),
    );
    let not_there = mine.import("acme.linear").unwrap_err();
    assert!(not_there.to_string().contains("rewright fetch"), "{not_there}");
    let first = fetch::fetch(&mine, false).unwrap().remove(0);
    assert_eq!((first.locked.commit.as_str(), first.was_there), (git(&theirs, &["rev-parse", "HEAD"]).as_str(), false));
    let found = mine.import("acme.linear").unwrap().unwrap();
    assert_eq!(fs::read_to_string(&found).unwrap(), LINEAR);
    let link = found.with_file_name("link.rw");
    assert!(fs::symlink_metadata(&link).unwrap().is_file(), "a link of a repository leads nowhere");
    assert!(!found.with_file_name(".git").exists());
    // Later commits of the branch do not matter, until an update is asked for.
    put(&theirs, "linear.rw", "pack acme.linear\n// new\n");
    commit(&theirs);
    assert!(fetch::fetch(&mine, false).unwrap()[0].was_there);
    assert_eq!(mine.import("acme.linear").unwrap(), Some(found));
    let updated = fetch::fetch(&mine, true).unwrap().remove(0);
    assert_eq!(updated.before, Some(first.locked.commit.clone()));
    // A lock of others is enough: its commit is fetched, though the branch has gone on.
    let old = Lock { dependency: vec![first.locked.clone()] };
    old.write(&mine.folder).unwrap();
    fs::remove_dir_all(fetch::folder(&address, &first.locked.commit).unwrap()).unwrap();
    assert_eq!(fetch::fetch(&mine, false).unwrap()[0].locked, first.locked);
    for commit in [first.locked.commit, updated.locked.commit] {
        fs::remove_dir_all(fetch::folder(&address, &commit).unwrap()).unwrap();
    }
    let lost = project(&mine.folder, &format!("[dependencies]\nacme = {{ git = \"{address}\", rev = \"gone\" }}\n"));
    let error = fetch::fetch(&lost, false).unwrap_err().to_string();
    assert!(error.contains("`acme`") && error.contains("gone"), "{error}");
}
