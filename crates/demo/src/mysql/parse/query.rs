//! SELECT.

use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr,
    InTarget, LimitClause, OrderByKind, Query, Select as Parsed, SelectItem, SetExpr, TableFactor,
    TableWithJoins,
};

use super::{column, last, scalar};
use crate::mysql::statement::{Fact, Item, Operator, Select, Statement, Sum, Test};
use crate::mysql::trouble::Trouble;

pub(super) fn select(query: &Query) -> Result<Statement, Trouble> {
    let SetExpr::Select(parsed) = query.body.as_ref() else { return Err(Trouble::unknown(query)) };
    let is_plain = query.with.is_none()
        && query.fetch.is_none()
        && parsed.distinct.is_none()
        && parsed.having.is_none()
        && parsed.into.is_none()
        && matches!(&parsed.group_by, GroupByExpr::Expressions(all, _) if all.is_empty());
    if !is_plain {
        return Err(Trouble::unknown(query));
    }
    let Some((from, others)) = parsed.from.split_first() else {
        return parsed.projection.iter().map(fact).collect::<Result<_, _>>().map(Statement::Facts);
    };
    if !others.is_empty() {
        return Err(Trouble::unknown(query));
    }
    let (limit, offset) = match &query.limit_clause {
        None => (None, None),
        Some(LimitClause::LimitOffset { limit, offset, .. }) => {
            (limit.as_ref(), offset.as_ref().map(|offset| &offset.value))
        }
        Some(LimitClause::OffsetCommaLimit { offset, limit }) => (Some(limit), Some(offset)),
    };
    let table = table(from)?.0;
    if table.eq_ignore_ascii_case("dual") {
        return parsed.projection.iter().map(fact).collect::<Result<_, _>>().map(Statement::Facts);
    }
    Ok(Statement::Select(Select {
        table,
        items: items(parsed)?,
        tests: parsed.selection.as_ref().map(tests).transpose()?.unwrap_or_default(),
        order: order(query)?,
        limit: limit.map(scalar).transpose()?,
        offset: offset.map(scalar).transpose()?,
    }))
}

/// A table, and the name that stands for it.
pub(super) fn table(from: &TableWithJoins) -> Result<(String, Option<String>), Trouble> {
    if !from.joins.is_empty() {
        return Err(Trouble::unknown(from));
    }
    factor(&from.relation)
}

pub(super) fn factor(factor: &TableFactor) -> Result<(String, Option<String>), Trouble> {
    match factor {
        TableFactor::Table { name, alias, args: None, .. } => {
            Ok((last(name)?, alias.as_ref().map(|alias| alias.name.value.clone())))
        }
        other => Err(Trouble::unknown(other)),
    }
}

fn order(query: &Query) -> Result<Option<(String, bool)>, Trouble> {
    let Some(order) = &query.order_by else { return Ok(None) };
    let OrderByKind::Expressions(all) = &order.kind else { return Err(Trouble::unknown(order)) };
    match all.as_slice() {
        [one] => match column(&one.expr) {
            Some((_, name)) => {
                let is_down = one.options.to_string().to_uppercase().contains("DESC");
                Ok(Some((name.to_owned(), is_down)))
            }
            None => Err(Trouble::unknown(order)),
        },
        _ => Err(Trouble::unknown(order)),
    }
}

fn items(parsed: &Parsed) -> Result<Vec<Item>, Trouble> {
    let item = |item: &SelectItem| {
        let (expr, alias) = match item {
            SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..) => return Ok(Item::All),
            SelectItem::UnnamedExpr(expr) => (expr, None),
            SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias.value.clone())),
            SelectItem::ExprWithAliases { .. } => return Err(Trouble::unknown(item)),
        };
        if let Some((_, name)) = column(expr) {
            return Ok(Item::Column(name.to_owned(), alias));
        }
        let Expr::Function(function) = expr else { return Err(Trouble::unknown(expr)) };
        let sum = match function.name.to_string().to_uppercase().as_str() {
            "COUNT" => Sum::Count,
            "SUM" => Sum::Sum,
            "MIN" => Sum::Min,
            "MAX" => Sum::Max,
            _ => return Err(Trouble::unknown(expr)),
        };
        let of = match argument(function)? {
            // COUNT(*), COUNT(1)
            None | Some(FunctionArgExpr::Expr(Expr::Value(_))) if sum == Sum::Count => None,
            Some(FunctionArgExpr::Expr(of)) => {
                Some(column(of).ok_or_else(|| Trouble::unknown(expr))?.1.to_owned())
            }
            _ => return Err(Trouble::unknown(expr)),
        };
        Ok(Item::Sum(alias.unwrap_or_else(|| expr.to_string()), sum, of))
    };
    parsed.projection.iter().map(item).collect()
}

/// The one argument of a function; `None`: `*`, or nothing.
fn argument(function: &Function) -> Result<Option<&FunctionArgExpr>, Trouble> {
    let FunctionArguments::List(list) = &function.args else { return Ok(None) };
    match list.args.as_slice() {
        _ if list.duplicate_treatment.is_some() || function.over.is_some() => {
            Err(Trouble::unknown(function))
        }
        [] | [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)] => Ok(None),
        [FunctionArg::Unnamed(one)] => Ok(Some(one)),
        _ => Err(Trouble::unknown(function)),
    }
}

fn fact(item: &SelectItem) -> Result<(String, Fact), Trouble> {
    let (expr, alias) = match item {
        SelectItem::UnnamedExpr(expr) => (expr, None),
        SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias.value.clone())),
        _ => return Err(Trouble::new(1096, "HY000", "No tables used")),
    };
    let fact = match expr {
        Expr::Function(function) => match function.name.to_string().to_uppercase().as_str() {
            "SLEEP" => match argument(function)? {
                Some(FunctionArgExpr::Expr(seconds)) => Fact::Sleep(scalar(seconds)?),
                _ => return Err(Trouble::unknown(expr)),
            },
            "VERSION" => Fact::Version,
            "DATABASE" | "SCHEMA" => Fact::Database,
            "USER" | "CURRENT_USER" | "SESSION_USER" => Fact::User,
            "CONNECTION_ID" => Fact::ConnectionId,
            "LAST_INSERT_ID" => Fact::LastInsertId,
            _ => return Err(Trouble::unknown(expr)),
        },
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => {
            let name = expr.to_string();
            match name.strip_prefix("@@") {
                Some(name) => {
                    Fact::Variable(name.rsplit('.').next().unwrap_or(name).to_lowercase())
                }
                None => return Err(Trouble::no_column(&name, "field list")),
            }
        }
        _ => Fact::Value(scalar(expr)?),
    };
    Ok((alias.unwrap_or_else(|| expr.to_string()), fact))
}

/// The parts of a WHERE.
pub(super) fn tests(expr: &Expr) -> Result<Vec<Test>, Trouble> {
    let mut all = Vec::new();
    let mut todo = vec![expr];
    while let Some(expr) = todo.pop() {
        match expr {
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
                todo.extend([left, right].map(|side| &**side))
            }
            Expr::Nested(inner) => todo.push(inner),
            _ => all.push(test(expr).ok_or_else(|| Trouble::unknown(expr))??),
        }
    }
    Ok(all)
}

fn test(expr: &Expr) -> Option<Result<Test, Trouble>> {
    let name = |expr| column(expr).map(|(_, name)| name.to_owned());
    Some(match expr {
        Expr::BinaryOp { left, op, right } => {
            let (op, turned) = match op {
                BinaryOperator::Eq => (Operator::Equal, Operator::Equal),
                BinaryOperator::NotEq => (Operator::Unequal, Operator::Unequal),
                BinaryOperator::Lt => (Operator::Less, Operator::Greater),
                BinaryOperator::LtEq => (Operator::AtMost, Operator::AtLeast),
                BinaryOperator::Gt => (Operator::Greater, Operator::Less),
                BinaryOperator::GtEq => (Operator::AtLeast, Operator::AtMost),
                _ => return None,
            };
            match name(left) {
                Some(name) => scalar(right).map(|value| Test::Compare(name, op, value)),
                None => {
                    let name = name(right)?;
                    scalar(left).map(|value| Test::Compare(name, turned, value))
                }
            }
        }
        Expr::Between { expr, negated: false, low, high } => {
            let name = name(expr)?;
            scalar(low).and_then(|low| Ok(Test::Between(name, low, scalar(high)?)))
        }
        Expr::In { expr, target: InTarget::List(list), negated: false, .. } => {
            let name = name(expr)?;
            list.iter().map(scalar).collect::<Result<_, _>>().map(|all| Test::In(name, all))
        }
        Expr::IsNull(expr) => Ok(Test::IsNull(name(expr)?, true)),
        Expr::IsNotNull(expr) => Ok(Test::IsNull(name(expr)?, false)),
        _ => return None,
    })
}
