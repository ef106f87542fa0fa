//! The types of the source that serde writes: what stands in their definitions, with its comments. Two types never share a name, so a
//! name alone finds one.

#![allow(clippy::wildcard_enum_match_arm)] // of the many kinds of types and items, few are written

use std::collections::BTreeMap;

use syn::{Attribute, Expr, ExprLit, Fields, ImplItem, Item, ItemEnum, ItemStruct, Lit, LitStr, Meta, Stmt, Type};

use crate::source_paths::{is_of_tests, sources};

/// The attributes of serde that say how something is written.
#[derive(Debug, Clone, Default)]
pub struct WritingRules {
    pub rename: Option<String>,
    pub rename_all: Option<String>,
    pub rename_all_fields: Option<String>,
    pub tag: Option<String>,
    pub into: Option<String>,
    /// The function that writes it.
    pub written_with: Option<String>,
    pub skipped_if: Option<String>,
    pub is_skipped: bool,
    pub is_flat: bool,
    pub is_untagged: bool,
}

#[derive(Clone)]
pub struct SourceField {
    /// `None` in a tuple.
    pub name: Option<String>,
    pub of: Type,
    pub rules: WritingRules,
    pub comment: String,
}

#[derive(Clone)]
pub struct SourceVariant {
    pub name: String,
    pub fields: Vec<SourceField>,
    pub rules: WritingRules,
    pub comment: String,
}

#[derive(Clone)]
pub enum SourceBody {
    Struct(Vec<SourceField>),
    Enum(Vec<SourceVariant>),
    /// Another name of a type.
    Alias(Type),
}

/// The definition of a type.
#[derive(Clone)]
pub struct SourceType {
    /// The file, below `src`.
    pub file: String,
    /// Its parameters that are types.
    pub parameters: Vec<String>,
    pub rules: WritingRules,
    pub comment: String,
    pub body: SourceBody,
    pub is_written: bool,
}

/// All types of the source by name.
pub fn types_of_the_source() -> BTreeMap<String, SourceType> {
    let mut all = BTreeMap::new();
    for (path, text) in sources().into_iter().filter(|(path, _)| !is_of_tests(path)) {
        let file = syn::parse_file(&text).unwrap_or_else(|e| panic!("{path}: {e}"));
        read_items(&mut file.items.iter(), &path, &mut all);
    }
    all
}

fn read_items(items: &mut dyn Iterator<Item = &Item>, file: &str, all: &mut BTreeMap<String, SourceType>) {
    for item in items {
        match item {
            Item::Struct(one) => put(all, &one.ident, of_struct(one, file)),
            Item::Enum(one) => put(all, &one.ident, of_enum(one, file)),
            Item::Type(one) => {
                let parameters = one.generics.type_params().map(|one| one.ident.to_string()).collect();
                let body = SourceBody::Alias((*one.ty).clone());
                put(all, &one.ident, defined(file, parameters, &one.attrs, body));
            }
            Item::Mod(one) if !is_for_tests(&one.attrs) => {
                read_items(&mut one.content.iter().flat_map(|(_, items)| items), file, all);
            }
            Item::Fn(one) => read_items(&mut of_block(&one.block.stmts), file, all),
            Item::Impl(one) => {
                for inner in &one.items {
                    if let ImplItem::Fn(one) = inner {
                        read_items(&mut of_block(&one.block.stmts), file, all);
                    }
                }
            }
            _ => {}
        }
    }
}

fn of_block(statements: &[Stmt]) -> impl Iterator<Item = &Item> {
    statements.iter().filter_map(|one| if let Stmt::Item(item) = one { Some(item) } else { None })
}

/// Types that are not written may share a name with one that is, such as those within functions.
fn put(all: &mut BTreeMap<String, SourceType>, name: &syn::Ident, found: SourceType) {
    let name = name.to_string();
    match all.get(&name) {
        Some(known) if known.is_written && found.is_written => panic!("two types are called {name}"),
        Some(known) if known.is_written => {}
        Some(_) | None => drop(all.insert(name, found)),
    }
}

fn of_struct(one: &ItemStruct, file: &str) -> SourceType {
    let parameters = one.generics.type_params().map(|one| one.ident.to_string()).collect();
    defined(file, parameters, &one.attrs, SourceBody::Struct(fields(&one.fields)))
}

fn of_enum(one: &ItemEnum, file: &str) -> SourceType {
    let parameters = one.generics.type_params().map(|one| one.ident.to_string()).collect();
    let variants = one.variants.iter().map(|variant| SourceVariant {
        name: variant.ident.to_string(),
        fields: fields(&variant.fields),
        rules: rules(&variant.attrs),
        comment: comment(&variant.attrs),
    });
    let written = variants.filter(|variant| !variant.rules.is_skipped);
    defined(file, parameters, &one.attrs, SourceBody::Enum(written.collect()))
}

fn defined(file: &str, parameters: Vec<String>, attributes: &[Attribute], body: SourceBody) -> SourceType {
    SourceType {
        file: file.to_owned(),
        parameters,
        rules: rules(attributes),
        comment: comment(attributes),
        body,
        is_written: is_written(attributes),
    }
}

fn fields(all: &Fields) -> Vec<SourceField> {
    let read = |one: &syn::Field| SourceField {
        name: one.ident.as_ref().map(|name| name.to_string().trim_start_matches("r#").to_owned()),
        of: one.ty.clone(),
        rules: rules(&one.attrs),
        comment: comment(&one.attrs),
    };
    all.iter().map(read).collect()
}

/// Whether serde writes it by a derived implementation.
fn is_written(attributes: &[Attribute]) -> bool {
    let mut found = false;
    for attribute in attributes.iter().filter(|one| one.path().is_ident("derive")) {
        attribute
            .parse_nested_meta(|meta| {
                found |= meta.path.segments.last().is_some_and(|last| last.ident == "Serialize");
                Ok(())
            })
            .unwrap();
    }
    found
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|one| {
        one.path().is_ident("cfg") && matches!(&one.meta, Meta::List(list) if list.tokens.to_string().starts_with("test"))
    })
}

/// The first paragraph of a comment, on one line.
fn comment(attributes: &[Attribute]) -> String {
    let mut lines = Vec::new();
    for attribute in attributes.iter().filter(|one| one.path().is_ident("doc")) {
        if let Meta::NameValue(value) = &attribute.meta
            && let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &value.value
        {
            lines.push(text.value().trim().to_owned());
        }
    }
    lines.split(String::is_empty).next().unwrap_or_default().join(" ")
}

fn rules(attributes: &[Attribute]) -> WritingRules {
    let mut found = WritingRules::default();
    for attribute in attributes.iter().filter(|one| one.path().is_ident("serde")) {
        attribute
            .parse_nested_meta(|meta| {
                let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
                let value = if meta.input.peek(syn::Token![=]) { Some(meta.value()?.parse::<LitStr>()?.value()) } else { None };
                match name.as_str() {
                    "rename" => found.rename = value,
                    "rename_all" => found.rename_all = value,
                    "rename_all_fields" => found.rename_all_fields = value,
                    "tag" => found.tag = value,
                    "into" => found.into = value,
                    "with" | "serialize_with" => found.written_with = value,
                    "skip_serializing_if" => found.skipped_if = value,
                    "skip" | "skip_serializing" => found.is_skipped = true,
                    "flatten" => found.is_flat = true,
                    "untagged" => found.is_untagged = true,
                    // These do not change how it is written, or (transparent) say what holds for every type of one field.
                    "default"
                    | "deny_unknown_fields"
                    | "try_from"
                    | "from"
                    | "alias"
                    | "other"
                    | "bound"
                    | "borrow"
                    | "deserialize_with"
                    | "transparent" => {}
                    other => panic!("serde({other}) is not known here"),
                }
                Ok(())
            })
            .unwrap();
    }
    found
}
