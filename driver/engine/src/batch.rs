//! Units going in: nodes as rows of constructors.

use super::EngineError;
use super::primitives::Shared;
use egglog::api::RawValues;
use egglog::{Core, EGraph, Value, Write};
use indexmap::IndexSet;
use rewright_cfg_skeleton::egraph::{EGraphInput, Head, InputId, Node};
use rewright_dsl::egglog::{EgglogProgram, REST_COLUMNS, Sort, TYPE_BITS, TableKind};
use rewright_dsl::program::Program;
use rewright_typeprop::{Ty, TypeStore};
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::sync::Arc;

/// An e-graph with units in it.
pub(super) struct Batch<'a> {
    pub(super) egraph: &'a mut EGraph,
    pub(super) program: &'a EgglogProgram,
    pub(super) shared: &'a Arc<Shared>,
    pub(super) units: &'a [&'a EGraphInput],
    pub(super) heads: Heads,
    /// Tables that have rows, or get some.
    pub(super) tables: Vec<usize>,
}

/// Units as rows, before they go in.
pub(super) struct Rows {
    units: Vec<Vec<Row>>,
    /// By unit: rows that the classes of others hold as well.
    equations: Vec<Vec<(InputId, Row)>>,
    heads: Heads,
    /// Tables that have rows then.
    pub(super) tables: BTreeSet<usize>,
}

/// Heads of rows that share a table by arity: an operation and its types, as one number.
pub(super) type Heads = IndexSet<(Head, SmallVec<[Ty; 2]>)>;

/// A column of a row.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Column {
    Int(i64),
    Node(InputId),
    /// More operands than a table has columns for.
    List(SmallVec<[InputId; 3]>),
}

/// A node as a row: its table, and its columns.
pub(super) type Row = (usize, SmallVec<[Column; 6]>);

/// The row of a node of a unit.
pub(super) fn row(
    program: &EgglogProgram,
    source: &Program,
    heads: &mut Heads,
    unit: usize,
    node: &Node<InputId>,
) -> Result<Row, EngineError> {
    let malformed = || EngineError::Run(format!("a malformed node: {node:?}"));
    let unit = (unit as i64) << TYPE_BITS;
    let typed = |ty: Option<&Ty>| ty.map(|ty| Column::Int(unit | i64::from(ty.0))).ok_or_else(malformed);
    let single = |kind| program.table(kind).ok_or_else(malformed);
    let mut columns: SmallVec<[Column; 6]> = SmallVec::new();
    let table = match node.head {
        Head::Op(op) => {
            let decl = source.universe.ops.get(op);
            let state = decl.takes_state();
            let output = if decl.gives_state() { Sort::State } else { Sort::Value };
            if node.types.len() != decl.tparams.len() || node.children.len() != decl.params.len() + usize::from(state) {
                return Err(malformed());
            }
            match program.op_tables.get(op.0 as usize).copied().flatten() {
                Some(table) => {
                    for ty in &node.types {
                        columns.push(typed(Some(ty))?);
                    }
                    if node.types.is_empty() {
                        columns.push(Column::Int(unit | i64::from(Ty::ANY.0)));
                    }
                    columns.extend(node.children.iter().map(|child| Column::Node(*child)));
                    table
                }
                None => rest(program, heads, unit, node, state, output, &mut columns).ok_or_else(malformed)?,
            }
        }
        Head::Opaque(_) => rest(program, heads, unit, node, false, Sort::Value, &mut columns).ok_or_else(malformed)?,
        Head::Const(value) => {
            columns.extend([typed(node.types.first())?, Column::Int(value)]);
            single(TableKind::Const)?
        }
        Head::Leaf(leaf) => {
            columns.extend([typed(node.types.first())?, Column::Int(leaf.0.into())]);
            single(TableKind::Leaf)?
        }
        Head::Token(token) => {
            columns.extend([Column::Int(unit), Column::Int(token.0.into())]);
            single(TableKind::Token)?
        }
        Head::Proj(position) => {
            let tuple = *node.children.first().ok_or_else(malformed)?;
            columns.extend([typed(node.types.first())?, Column::Int(position.into()), Column::Node(tuple)]);
            single(TableKind::Proj)?
        }
        Head::Copy => return Err(malformed()),
    };
    Ok((table, columns))
}

fn rest(
    program: &EgglogProgram,
    heads: &mut Heads,
    unit: i64,
    node: &Node<InputId>,
    state: bool,
    output: Sort,
    columns: &mut SmallVec<[Column; 6]>,
) -> Option<usize> {
    let (head, _) = heads.insert_full((node.head, node.types.clone()));
    columns.extend([Column::Int(unit), Column::Int(head as i64)]);
    let operands = node.children.len().checked_sub(usize::from(state))?;
    if operands > REST_COLUMNS {
        columns.push(Column::List(node.children[..operands].into()));
    } else {
        columns.extend(node.children[..operands].iter().map(|child| Column::Node(*child)));
    }
    columns.extend(node.children[operands..].iter().map(|child| Column::Node(*child)));
    program.rest_table(operands, state, output)
}

/// Types of a value's class: its node's, or the one that is known to be below that (`typed`), and all above it, for `Isa`.
pub(super) fn isa_types(source: &Program, types: &mut TypeStore, node: &Node<InputId>, typed: Option<Ty>) -> Vec<Ty> {
    if let Some(ty) = typed {
        return above(types, ty);
    }
    let ty = match node.head {
        Head::Op(op) => {
            let decl = source.universe.ops.get(op);
            if decl.gives_state() {
                return Vec::new();
            }
            decl.results.first().and_then(|ty| types.instantiate(ty, &node.types))
        }
        Head::Const(_) | Head::Leaf(_) | Head::Proj(_) | Head::Opaque(_) => node.types.first().copied(),
        Head::Token(_) | Head::Copy => None,
    };
    ty.map_or(Vec::new(), |ty| above(types, ty))
}

/// A type and all above it, bare names among them. Types that the query itself has just interned are not among them: no
/// rule knows their numbers.
fn above(types: &mut TypeStore, ty: Ty) -> Vec<Ty> {
    let known = types.interned_len() as u32;
    let mut result = Vec::new();
    let mut at = Some(ty);
    while let Some(ty) = at {
        result.push(ty);
        if let rewright_typeprop::types::TypeData::App(decl, args) = types.data(ty)
            && !args.is_empty()
        {
            let bare = rewright_typeprop::types::TypeData::App(*decl, SmallVec::new());
            result.extend(types.find_data(&bare));
        }
        at = types.supertype(ty);
    }
    result.retain(|ty| ty.0 < known);
    result.dedup();
    result
}

/// The tables of lists of operands: the empty one, and one more in front.
fn lists(program: &EgglogProgram) -> Option<(usize, usize)> {
    program.table(TableKind::Nil).zip(program.table(TableKind::Cons))
}

impl Rows {
    /// Writes units as rows.
    pub(super) fn new(program: &EgglogProgram, source: &Program, units: &[&EGraphInput]) -> Result<Self, EngineError> {
        let mut heads = Heads::new();
        let mut rows: Vec<Vec<Row>> = Vec::with_capacity(units.len());
        let mut equations: Vec<Vec<(InputId, Row)>> = Vec::with_capacity(units.len());
        for (unit, input) in units.iter().enumerate() {
            let unit_rows = input.nodes.iter().map(|node| row(program, source, &mut heads, unit, node));
            rows.push(unit_rows.collect::<Result<_, _>>()?);
            let further = input.equations.iter();
            let further = further.map(|(of, node)| Ok((*of, row(program, source, &mut heads, unit, node)?)));
            equations.push(further.collect::<Result<_, EngineError>>()?);
        }
        let further = equations.iter().flatten().map(|(_, row)| row);
        let mut tables: BTreeSet<usize> = rows.iter().flatten().chain(further).map(|(table, _)| *table).collect();
        tables.extend(lists(program).iter().flat_map(|(nil, cons)| [*nil, *cons]));
        Ok(Rows { units: rows, equations, heads, tables })
    }
}

impl<'a> Batch<'a> {
    /// Puts units into an e-graph without rows, through the API: text would overflow egglog's parser. Of which types
    /// classes are is said where rules ask it. `filled`: tables, and other symbols, that have rows or get some.
    pub(super) fn insert(
        egraph: &'a mut EGraph,
        program: &'a EgglogProgram,
        shared: &'a Arc<Shared>,
        units: &'a [&'a EGraphInput],
        rows: Rows,
        asks_types: bool,
        filled: &[usize],
    ) -> Result<Self, EngineError> {
        let lists = lists(program);
        let isa = program.isa.as_ref().filter(|_| asks_types);
        let inserted = egraph.update(|mut state| {
            let nil = match lists {
                Some((nil, _)) => Some(state.add(&program.tables[nil].name, RawValues(Vec::new()))?),
                None => None,
            };
            for (unit, (input, unit_rows)) in units.iter().zip(&rows.units).enumerate() {
                let mut values: Vec<Value> = Vec::with_capacity(input.nodes.len());
                let add = |state: &mut _, values: &[Value], (table, columns): &Row| {
                    let mut row = Vec::with_capacity(columns.len());
                    for column in columns {
                        row.push(match column {
                            Column::Int(n) => Core::base_to_value(state, *n),
                            Column::Node(child) => values[child.index()],
                            Column::List(children) => {
                                let (mut list, (_, cons)) = nil.zip(lists).expect("every program has lists");
                                for child in children.iter().rev() {
                                    let pair = RawValues(vec![values[child.index()], list]);
                                    list = Write::add(state, &program.tables[cons].name, pair)?;
                                }
                                list
                            }
                        });
                    }
                    Write::add(state, &program.tables[*table].name, RawValues(row))
                };
                for (index, (node, row)) in input.nodes.iter().zip(unit_rows).enumerate() {
                    let value = add(&mut state, &values, row)?;
                    values.push(value);
                    if let Some(isa) = isa {
                        let typed = input.typed.get(&InputId(index as u32)).copied();
                        for ty in shared.types(|types| isa_types(shared.source(), types, node, typed)) {
                            let column = state.base_to_value((unit as i64) << TYPE_BITS | i64::from(ty.0));
                            state.add(&isa.name, RawValues(vec![value, column]))?;
                        }
                    }
                }
                for (of, row) in &rows.equations[unit] {
                    let value = add(&mut state, &values, row)?;
                    state.union(values[of.index()], value)?;
                }
            }
            Ok(())
        });
        inserted.map_err(|error| EngineError::Run(error.to_string()))?;
        let tables = filled.iter().copied().filter(|symbol| *symbol < program.tables.len()).collect();
        Ok(Batch { egraph, program, shared, units, heads: rows.heads, tables })
    }
}
