//! Which files are compared with which: two that are named, or those of two folders, by their names.

use crate::language::{LANGUAGES, Language};
use crate::sources::{self, is_dash};
use anyhow::{Context, Result, anyhow, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A file in one or two versions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Pair {
    /// How reports name it: its path, or, of files in folders, the path inside of them.
    pub(super) name: String,
    pub(super) language: Language,
    pub(super) before: PathBuf,
    /// The later version, where it is a file of its own.
    pub(super) after: Option<PathBuf>,
}

/// The files of one or two versions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Files {
    pub(super) pairs: Vec<Pair>,
    /// Those that only the first folder has, and only the second one.
    pub(super) only: [Vec<Pair>; 2],
    /// Files of folders in no language that is known here.
    pub(super) others: usize,
}

/// The files of one version, which is a file or a folder. `language` is for files whose names do not say it.
///
/// # Errors
/// Where a folder cannot be read, or holds no such file.
pub(super) fn single(path: &Path, language: Option<Language>) -> Result<Files> {
    if !path.is_dir() {
        if is_dash(path) && language.is_none() {
            bail!("say with --language what language standard input is in");
        }
        let language = match language.map_or_else(|| told(path), |language| Ok(Some(language)))? {
            Some(language) => language,
            None => return Err(untold(path)),
        };
        let pair = Pair { name: path.display().to_string(), language, before: path.to_path_buf(), after: None };
        return Ok(Files { pairs: vec![pair], ..Files::default() });
    }
    let mut others = 0;
    let pairs: Vec<_> = inside(path, &mut others)?.into_values().collect();
    if pairs.is_empty() {
        bail!("{} holds no file that ends in {}", path.display(), endings());
    }
    Ok(Files { pairs, others, ..Files::default() })
}

/// The files of two versions: two files, or two folders whose files are paired by their names.
///
/// # Errors
/// Where one is a file and the other one a folder, kinds differ, or folders cannot be read or hold no such file.
pub(super) fn paired(before: &Path, after: &Path, language: Option<Language>) -> Result<Files> {
    match (before.is_dir(), after.is_dir()) {
        (true, true) => {}
        (false, false) => {
            let language = common(before, after, language)?;
            let (name, after) = (before.display().to_string(), Some(after.to_path_buf()));
            let pairs = vec![Pair { name, language, before: before.to_path_buf(), after }];
            return Ok(Files { pairs, ..Files::default() });
        }
        (is_folder, _) => {
            let (folder, file) = if is_folder { (before, after) } else { (after, before) };
            bail!(
                "{} is a folder and {} is none: name two files, or two folders whose files are paired by their names",
                folder.display(),
                file.display()
            )
        }
    }
    let mut others = 0;
    let (first, mut second) = (inside(before, &mut others)?, inside(after, &mut others)?);
    let (mut pairs, mut only) = (vec![], vec![]);
    for (inner, pair) in first {
        match second.remove(&inner) {
            Some(found) => pairs.push(Pair { after: Some(found.before), ..pair }),
            None => only.push(pair),
        }
    }
    if pairs.is_empty() {
        bail!(
            "{} and {} have no file in common that ends in {}: nothing is compared",
            before.display(),
            after.display(),
            endings()
        );
    }
    Ok(Files { pairs, only: [only, second.into_values().collect()], others })
}

fn endings() -> String {
    let [most @ .., last] = LANGUAGES.map(|language| format!("`.{}`", language.extension()));
    format!("{} or {last}", most.join(", "))
}

/// The language of two files.
fn common(before: &Path, after: &Path, language: Option<Language>) -> Result<Language> {
    if is_dash(before) && is_dash(after) {
        bail!("`-` is standard input, which is one version only");
    }
    if let Some(language) = language {
        return Ok(language);
    }
    let [was, is] = [told(before)?, told(after)?];
    let (Some(was), Some(is)) = (was.or(is), is.or(was)) else { return Err(untold(before)) };
    if was != is {
        bail!(
            "{} is {} and {} is {}: two versions are in one language",
            before.display(),
            was.name(),
            after.display(),
            is.name()
        );
    }
    Ok(was)
}

/// The language of a file, as its name tells it, or else what is in it.
///
/// # Errors
/// Where it cannot be read.
fn told(path: &Path) -> Result<Option<Language>> {
    // A pipe is read once only.
    if is_dash(path) || (path.exists() && !path.is_file()) {
        return Ok(Language::said(path));
    }
    match Language::said(path) {
        Some(language) => Ok(Some(language)),
        None => sources::bytes(path).map(|text| Language::of_text(&text)),
    }
}

/// Says how to say what is not known.
fn untold(path: &Path) -> anyhow::Error {
    anyhow!(
        "neither the name of {} nor what is in it tells its language: say it with --language (llvm, mlir, clif or ir)",
        path.display()
    )
}

/// Files of a folder that are in a language, by the path inside of it. Links are followed.
fn inside(folder: &Path, others: &mut usize) -> Result<BTreeMap<PathBuf, Pair>> {
    let mut found = BTreeMap::new();
    for entry in ignore::WalkBuilder::new(folder).standard_filters(false).follow_links(true).build() {
        let path = entry.with_context(|| format!("cannot list {}", folder.display()))?.into_path();
        if path.is_dir() {
            continue;
        }
        let Some(language) = LANGUAGES.into_iter().find(|l| path.extension().is_some_and(|e| e == l.extension()))
        else {
            *others += 1;
            continue;
        };
        let inner = path.strip_prefix(folder).unwrap_or(&path).to_path_buf();
        found.insert(inner.clone(), Pair { name: inner.display().to_string(), language, before: path, after: None });
    }
    Ok(found)
}
