//! CREATE, DROP, TRUNCATE, RENAME and ALTER TABLE.

use sqlparser::ast::{
    AlterTableOperation, CharacterLength, ColumnDef, ColumnOption, CreateTable, DataType, Expr,
    ObjectType, RenameTableNameKind, Statement as Parsed, TableConstraint,
};

use super::statement::Change;
use super::table::{COLUMNS_MAX, Column, Kind};
use super::trouble::Trouble;

/// The most characters of a text, whatever its type promises.
const TEXT_MAX: usize = 65_535;

pub(super) fn change(parsed: Parsed) -> Result<Change, Trouble> {
    use super::parse::last;
    Ok(match parsed {
        Parsed::CreateTable(create) => create_table(&create)?,
        Parsed::Drop { object_type: ObjectType::Table, if_exists, names, .. } => Change::Drop {
            names: names.iter().map(last).collect::<Result<_, _>>()?,
            is_careful: if_exists,
        },
        Parsed::Truncate(truncate) => {
            let names = truncate.table_names.iter().map(|target| last(&target.name));
            Change::Truncate(names.collect::<Result<_, _>>()?)
        }
        Parsed::RenameTable(pairs) => {
            let pairs = pairs.iter().map(|pair| Ok((last(&pair.old_name)?, last(&pair.new_name)?)));
            Change::Rename(pairs.collect::<Result<_, Trouble>>()?)
        }
        Parsed::AlterTable(alter) => {
            let table = last(&alter.name)?;
            match alter.operations.as_slice() {
                [AlterTableOperation::RenameTable { table_name }] => {
                    let (RenameTableNameKind::As(name) | RenameTableNameKind::To(name)) =
                        table_name;
                    Change::Rename(vec![(table, last(name)?)])
                }
                [AlterTableOperation::AutoIncrement { value, .. }] => {
                    let id = value.value.to_string().parse();
                    Change::Next { table, id: id.map_err(|_| Trouble::unknown(value))? }
                }
                operations => {
                    let column = |operation: &AlterTableOperation| match operation {
                        AlterTableOperation::AddColumn {
                            column_def,
                            column_position: None,
                            ..
                        } => column(column_def).map(|(column, _)| column),
                        other => Err(Trouble::unknown(other)),
                    };
                    let columns = operations.iter().map(column).collect::<Result<_, _>>()?;
                    Change::Add { table, columns }
                }
            }
        }
        other => return Err(Trouble::unknown(other)),
    })
}

fn create_table(create: &CreateTable) -> Result<Change, Trouble> {
    use super::parse::last;
    use sqlparser::ast::CreateTableLikeKind::{Parenthesized, Plain};
    let (name, is_careful) = (last(&create.name)?, create.if_not_exists);
    if let Some(Plain(like) | Parenthesized(like)) = &create.like {
        return Ok(Change::CreateLike { name, like: last(&like.name)?, is_careful });
    }
    if create.query.is_some() {
        return Err(Trouble::unknown("CREATE TABLE with SELECT"));
    }
    let mut key = None;
    let mut columns = Vec::new();
    for def in &create.columns {
        let (column, is_key) = column(def)?;
        if is_key {
            key = Some(column.name.clone());
        }
        columns.push(column);
    }
    for constraint in &create.constraints {
        match constraint {
            TableConstraint::PrimaryKey(primary) if primary.columns.len() == 1 => {
                key = Some(primary.columns[0].column.expr.to_string().replace('`', ""));
            }
            // Other indexes change nothing but speed.
            TableConstraint::Index(_) => {}
            other => return Err(Trouble::unknown(other)),
        }
    }
    if columns.len() > COLUMNS_MAX {
        return Err(Trouble::new(1117, "HY000", "Too many columns"));
    }
    let place = |name: String| {
        let is_it = |column: &Column| column.name.eq_ignore_ascii_case(&name);
        let at = columns.iter().position(is_it).ok_or_else(|| Trouble::unknown(&name))?;
        match columns[at].kind {
            Kind::Int { .. } => Ok(at),
            Kind::Text { .. } => Err(Trouble::unknown("PRIMARY KEY of a text")),
        }
    };
    let key = key.map(place).transpose()?;
    if let Some(key) = key {
        columns[key].is_nullable = false;
    }
    let is_counted = |(index, column): (usize, &Column)| column.is_counted && Some(index) != key;
    if columns.iter().enumerate().any(is_counted) {
        let text = "Incorrect table definition; there can be only one auto column and it must be defined as a key";
        return Err(Trouble::new(1075, "42000", text));
    }
    Ok(Change::Create { name, columns, key, is_careful })
}

/// A column, and whether it is the primary key.
fn column(def: &ColumnDef) -> Result<(Column, bool), Trouble> {
    let kind = kind(&def.data_type)?;
    let mut column = Column {
        name: def.name.value.clone(),
        kind,
        is_nullable: true,
        default: None,
        is_counted: false,
    };
    let mut is_key = false;
    for option in &def.options {
        match &option.option {
            ColumnOption::NotNull => column.is_nullable = false,
            ColumnOption::PrimaryKey(_) => is_key = true,
            ColumnOption::Default(Expr::Value(value)) => {
                column.default =
                    value.value.clone().into_string().map(|text| text.into_bytes().into());
                if let sqlparser::ast::Value::Number(digits, _) = &value.value {
                    column.default = Some(digits.clone().into_bytes().into());
                }
            }
            ColumnOption::Null
            | ColumnOption::CharacterSet(_)
            | ColumnOption::Collation(_)
            | ColumnOption::Comment(_) => {}
            other if other.to_string().eq_ignore_ascii_case("auto_increment") => {
                column.is_counted = true;
                column.is_nullable = false;
            }
            other => return Err(Trouble::unknown(other)),
        }
    }
    Ok((column, is_key))
}

fn kind(of: &DataType) -> Result<Kind, Trouble> {
    let text = of.to_string().to_uppercase();
    let base = text.split(['(', ' ']).next().unwrap_or_default();
    let bits = match base {
        "TINYINT" | "BOOL" | "BOOLEAN" => 8,
        "SMALLINT" => 16,
        "MEDIUMINT" => 24,
        "INT" | "INTEGER" => 32,
        "BIGINT" => 64,
        _ => {
            let most = match of {
                DataType::Varchar(Some(length)) | DataType::Char(Some(length)) => match length {
                    CharacterLength::IntegerLength { length, .. } => *length as usize,
                    CharacterLength::Max => TEXT_MAX,
                },
                DataType::Char(None) => 1,
                DataType::TinyText => 255,
                DataType::Text | DataType::MediumText | DataType::LongText => TEXT_MAX,
                _ => return Err(Trouble::unknown(format_args!("a column of the type {of}"))),
            };
            return Ok(Kind::Text { most: most.min(TEXT_MAX) });
        }
    };
    Ok(Kind::Int { bits, unsigned: text.contains("UNSIGNED") })
}
