//! Two versions of one file, by its language.

use super::by_rules::ByRules;
use super::text::{Text, mistakes, not_text};
use super::values::Values;
use super::{blocks, ir};
use crate::language::Language;
use anyhow::{Context, Result, bail};
use rewright_dsl::program::Program;
use rewright_equiv::verdict::ValidationReport;
use rewright_equiv::{Config, ValidateError};
use rewright_llvm::declared_calls::of_packs;
use rewright_llvm::lex::with_plain_globals;
use rewright_llvm::module::{self, Definition};
use rewright_llvm::optimise::LlvmOptimiser;
use rewright_mlir::NestReport;
use rewright_pipeline::optimiser::Options;
use rewright_wrap::rewrite_file::apply;
use rewright_wrap::rules::Ready;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// How versions are compared, in every language.
pub(crate) struct Comparer {
    /// Rules for LLVM IR, where a method or a second version needs them.
    pub(crate) rules: Option<Ready>,
    /// The packs, for CLIF and our own text, whose operations they declare.
    pub(crate) program: Option<Program>,
    /// How a program is chosen where rules make the second version.
    pub(crate) options: Options,
    pub(crate) config: Config,
    pub(crate) nests: rewright_mlir::Options,
    /// Says which values of MLIR are equal.
    pub(crate) values: Option<RefCell<Values>>,
    /// Rewrites first versions of which nothing is known.
    pub(super) by_rules: Option<ByRules>,
}

impl Comparer {
    /// For what rules make of a file.
    pub(crate) fn of_own_changes(program: Program) -> Self {
        Comparer {
            rules: None,
            config: Config { vouched: of_packs(&program.universe), ..Config::of_own_changes() },
            program: Some(program),
            options: Options::default(),
            nests: rewright_mlir::Options::default(),
            values: None,
            by_rules: None,
        }
    }

    /// Compares two versions.
    ///
    /// # Errors
    /// Mistakes in one of them; a function that neither has ([`ValidateError::Function`]); a tool that is not there
    /// ([`ValidateError::Tool`]).
    pub(crate) fn compare(&self, language: Language, before: &Text, after: &Text) -> Result<ValidationReport> {
        let mut report = self.compare_as(language, [before, after], &self.config)?;
        if let (Some(rules), false) = (&self.by_rules, language == Language::Mlir) {
            let compare = |versions: [&Text; 2], config: &Config| self.compare_as(language, versions, config);
            rules.decide((&compare, &self.config), language, [before, after], &mut report);
        }
        Ok(report)
    }

    /// The same without rules, as another configuration says.
    ///
    /// # Errors
    /// As [`Self::compare`].
    fn compare_as(&self, language: Language, [before, after]: [&Text; 2], config: &Config) -> Result<ValidationReport> {
        match language {
            Language::Llvm => self.llvm(before, after, config),
            Language::Mlir => self.mlir(before, after),
            Language::Clif | Language::Own => ir::compare(language, self.program()?, [before, after], config),
        }
    }

    /// Compares a file with what rules make of it.
    ///
    /// # Errors
    /// As [`Self::compare`]; and where no rules apply to the language.
    pub(crate) fn with_rules(&self, language: Language, before: &Text) -> Result<ValidationReport> {
        let bytes = match language {
            Language::Llvm => {
                let rules = self.rules.as_ref().context("packs are loaded for this")?;
                let file = llvm(before)?;
                match apply(rules, before.bytes.clone(), false)?.text {
                    Some(text) => text.into_bytes(),
                    None => {
                        let own = (0..file.functions.len()).filter(|position| self.config.has(*position));
                        let unchanged = own.count() as u64;
                        return Ok(ValidationReport { unchanged, ..ValidationReport::default() });
                    }
                }
            }
            Language::Clif | Language::Own => ir::optimised(language, self.program()?, before, &self.options)?,
            Language::Mlir => {
                bail!("no rules are about MLIR: name a second file, or a command that makes one (`--after`)")
            }
        };
        self.compare(language, before, &Text { name: format!("what rules make of {}", before.name), bytes })
    }

    fn program(&self) -> Result<Program> {
        self.program.clone().context("packs are loaded for this")
    }

    fn llvm(&self, before: &Text, after: &Text, config: &Config) -> Result<ValidationReport> {
        let first = llvm(before)?;
        let second = llvm(after)?.text;
        let optimiser: Option<&LlvmOptimiser> = self.rules.as_ref().map(|rules| &rules.optimiser);
        rewright_equiv::validate(optimiser, &first, &second, config).map_err(|error| match error {
            ValidateError::Read(error) => mistakes(&after.name, error.into()),
            error => error.into(),
        })
    }

    fn mlir(&self, before: &Text, after: &Text) -> Result<ValidationReport> {
        let text = |of: &Text| String::from_utf8(of.bytes.clone()).map_err(|error| not_text(of, &error));
        let (first, second) = (text(before)?, text(after)?);
        let NestReport { mut functions, .. } = match &self.values {
            Some(values) => rewright_mlir::validate_with(&first, &second, &self.nests, &mut *values.borrow_mut()),
            None => rewright_mlir::validate(&first, &second, &self.nests),
        };
        if let Some(program) = &self.program {
            blocks::decide(program, [&first, &second], &self.config, &mut functions)?;
        }
        let wanted = |name: &str| match &self.config.function {
            None => true,
            Some(asked) => name.trim_start_matches('@') == asked.trim_start_matches('@'),
        };
        let report = ValidationReport::of((0..).zip(functions).filter(|(_, verdict)| wanted(&verdict.function)));
        match &self.config.function {
            Some(name) if report.functions.is_empty() => Err(ValidateError::Function(name.clone()).into()),
            _ => Ok(report),
        }
    }
}

/// A file of LLVM IR, in which each function is defined once.
pub(crate) fn llvm(text: &Text) -> Result<module::File> {
    let file = module::text(text.bytes.clone())
        .and_then(|text| module::read(with_plain_globals(text)))
        .map_err(|error| mistakes(&text.name, error.into()))?;
    let mut lines = BTreeMap::new();
    for Definition { name, line, .. } in &file.functions {
        if let Some(first) = lines.insert(name, line) {
            bail!("{}: {line}:1: {name} is defined a second time; first in line {first}", text.name);
        }
    }
    Ok(file)
}
