//! Typical values of a type, for functions that return at once.

use syn::{GenericArgument, PathArguments, ReturnType, Type, TypePath};

/// Replacements for the body of a function with this return type.
pub fn of_return(output: &ReturnType) -> Vec<String> {
    match output {
        ReturnType::Default => vec!["()".into()],
        ReturnType::Type(_, output) => of(output),
    }
}

fn of(of_type: &Type) -> Vec<String> {
    match of_type {
        Type::Path(path) => of_path(path),
        Type::Tuple(tuple) => tuple
            .elems
            .iter()
            .map(of)
            .reduce(pairs)
            .map_or(vec!["()".into()], |all| all.iter().map(|all| format!("({all},)")).collect()),
        Type::Reference(reference) => of_reference(reference),
        Type::Array(array) => {
            let length = crate::find::text_of(&array.len);
            of(&array.elem).iter().map(|value| format!("[{value}; {length}]")).collect()
        }
        Type::Paren(inner) => of(&inner.elem),
        _ => Vec::new(),
    }
}

/// Pairs in which each value of either side occurs.
fn pairs(first: Vec<String>, second: Vec<String>) -> Vec<String> {
    let length = first.len().max(second.len());
    let (first, second) = (first.iter().cycle(), second.iter().cycle());
    first.zip(second).take(length).map(|(first, second)| format!("{first}, {second}")).collect()
}

fn of_path(path: &TypePath) -> Vec<String> {
    let Some(last) = path.path.segments.last() else {
        return Vec::new();
    };
    let inner = match &last.arguments {
        PathArguments::AngleBracketed(arguments) => {
            arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(inner) => Some(inner),
                _ => None,
            })
        }
        _ => None,
    };
    let wrapped = |before: &str, after: &str| -> Vec<String> {
        let values = inner.map(of).unwrap_or_default();
        values.iter().map(|value| format!("{before}{value}{after}")).collect()
    };
    let with = |first: &str, mut rest: Vec<String>| {
        rest.insert(0, first.into());
        rest
    };
    let all = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    match last.ident.to_string().as_str() {
        "bool" => all(&["true", "false"]),
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => all(&["0", "1"]),
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => all(&["0", "1", "-1"]),
        "f32" | "f64" => all(&["0.0", "1.0", "-1.0"]),
        "String" => all(&["String::new()", "\"xyzzy\".into()"]),
        "Result" => wrapped("Ok(", ")"),
        "Option" => with("None", wrapped("Some(", ")")),
        "Vec" => with("Vec::new()", wrapped("vec![", "]")),
        "Box" => wrapped("Box::new(", ")"),
        "Arc" => wrapped("std::sync::Arc::new(", ")"),
        _ => all(&["Default::default()"]),
    }
}

fn of_reference(reference: &syn::TypeReference) -> Vec<String> {
    match &*reference.elem {
        Type::Path(path) if path.path.is_ident("str") => vec!["\"\"".into(), "\"xyzzy\"".into()],
        Type::Slice(slice) => {
            let values = of(&slice.elem).into_iter().map(|value| format!("Vec::leak(vec![{value}])"));
            std::iter::once("Vec::leak(Vec::new())".into()).chain(values).collect()
        }
        inner => of(inner).iter().map(|value| format!("Box::leak(Box::new({value}))")).collect(),
    }
}
