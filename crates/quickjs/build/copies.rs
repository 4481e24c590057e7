//! Assertions in C of what `src/sys.rs` copies: constants, lists of names, types of numbers, layouts. The C compiler checks
//! them against the patched engine.

use std::fmt::Write as _;

/// A header with a `_Static_assert` of each copy in the text of `sys.rs`.
///
/// # Errors
/// If there is a copy that nothing here knows how to check: its name.
pub(crate) fn assertions(sys: &str) -> Result<String, String> {
    let mut out = String::from("/* Made by build/copies.rs of src/sys.rs. */\n");
    for (name, kind, value) in constants(sys) {
        match kind {
            // Made of other constants.
            "JSValue" | "Self" => {}
            _ if kind.starts_with("[&str;") => classes(&mut out, name, value)?,
            _ => {
                let (known, value) = (constant(name)?, value.replace("usize::MAX", "SIZE_MAX"));
                assert(&mut out, &format!("{known} == ({value})"), name);
            }
        }
    }
    for (name, kind) in numbers(sys) {
        let in_c = declared("", kind)?;
        let in_c = in_c.trim();
        assert(&mut out, &format!("sizeof({name}) == sizeof({in_c})"), name);
        assert(&mut out, &format!("(({name})-1 > 0) == (({in_c})-1 > 0)"), name);
    }
    for (is_union, name, body) in layouts(sys) {
        layout(&mut out, is_union, name, body)?;
    }
    Ok(out)
}

fn assert(out: &mut String, fact: &str, copy: &str) {
    let _ = writeln!(out, "_Static_assert({fact}, \"sys.rs: {copy}\");");
}

/// Name, type and value of each.
fn constants(sys: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    sys.split("pub(crate) const ").skip(1).filter_map(|rest| {
        let (name, rest) = rest.split_once(": ")?;
        let (kind, rest) = rest.split_once(" = ")?;
        let (value, _) = rest.split_once(";\n")?;
        let is_name = name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit());
        is_name.then_some((name, kind, value))
    })
}

/// Name and type of each type of numbers.
fn numbers(sys: &str) -> impl Iterator<Item = (&str, &str)> {
    let types = sys.split("pub(crate) type ").skip(1);
    types.filter_map(|rest| {
        let (name, kind) = rest.split_once(";\n")?.0.split_once(" = ")?;
        kind.bytes().all(|byte| byte.is_ascii_alphanumeric()).then_some((name, kind))
    })
}

/// How the engine, or its patches, call a constant.
fn constant(name: &str) -> Result<String, String> {
    const OF_THE_ENGINE: [&str; 10] = [
        "TAG_",
        "EVAL_",
        "WRITE_OBJ_",
        "READ_OBJ_",
        "PROP_",
        "GPN_",
        "DEF_",
        "PROMISE_",
        "ATOM_",
        "STRING_LEN_",
    ];
    const OF_PATCHES: [&str; 4] = ["GROUP_", "SHALLOW", "OWN", "LINE"];
    if OF_THE_ENGINE.iter().any(|prefix| name.starts_with(prefix)) {
        Ok(format!("JS_{name}"))
    } else if OF_PATCHES.iter().any(|prefix| name.starts_with(prefix)) {
        Ok(format!("BRUNT_{name}"))
    } else if let Some(kind) = name.strip_prefix("CFUNC_") {
        Ok(format!("JS_CFUNC_{}", kind.to_lowercase()))
    } else {
        Err(format!("the constant {name}"))
    }
}

/// A list of classes whose indexes are an enum of the engine.
fn classes(out: &mut String, list: &str, value: &str) -> Result<(), String> {
    if list != "TYPED_ARRAYS" {
        return Err(format!("the list {list}"));
    }
    for (index, class) in value.split('"').skip(1).step_by(2).enumerate() {
        let kind = class.trim_end_matches("Array").replace("Clamped", "C").replace("Big", "Big_");
        let known = format!("JS_TYPED_ARRAY_{}", kind.to_uppercase());
        assert(out, &format!("{known} == {index}"), class);
    }
    Ok(())
}

/// Whether it is a union, name and fields of each struct and union that has the layout of C.
fn layouts(sys: &str) -> impl Iterator<Item = (bool, &str, &str)> {
    sys.split("#[repr(C)]\n").skip(1).filter_map(|rest| {
        let (head, rest) = rest.split_once(" {\n")?;
        let (body, _) = rest.split_once("\n}\n")?;
        let mut words = head.lines().last()?.strip_prefix("pub(crate) ")?.split(' ');
        Some((words.next()? == "union", words.next()?, body))
    })
}

fn layout(out: &mut String, is_union: bool, name: &str, body: &str) -> Result<(), String> {
    let (base, path) = known_layout(name)?;
    let known = |field: &str| match path {
        "" => field.to_owned(),
        _ => format!("{path}.{field}"),
    };
    let fields = fields(body);
    let word = if is_union { "union" } else { "struct" };
    let copy = format!("{word} brunt_copy_{name}");
    let _ = writeln!(out, "{copy} {{");
    for (field, kind) in &fields {
        let _ = writeln!(out, "    {};", declared(field, kind)?);
    }
    out.push_str("};\n");
    let (size, start) = match path {
        "" => (format!("sizeof({base})"), "0".to_owned()),
        _ => (format!("sizeof((({base} *)0)->{path})"), format!("offsetof({base}, {path})")),
    };
    assert(out, &format!("sizeof({copy}) == {size}"), name);
    for (field, _) in fields.iter().filter(|(field, _)| *field != "rest") {
        let (known, told) = (known(field), format!("{name}.{field}"));
        assert(
            out,
            &format!("offsetof({copy}, {field}) + {start} == offsetof({base}, {known})"),
            &told,
        );
        assert(
            out,
            &format!("sizeof((({copy} *)0)->{field}) == sizeof((({base} *)0)->{known})"),
            &told,
        );
    }
    Ok(())
}

/// The engine's type of this name, and where in it a part without a name is.
fn known_layout(name: &str) -> Result<(&str, &'static str), String> {
    match name {
        "DefUnion" => Ok(("JSCFunctionListEntry", "u")),
        "FuncDef" => Ok(("JSCFunctionListEntry", "u.func")),
        "GetSetDef" => Ok(("JSCFunctionListEntry", "u.getset")),
        "AliasDef" => Ok(("JSCFunctionListEntry", "u.alias")),
        "BruntTouched" => Ok(("struct BruntTouched", "")),
        _ if name.starts_with("JS") => Ok((name, "")),
        _ => Err(format!("the layout of {name}")),
    }
}

/// Name and type of each field.
fn fields(body: &str) -> Vec<(&str, String)> {
    body.split("pub(crate) ")
        .skip(1)
        .filter_map(|field| {
            let (name, kind) = field.split_once(':')?;
            let lines = kind.lines().map(str::trim).filter(|line| !line.starts_with("//"));
            let kind = lines.collect::<Vec<_>>().join(" ");
            Some((name, kind.trim().trim_end_matches(',').to_owned()))
        })
        .collect()
}

/// A field in C. All pointers are alike.
fn declared(field: &str, kind: &str) -> Result<String, String> {
    if let Some((inner, count)) = kind.strip_prefix('[').and_then(|list| list.split_once("; ")) {
        return Ok(format!("{}[{}]", declared(field, inner)?, count.trim_end_matches(']')));
    }
    let pointers = ["*const ", "*mut ", "Option<", "JSCFunction"];
    let in_c = match kind {
        _ if pointers.iter().any(|start| kind.starts_with(start)) => "void *",
        "c_int" => "int",
        "bool" => "bool",
        "f64" => "double",
        "u8" => "uint8_t",
        "i16" => "int16_t",
        "i32" => "int32_t",
        "u32" | "JSAtom" | "JSClassID" => "uint32_t",
        "i64" => "int64_t",
        "usize" => "size_t",
        "JSValueUnion" | "DefUnion" => return Ok(format!("union brunt_copy_{kind} {field}")),
        "JSValue" | "FuncDef" | "GetSetDef" | "AliasDef" => {
            return Ok(format!("struct brunt_copy_{kind} {field}"));
        }
        _ => return Err(format!("the type {kind} of the field {field}")),
    };
    Ok(format!("{in_c} {field}"))
}
