//! INSERT, UPDATE and DELETE.

use sqlparser::ast::{
    Assignment, AssignmentTarget, BinaryOperator, Delete as ParsedDelete, Expr, FromTable,
    Insert as ParsedInsert, JoinConstraint, JoinOperator, SetExpr, TableObject,
    Update as ParsedUpdate,
};

use super::query::{factor, table, tests};
use super::{column, last, scalar};
use crate::mysql::statement::{Delete, Insert, Joined, Statement, Update};
use crate::mysql::trouble::Trouble;

pub(super) fn insert(parsed: ParsedInsert) -> Result<Insert, Trouble> {
    let head = |parsed: &ParsedInsert| {
        let TableObject::TableName(table) = &parsed.table else {
            return Err(Trouble::unknown("INSERT"));
        };
        let columns = parsed.columns.iter().map(last).collect::<Result<Vec<_>, _>>()?;
        let is_plain = parsed.on.is_none()
            && !parsed.ignore
            && !parsed.replace_into
            && parsed.assignments.is_empty();
        match is_plain {
            true => Ok((last(table)?, columns)),
            false => {
                Err(Trouble::unknown("INSERT with IGNORE, ON DUPLICATE KEY or SET, or REPLACE"))
            }
        }
    };
    let (table, columns) = head(&parsed)?;
    let rows = match parsed.source.map(|query| *query.body) {
        Some(SetExpr::Values(values)) => values.rows,
        _ => return Err(Trouble::unknown("INSERT without VALUES")),
    };
    let width = rows.first().map_or(0, |row| row.content.len());
    let mut values = Vec::with_capacity(rows.len() * width);
    for (index, row) in rows.iter().enumerate() {
        if row.content.len() != width {
            return Err(mismatch(index + 1));
        }
        for value in &row.content {
            values.push(scalar(value)?);
        }
    }
    Ok(Insert { table, columns, values, rows: rows.len() })
}

/// A row has too many values, or too few.
fn mismatch(row: usize) -> Trouble {
    let text = format!("Column count doesn't match value count at row {row}");
    Trouble::new(1136, "21S01", text)
}

pub(super) fn update(parsed: &ParsedUpdate) -> Result<Statement, Trouble> {
    let is_plain = parsed.from.is_none() && parsed.order_by.is_empty() && parsed.limit.is_none();
    if !is_plain {
        return Err(Trouble::unknown(parsed));
    }
    if !parsed.table.joins.is_empty() {
        return joined(parsed).map(Statement::Joined);
    }
    let set = |one: &Assignment| Ok((target(one)?.1, scalar(&one.value)?));
    Ok(Statement::Update(Update {
        table: table(&parsed.table)?.0,
        sets: parsed.assignments.iter().map(set).collect::<Result<_, Trouble>>()?,
        tests: parsed.selection.as_ref().map(tests).transpose()?.unwrap_or_default(),
    }))
}

/// The column that is set, with the name of its table, if that is there.
fn target(assignment: &Assignment) -> Result<(Option<String>, String), Trouble> {
    let AssignmentTarget::ColumnName(name) = &assignment.target else {
        return Err(Trouble::unknown(assignment));
    };
    let before = name.0.iter().rev().nth(1).map(|part| part.to_string().replace('`', ""));
    Ok((before, last(name)?))
}

/// `UPDATE a, b SET a.x = b.y WHERE a.id = b.id`, or with `JOIN b ON a.id = b.id` or `USING (id)`.
fn joined(parsed: &ParsedUpdate) -> Result<Joined, Trouble> {
    let unknown = || Trouble::unknown(parsed);
    let [join] = parsed.table.joins.as_slice() else { return Err(unknown()) };
    let tables = [factor(&parsed.table.relation)?, factor(&join.relation)?];
    let which = |name: Option<&str>| {
        let name = name.ok_or_else(unknown)?;
        let is_it = |(table, alias): &(String, Option<String>)| {
            alias.as_deref().unwrap_or(table).eq_ignore_ascii_case(name)
        };
        tables.iter().position(is_it).ok_or_else(|| Trouble::no_table(name))
    };
    let constraint = match &join.join_operator {
        JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::CrossJoin(constraint)
        | JoinOperator::StraightJoin(constraint) => constraint,
        _ => return Err(unknown()),
    };
    let mut sets = Vec::new();
    let mut changed = None;
    for one in &parsed.assignments {
        let (table, name) = target(one)?;
        let (other, value) = column(&one.value).ok_or_else(unknown)?;
        let (to, from) = (which(table.as_deref())?, which(other)?);
        if to == from || changed.is_some_and(|changed| changed != to) {
            return Err(unknown());
        }
        changed = Some(to);
        sets.push((name, value.to_owned()));
    }
    let to = changed.ok_or_else(unknown)?;
    let on = match (constraint, &parsed.selection) {
        (JoinConstraint::Using(names), None) if names.len() == 1 => {
            let name = last(&names[0])?;
            (name.clone(), name)
        }
        (JoinConstraint::On(on), None) | (JoinConstraint::None, Some(on)) => {
            let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = on else {
                return Err(unknown());
            };
            let left = column(left).ok_or_else(unknown)?;
            let right = column(right).ok_or_else(unknown)?;
            let (first, second) = (which(left.0)?, which(right.0)?);
            let (left, right) = (left.1.to_owned(), right.1.to_owned());
            match (first == to, second == to) {
                (true, false) => (left, right),
                (false, true) => (right, left),
                _ => return Err(unknown()),
            }
        }
        _ => return Err(unknown()),
    };
    let [first, second] = tables.map(|(table, _)| table);
    let (table, from) = if to == 0 { (first, second) } else { (second, first) };
    Ok(Joined { table, from, sets, on })
}

pub(super) fn delete(parsed: &ParsedDelete) -> Result<Delete, Trouble> {
    let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &parsed.from;
    let [from] = from.as_slice() else { return Err(Trouble::unknown(parsed)) };
    let is_plain = parsed.tables.is_empty()
        && parsed.using.is_none()
        && parsed.order_by.is_empty()
        && parsed.limit.is_none();
    if !is_plain {
        return Err(Trouble::unknown(parsed));
    }
    Ok(Delete {
        table: table(from)?.0,
        tests: parsed.selection.as_ref().map(tests).transpose()?.unwrap_or_default(),
    })
}
