//! Requests and their answers.

use super::{Refusal, Server};
use crate::commands::{RUN_EXAMPLE, VERIFY};
use crate::navigation::{self, Mention};
use crate::position::Lines;
use crate::snapshot::Snapshot;
use crate::symbols::{Action, declared, flat, matches, outline};
use crate::workspace::Around;
use crate::{completion, findings, format, hints, hover, rename, tokens};
use lsp_server::{ErrorCode, Request, RequestId};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    CodeActionOrCommand, CodeActionParams, CodeLens, CodeLensParams, Command, CompletionItem, CompletionParams,
    CompletionResponse, DocumentFormattingParams, DocumentHighlight, DocumentHighlightParams, DocumentSymbolParams,
    DocumentSymbolResponse, GotoDefinitionParams, GotoDefinitionResponse, HoverParams, InlayHintParams, Location,
    OneOf, PrepareRenameResponse, ReferenceParams, RenameParams, SemanticTokens, SemanticTokensParams,
    SemanticTokensResult, TextDocumentPositionParams, TextEdit, Url, WorkspaceEdit, WorkspaceSymbol,
    WorkspaceSymbolParams, WorkspaceSymbolResponse,
};
use rewright_dsl::syntax::ast::Span;
use rewright_dsl::syntax::parse;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// The content of a request.
fn read<T: DeserializeOwned>(params: Value) -> Result<T, Refusal> {
    serde_json::from_value(params).map_err(|error| Refusal::new(ErrorCode::InvalidParams, error.to_string()))
}

fn value(answer: impl Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(answer).map_err(|error| Refusal::new(ErrorCode::InternalError, error.to_string()))
}

/// A place in an open document.
struct At {
    name: String,
    snapshot: Rc<Snapshot>,
    file: u32,
    offset: u32,
}

impl Server<'_> {
    /// The answer; none where it comes later.
    pub(super) fn answer(&mut self, request: Request) -> Option<Result<Value, Refusal>> {
        let Request { id, method, params } = request;
        Some(match method.as_str() {
            request::Shutdown::METHOD => {
                self.shut_down = true;
                Ok(Value::Null)
            }
            request::ExecuteCommand::METHOD => {
                return match self.start(&id, params) {
                    Ok(()) => None,
                    Err(refusal) => Some(Err(refusal)),
                };
            }
            request::HoverRequest::METHOD => self.hover(params),
            request::Completion::METHOD => self.complete(params),
            request::ResolveCompletionItem::METHOD => self.resolve(params),
            request::GotoDefinition::METHOD => self.definition(params),
            request::References::METHOD => self.references(params),
            request::DocumentHighlightRequest::METHOD => self.highlights(params),
            request::PrepareRenameRequest::METHOD => self.prepare_rename(params),
            request::Rename::METHOD => self.rename(params),
            request::DocumentSymbolRequest::METHOD => self.outline(params),
            request::WorkspaceSymbolRequest::METHOD => self.workspace_symbols(params),
            request::Formatting::METHOD => self.format(params),
            request::CodeActionRequest::METHOD => self.actions(params),
            request::CodeLensRequest::METHOD => self.lenses(params),
            request::InlayHintRequest::METHOD => self.hints(params),
            request::SemanticTokensFullRequest::METHOD => self.tokens(params),
            other => Err(Refusal::new(ErrorCode::MethodNotFound, format!("`{other}` is not answered here"))),
        })
    }

    fn start(&mut self, id: &RequestId, params: Value) -> Result<(), Refusal> {
        self.execute(id, read(params)?)
    }

    /// An open document with its snapshot, and which of the snapshot's files it is.
    fn document(&self, url: &Url) -> Result<(String, Rc<Snapshot>, u32), Refusal> {
        let name = self.opened(url)?;
        let missing = || Refusal::new(ErrorCode::InternalError, format!("{name} was not analysed"));
        let snapshot = self.workspace.snapshot(&name).ok_or_else(missing)?;
        let file = snapshot.file(&name).ok_or_else(missing)?;
        Ok((name, snapshot, file))
    }

    fn at(&self, place: &TextDocumentPositionParams) -> Result<At, Refusal> {
        let (name, snapshot, file) = self.document(&place.text_document.uri)?;
        let offset = snapshot.lines(file).offset(snapshot.text(file), place.position);
        Ok(At { name, snapshot, file, offset })
    }

    fn hover(&self, params: Value) -> Result<Value, Refusal> {
        let params: HoverParams = read(params)?;
        let at = self.at(&params.text_document_position_params)?;
        value(hover::hover(&at.snapshot, at.file, at.offset, &rewright_packs::evidence_of))
    }

    fn complete(&self, params: Value) -> Result<Value, Refusal> {
        let params: CompletionParams = read(params)?;
        let at = self.at(&params.text_document_position)?;
        let packs = || self.workspace.importable(&at.name);
        value(CompletionResponse::Array(completion::completions(&at.snapshot, at.file, at.offset, &packs)))
    }

    fn resolve(&self, params: Value) -> Result<Value, Refusal> {
        let mut item: CompletionItem = read(params)?;
        // The list was made of a snapshot that may be gone; then nothing more is known.
        if let Some([root, file, start, end]) = item.data.clone().and_then(|data| read::<[u32; 4]>(data).ok()) {
            let name = Span { file, start, end };
            let has = |snapshot: &Rc<Snapshot>| {
                snapshot.index().definition(name).is_some_and(|found| item.label.ends_with(&found.name))
            };
            let current = self.workspace.current().into_iter().map(|(_, snapshot)| snapshot);
            let snapshot = current.filter(|snapshot| !snapshot.text(root).is_empty()).find(has);
            if let Some(snapshot) = snapshot {
                completion::resolve(&snapshot, name, &mut item);
            }
        }
        value(item)
    }

    fn location(&self, snapshot: &Snapshot, span: Span) -> Option<Location> {
        Some(Location { uri: self.workspace.url(snapshot.name(span.file))?, range: snapshot.range(span) })
    }

    fn definition(&self, params: Value) -> Result<Value, Refusal> {
        let params: GotoDefinitionParams = read(params)?;
        let At { snapshot, file, offset, .. } = self.at(&params.text_document_position_params)?;
        let Some((_, meanings)) = snapshot.named(file, offset) else { return Ok(Value::Null) };
        let places = meanings.iter().filter_map(|(name, _)| self.location(&snapshot, *name));
        value(GotoDefinitionResponse::Array(places.collect()))
    }

    /// Everywhere in the workspace where what stands at a place is named.
    fn mentioned(&self, at: &At) -> Option<(Vec<Around>, BTreeSet<navigation::Key>)> {
        let (keys, elsewhere) = navigation::keys(&at.snapshot, at.file, at.offset)?;
        if !elsewhere {
            return Some((vec![self.workspace.alone(&at.name)?], keys));
        }
        let (_, meanings) = at.snapshot.named(at.file, at.offset)?;
        let declaring: BTreeSet<&str> = meanings.iter().map(|(name, _)| at.snapshot.name(name.file)).collect();
        let mut around: Vec<Around> = declaring.iter().flat_map(|name| self.workspace.around(name)).collect();
        if around.iter().all(|around| around.snapshot.file(&at.name).is_none()) {
            around.extend(self.workspace.alone(&at.name));
        }
        Some((around, keys))
    }

    fn references(&self, params: Value) -> Result<Value, Refusal> {
        let params: ReferenceParams = read(params)?;
        let at = self.at(&params.text_document_position)?;
        let Some((around, keys)) = self.mentioned(&at) else { return Ok(Value::Null) };
        let mut found: BTreeMap<(String, u32), Location> = BTreeMap::new();
        for Around { snapshot, .. } in &around {
            for Mention { file, start, end, declares } in navigation::mentions(snapshot, &keys) {
                if declares && !params.context.include_declaration {
                    continue;
                }
                let Some(index) = snapshot.file(&file) else { continue };
                if let Some(location) = self.location(snapshot, Span { file: index, start, end }) {
                    found.insert((location.uri.to_string(), start), location);
                }
            }
        }
        value(found.into_values().collect::<Vec<Location>>())
    }

    fn highlights(&self, params: Value) -> Result<Value, Refusal> {
        let params: DocumentHighlightParams = read(params)?;
        let At { name, snapshot, file, offset } = self.at(&params.text_document_position_params)?;
        let Some((keys, _)) = navigation::keys(&snapshot, file, offset) else { return Ok(Value::Null) };
        let mentions = navigation::mentions(&snapshot, &keys).into_iter().filter(|mention| mention.file == name);
        let ranges = mentions.map(|Mention { start, end, .. }| snapshot.range(Span { file, start, end }));
        value(ranges.map(|range| DocumentHighlight { range, kind: None }).collect::<Vec<_>>())
    }

    fn prepare_rename(&self, params: Value) -> Result<Value, Refusal> {
        let params: TextDocumentPositionParams = read(params)?;
        let At { snapshot, file, offset, .. } = self.at(&params)?;
        let (span, placeholder) =
            rename::subject(&snapshot, file, offset).map_err(|error| Refusal::failed(error.to_string()))?;
        value(PrepareRenameResponse::RangeWithPlaceholder { range: snapshot.range(span), placeholder })
    }

    fn rename(&self, params: Value) -> Result<Value, Refusal> {
        let params: RenameParams = read(params)?;
        let at = self.at(&params.text_document_position)?;
        let refuse = |error: rename::RenameError| Refusal::failed(error.to_string());
        let (_, old) = rename::subject(&at.snapshot, at.file, at.offset).map_err(refuse)?;
        let nothing = || refuse(rename::RenameError::Nothing);
        let (around, keys) = self.mentioned(&at).ok_or_else(nothing)?;
        let snapshots: Vec<&Snapshot> = around.iter().map(|around| &*around.snapshot).collect();
        let again = |number: usize, texts: &BTreeMap<String, String>| self.workspace.with_texts(&around[number], texts);
        let edits = rename::rename(&old, &params.new_name, &keys, &snapshots, &again).map_err(refuse)?;
        let mut changes: HashMap<Url, Vec<TextEdit>> = HashMap::new();
        for (name, places) in edits {
            let (Some(url), Some(snapshot)) =
                (self.workspace.url(&name), snapshots.iter().find(|snapshot| snapshot.file(&name).is_some()))
            else {
                return Err(Refusal::failed(format!("{name} cannot be changed")));
            };
            let file = snapshot.file(&name).unwrap_or_default();
            let edits = places.into_iter().map(|(start, end)| TextEdit {
                range: snapshot.range(Span { file, start, end }),
                new_text: params.new_name.clone(),
            });
            changes.insert(url, edits.collect());
        }
        value(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() })
    }

    fn outline(&self, params: Value) -> Result<Value, Refusal> {
        let params: DocumentSymbolParams = read(params)?;
        let name = self.opened(&params.text_document.uri)?;
        let Some(document) = self.workspace.document(&name) else { return Ok(Value::Null) };
        let declared = declared(&parse(0, &document.text).0);
        value(DocumentSymbolResponse::Nested(outline(&declared, &document.text, &document.lines)))
    }

    fn workspace_symbols(&self, params: Value) -> Result<Value, Refusal> {
        let params: WorkspaceSymbolParams = read(params)?;
        let mut found = vec![];
        let names: BTreeSet<String> = self.workspace.listed().iter().chain(self.workspace.opened()).cloned().collect();
        for name in names {
            let (Some(text), Some(uri)) = (self.workspace.text(&name), self.workspace.url(&name)) else { continue };
            let declared = declared(&parse(0, &text).0);
            let lines = Lines::new(&text, self.workspace.encoding());
            for (set, one) in flat(&declared, None).into_iter().filter(|(_, one)| matches(&one.name, &params.query)) {
                let range = lines.range(&text, one.at.start, one.at.end);
                found.push(WorkspaceSymbol {
                    name: one.name.clone(),
                    kind: one.kind,
                    tags: None,
                    container_name: set.map(String::from),
                    location: OneOf::Left(Location { uri: uri.clone(), range }),
                    data: None,
                });
            }
        }
        value(WorkspaceSymbolResponse::Nested(found))
    }

    fn format(&self, params: Value) -> Result<Value, Refusal> {
        let params: DocumentFormattingParams = read(params)?;
        let name = self.opened(&params.text_document.uri)?;
        let Some(document) = self.workspace.document(&name) else { return Ok(Value::Null) };
        let formatted = rewright_dsl::fmt::format(&document.text).map_err(|wrong| {
            let first = wrong.first().map_or("it has mistakes", |first| first.message.as_str());
            Refusal::failed(format!("only a pack without mistakes of syntax can be formatted: {first}"))
        })?;
        value(format::edits(&document.text, &formatted, &document.lines))
    }

    fn actions(&self, params: Value) -> Result<Value, Refusal> {
        let params: CodeActionParams = read(params)?;
        let (_, snapshot, file) = self.document(&params.text_document.uri)?;
        let (text, lines) = (snapshot.text(file), snapshot.lines(file));
        let part = (lines.offset(text, params.range.start), lines.offset(text, params.range.end));
        let mut found = findings::actions(&snapshot, file, part, &|name| self.workspace.url(name));
        found.extend(findings::fix_all(&snapshot, file, params.text_document.uri));
        if let Some(only) = &params.context.only {
            // A kind stands for all that are below it.
            let wanted = |kind: &str| only.iter().any(|only| kind == only.as_str() || below(kind, only.as_str()));
            found.retain(|action| action.kind.as_ref().is_some_and(|kind| wanted(kind.as_str())));
        }
        value(found.into_iter().map(CodeActionOrCommand::CodeAction).collect::<Vec<_>>())
    }

    fn lenses(&self, params: Value) -> Result<Value, Refusal> {
        let params: CodeLensParams = read(params)?;
        let name = self.opened(&params.text_document.uri)?;
        let Some(document) = self.workspace.document(&name) else { return Ok(Value::Null) };
        let file = parse(0, &document.text).0;
        let stem = name.rsplit('/').next().unwrap_or_default().trim_end_matches(".rw");
        let pack = file.pack.as_ref().map_or(stem, |pack| pack.node.as_str());
        let declared = declared(&file);
        let lens = |set: Option<&str>, one: &crate::symbols::Declared| {
            let (title, command, what) = match one.action? {
                Action::Run => ("Run example", RUN_EXAMPLE, one.name.clone()),
                // Rules that stand in no ruleset are in one of this name.
                Action::Verify => ("Verify", VERIFY, format!("{pack}.{}.{}", set.unwrap_or("rules"), one.name)),
            };
            let arguments = Some(vec![Value::from(params.text_document.uri.as_str()), Value::from(what)]);
            Some(CodeLens {
                range: document.lines.range(&document.text, one.at.start, one.at.end),
                command: Some(Command { title: title.into(), command: command.into(), arguments }),
                data: None,
            })
        };
        value(flat(&declared, None).into_iter().filter_map(|(set, one)| lens(set, one)).collect::<Vec<_>>())
    }

    fn hints(&self, params: Value) -> Result<Value, Refusal> {
        let params: InlayHintParams = read(params)?;
        let (_, snapshot, file) = self.document(&params.text_document.uri)?;
        let (text, lines) = (snapshot.text(file), snapshot.lines(file));
        let part = (lines.offset(text, params.range.start), lines.offset(text, params.range.end));
        value(hints::hints(&snapshot, file, part))
    }

    fn tokens(&self, params: Value) -> Result<Value, Refusal> {
        let params: SemanticTokensParams = read(params)?;
        let (_, snapshot, file) = self.document(&params.text_document.uri)?;
        let data = tokens::tokens(&snapshot, file);
        value(SemanticTokensResult::Tokens(SemanticTokens { result_id: None, data }))
    }
}

/// Is a kind of actions, `quickfix.import`, below another one, `quickfix`?
fn below(kind: &str, above: &str) -> bool {
    above.is_empty() || kind.strip_prefix(above).is_some_and(|rest| rest.starts_with('.'))
}
