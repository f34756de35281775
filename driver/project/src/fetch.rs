//! Dependencies from git repositories: what `rewright fetch` does.
//!
//! `git` is asked for one commit, whose files go into the user's cache, in a folder that is named by the repository and
//! the commit. No command of a repository runs: there are no hooks, no submodules, no filters that it brings along,
//! symbolic links are plain files, and only addresses of `https`, `ssh`, `git` and files are fetched.

use super::lock::{Lock, Locked, is_commit};
use super::manifest::Source;
use super::{Project, ProjectError};
use rewright_files::cache::{Key, default_folder};
use rewright_files::scratch_folder;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Goes up whenever folders of the cache have another content.
const VERSION: u32 = 1;

/// The transports that git may use: not those that run a program that an address names.
const TRANSPORTS: &str = "https:ssh:git:file";

/// What became of a dependency.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fetched {
    /// Which commit it is.
    pub locked: Locked,
    /// The one before, where it is another.
    pub before: Option<String>,
    /// Was it on this machine already?
    pub was_there: bool,
}

/// Where the files of a commit are, or would be; nowhere, where no folder is the user's cache.
pub(super) fn folder(git: &str, commit: &str) -> Option<PathBuf> {
    let key = Key::of(VERSION, [git.as_bytes(), commit.as_bytes()]);
    Some(default_folder("dependencies")?.join(key.to_string()))
}

/// Fetches the dependencies of a project that are not there, and writes its lock. With `update`, tags and branches are
/// looked up again.
///
/// # Errors
/// A dependency cannot be fetched, or a file not be written.
pub fn fetch(project: &Project, update: bool) -> Result<Vec<Fetched>, ProjectError> {
    let before = Lock::read(&project.folder)?;
    let (mut fetched, mut lock) = (vec![], Lock::default());
    for (name, source) in &project.manifest.dependencies {
        let Source::Git { git, rev } = source else { continue };
        check_address(name, git, rev)?;
        let known = match is_commit(rev) {
            true => Some(rev.clone()),
            false => before.commit(name, git, rev).filter(|_| !update).map(str::to_string),
        };
        let place = |commit: &str| folder(git, commit).ok_or(ProjectError::NoCache);
        let was_there = match &known {
            Some(commit) => place(commit)?.is_dir(),
            None => false,
        };
        let commit = match known.filter(|_| was_there) {
            Some(commit) => commit,
            None => {
                let wanted = before.commit(name, git, rev).filter(|_| !update).unwrap_or(rev);
                download(name, git, wanted, &place)?
            }
        };
        let locked = Locked { name: name.clone(), git: git.clone(), rev: rev.clone(), commit };
        let earlier = before.dependency.iter().find(|entry| entry.name == *name).map(|entry| entry.commit.clone());
        let changed = earlier.filter(|earlier| *earlier != locked.commit);
        lock.dependency.push(locked.clone());
        fetched.push(Fetched { locked, before: changed, was_there });
    }
    lock.write(&project.folder)?;
    Ok(fetched)
}

/// Fetches one revision, puts its files where they are looked for, and gives its commit.
fn download(
    name: &str,
    git: &str,
    rev: &str,
    place: &dyn Fn(&str) -> Result<PathBuf, ProjectError>,
) -> Result<String, ProjectError> {
    let keep = |e| ProjectError::Keep(name.into(), e);
    // On the same file system, so that a rename is all that is left to do.
    let cache = place("")?.parent().map(Path::to_path_buf).ok_or(ProjectError::NoCache)?;
    std::fs::create_dir_all(&cache).map_err(keep)?;
    let scratch = scratch_folder("fetch", &cache).map_err(keep)?;
    let git_in = |arguments: &[&str]| run(name, scratch.path(), arguments);
    git_in(&["init", "--quiet", "--template="])?;
    // Some servers give branches and tags alone: then all of them, since one may hold the commit.
    if let Err(refused) = git_in(&["fetch", "--quiet", "--depth=1", "--no-recurse-submodules", "--", git, rev]) {
        if !is_commit(rev) {
            return Err(refused);
        }
        git_in(&["fetch", "--quiet", "--no-recurse-submodules", "--", git, "+refs/*:refs/fetched/*"])?;
    }
    let wanted = if is_commit(rev) { rev } else { "FETCH_HEAD" };
    let commit = git_in(&["rev-parse", "--verify", "--end-of-options", &format!("{wanted}^{{commit}}")])?;
    let commit = commit.trim().to_string();
    git_in(&["checkout", "--quiet", "--detach", &commit])?;
    std::fs::remove_dir_all(scratch.path().join(".git")).map_err(keep)?;
    let target = place(&commit)?;
    match std::fs::rename(scratch.path(), &target) {
        Ok(()) => {}
        // Another process was faster.
        Err(e) if matches!(e.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists) => {}
        Err(e) => return Err(keep(e)),
    }
    Ok(commit)
}

/// Runs git in a folder, without anything that a repository could bring along; gives what it prints.
fn run(name: &str, folder: &Path, arguments: &[&str]) -> Result<String, ProjectError> {
    let mut git = Command::new("git");
    for setting in ["core.hooksPath=/dev/null", "core.symlinks=false", "core.fsmonitor=false"] {
        git.args(["-c", setting]);
    }
    // A repository around this one is not ours.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"] {
        git.env_remove(variable);
    }
    git.env("GIT_ALLOW_PROTOCOL", TRANSPORTS).env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    let output = git.args(arguments).current_dir(folder).output().map_err(ProjectError::NoGit)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_string();
        return Err(ProjectError::Git(name.into(), said));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Refuses what git would not take for an address and a revision.
fn check_address(name: &str, git: &str, rev: &str) -> Result<(), ProjectError> {
    let wrong = |why: &str| Err(ProjectError::Address(name.into(), why.into()));
    let has_transport = TRANSPORTS.split(':').any(|transport| git.starts_with(&format!("{transport}://")));
    let is_of_host = git.split_once(':').is_some_and(|(host, path)| host.contains('@') && !path.starts_with(':'));
    if git.starts_with('-') || !has_transport && !is_of_host {
        return wrong(&format!(
            "`{git}` is none of https://.., ssh://.., git://.., file://.. and user@host:path; a folder is a `path`"
        ));
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/-+".contains(c);
    if rev.is_empty() || rev.starts_with('-') || rev.contains("..") || !rev.chars().all(is_plain) {
        return wrong(&format!("`{rev}` is no tag, branch or commit"));
    }
    Ok(())
}
