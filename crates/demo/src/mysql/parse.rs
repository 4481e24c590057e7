//! From the text of a statement to what it asks for. `sqlparser` reads it; the parts that the stand-in knows are taken over, any
//! other is refused by name.

use sqlparser::ast::{self, Expr, ObjectName, ObjectNamePart, Set, Value};
use sqlparser::dialect::MySqlDialect;
use sqlparser::parser::Parser;

use super::guard;
use super::schema;
use super::statement::{Scalar, Statement};
use super::trouble::Trouble;

mod query;
mod write;

/// Parentheses in one another; more are refused.
const DEPTH_MAX: usize = 25;

/// Statements, separated by `;`, and how many arguments they take.
///
/// # Errors
/// Number 1064 for whatever the stand-in does not know.
pub(crate) fn statements(sql: &str) -> Result<(Vec<Statement>, usize), Trouble> {
    let (tokens, arguments) = guard::tokens(sql)?;
    let parsed = Parser::new(&MySqlDialect {})
        .with_recursion_limit(DEPTH_MAX)
        .with_tokens_with_locations(tokens)
        .parse_statements()
        .map_err(Trouble::unknown)?;
    let all = parsed.into_iter().map(statement).collect::<Result<Vec<_>, _>>()?;
    if all.is_empty() {
        return Err(Trouble::new(1065, "42000", "Query was empty"));
    }
    Ok((all, arguments))
}

fn statement(parsed: ast::Statement) -> Result<Statement, Trouble> {
    Ok(match parsed {
        ast::Statement::Query(query) => query::select(&query)?,
        ast::Statement::Insert(insert) => Statement::Insert(write::insert(insert)?),
        ast::Statement::Update(update) => write::update(&update)?,
        ast::Statement::Delete(delete) => Statement::Delete(write::delete(&delete)?),
        ast::Statement::StartTransaction { .. } => Statement::Begin,
        ast::Statement::Commit { .. } => Statement::Commit,
        ast::Statement::Rollback { savepoint: None, .. } => Statement::Rollback,
        ast::Statement::LockTables { .. } | ast::Statement::UnlockTables => Statement::Lock,
        ast::Statement::Set(set) => set_of(&set),
        ast::Statement::Use(ast::Use::Object(name)) => Statement::Use(last(&name)?),
        ast::Statement::Kill { modifier, id } => {
            Statement::Kill(id, !matches!(modifier, Some(ast::KillType::Query)))
        }
        ast::Statement::ShowTables { .. } => Statement::ShowTables,
        other => Statement::Schema(schema::change(other)?),
    })
}

/// Of all settings only `autocommit` has an effect.
fn set_of(set: &Set) -> Statement {
    let is_on =
        |value: &Expr| !matches!(value.to_string().to_lowercase().as_str(), "0" | "off" | "false");
    let named = |name: &ObjectName| {
        let name = name.to_string().to_lowercase();
        name.trim_start_matches('@').trim_start_matches("session.") == "autocommit"
    };
    match set {
        Set::SingleAssignment { variable, values, .. } if named(variable) => {
            Statement::Autocommit(values.first().is_none_or(is_on))
        }
        Set::MultipleAssignments { assignments } => assignments
            .iter()
            .find(|one| named(&one.name))
            .map_or(Statement::Nothing, |one| Statement::Autocommit(is_on(&one.value))),
        _ => Statement::Nothing,
    }
}

/// The table or column that a name means, without its database and table.
pub(super) fn last(name: &ObjectName) -> Result<String, Trouble> {
    match name.0.last() {
        Some(ObjectNamePart::Identifier(name)) => Ok(name.value.clone()),
        _ => Err(Trouble::unknown(name)),
    }
}

/// A literal or an argument.
pub(super) fn scalar(expr: &Expr) -> Result<Scalar, Trouble> {
    let unknown = || Trouble::unknown(expr);
    Ok(match expr {
        Expr::Value(value) => match &value.value {
            Value::Null => Scalar::Null,
            Value::Boolean(value) => Scalar::Int(i64::from(*value)),
            Value::Number(digits, _) => {
                digits.parse().map_or_else(|_| Scalar::Text(digits.as_str().into()), Scalar::Int)
            }
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => {
                Scalar::Text(text.as_str().into())
            }
            Value::Placeholder(name) => {
                let number = name.strip_prefix('?').and_then(|number| number.parse().ok());
                Scalar::Argument(number.ok_or_else(unknown)?)
            }
            _ => return Err(unknown()),
        },
        Expr::UnaryOp { op, expr: inner } => match (op, scalar(inner)?) {
            (ast::UnaryOperator::Plus, value @ (Scalar::Int(_) | Scalar::Text(_))) => value,
            (ast::UnaryOperator::Minus, Scalar::Int(value)) => Scalar::Int(-value),
            (ast::UnaryOperator::Minus, Scalar::Text(digits)) => {
                Scalar::Text(format!("-{digits}").into())
            }
            _ => return Err(unknown()),
        },
        // `_utf8mb4'text'`
        Expr::Prefixed { value, .. } => scalar(value)?,
        Expr::Nested(inner) => scalar(inner)?,
        Expr::Identifier(name) if name.value.eq_ignore_ascii_case("default") => Scalar::Default,
        _ => return Err(unknown()),
    })
}

/// The column that an expression is, with the table's name before it, if it has one.
pub(super) fn column(expr: &Expr) -> Option<(Option<&str>, &str)> {
    match expr {
        Expr::Identifier(name) => Some((None, &name.value)),
        Expr::CompoundIdentifier(names) => {
            let (name, before) = names.split_last()?;
            Some((before.last().map(|table| table.value.as_str()), &name.value))
        }
        Expr::Nested(inner) => column(inner),
        _ => None,
    }
}
