//! What JSON the types of the source become: shapes, which are objects with keys.

#![allow(clippy::wildcard_enum_match_arm)] // of the many kinds of types and items, few are written

use std::collections::{BTreeMap, BTreeSet};

use syn::{GenericArgument, PathArguments, Type};

use super::known_types::{FORMS, PLAIN, WRITTEN_BY_HAND, WRITTEN_WITH};
use super::source_types::{SourceBody, SourceField, SourceType, SourceVariant, WritingRules, types_of_the_source};
use super::spelling::{renamed_field, word, words_of};

/// The type of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueType {
    /// One that the page explains itself: `string`, `time` and so on.
    Plain(&'static str),
    /// One of some words.
    Words(WordList),
    List(Box<ValueType>),
    /// An object whose keys are names.
    Named(Box<ValueType>),
    OrNull(Box<ValueType>),
    Shape(String),
}

/// The words that a string may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordList {
    /// The name of the enumeration, where there is one.
    pub name: Option<String>,
    /// Each with its meaning, which may be empty.
    pub words: Vec<(String, String)>,
}

/// A key of a shape.
#[derive(Debug, Clone)]
pub struct ShapeKey {
    pub name: String,
    pub of: ValueType,
    pub may_be_absent: bool,
    pub meaning: String,
}

/// A key, or all keys of another shape.
#[derive(Debug, Clone)]
pub enum ShapeRow {
    Key(ShapeKey),
    AllOf { shape: String, may_be_absent: bool },
}

/// An object with known keys.
#[derive(Debug, Clone)]
pub struct Shape {
    pub meaning: String,
    pub rows: Vec<ShapeRow>,
}

/// The shapes that types become.
pub struct Shapes {
    types: BTreeMap<String, SourceType>,
    pub all: BTreeMap<String, Shape>,
    /// The type of which a shape was made, to find those that would have one name.
    made_of: BTreeMap<String, String>,
    /// What could not be told from the source, in words.
    pub troubles: BTreeSet<String>,
}

/// The name of the shape that a type becomes.
pub fn name_of(of: &str) -> String {
    of.strip_suffix("Json").unwrap_or(of).to_owned()
}

impl Shapes {
    /// No shapes yet.
    pub fn new() -> Self {
        Self { types: types_of_the_source(), all: BTreeMap::new(), made_of: BTreeMap::new(), troubles: BTreeSet::new() }
    }

    /// The types of the source.
    pub fn types(&self) -> &BTreeMap<String, SourceType> {
        &self.types
    }

    /// Adds the shape of a type, and those that it consists of.
    pub fn add(&mut self, name: &str) -> ValueType {
        let of = syn::parse_str::<Type>(name).unwrap();
        self.value_of(&of, &BTreeMap::new(), name)
    }

    /// The type of what a Rust type is written as. `given` are the parameters of the type that it stands in.
    fn value_of(&mut self, of: &Type, given: &BTreeMap<String, Type>, place: &str) -> ValueType {
        match of {
            Type::Reference(inner) => self.value_of(&inner.elem, given, place),
            Type::Paren(inner) => self.value_of(&inner.elem, given, place),
            Type::Group(inner) => self.value_of(&inner.elem, given, place),
            Type::Slice(inner) => ValueType::List(Box::new(self.value_of(&inner.elem, given, place))),
            Type::Array(inner) => ValueType::List(Box::new(self.value_of(&inner.elem, given, place))),
            Type::Path(path) => {
                let last = path.path.segments.last().unwrap();
                self.value_of_named(&last.ident.to_string(), &arguments(&last.arguments), given, place)
            }
            _ => self.trouble(format!("{place}: a type of an unknown kind")),
        }
    }

    fn trouble(&mut self, what: String) -> ValueType {
        self.troubles.insert(what);
        ValueType::Plain("any")
    }

    fn value_of_named(&mut self, name: &str, arguments: &[Type], given: &BTreeMap<String, Type>, place: &str) -> ValueType {
        if let Some(of) = given.get(name) {
            return self.value_of(&of.clone(), &BTreeMap::new(), place);
        }
        if let Some((_, plain)) = PLAIN.iter().find(|(known, _)| *known == name) {
            return ValueType::Plain(plain);
        }
        match (name, arguments) {
            ("Option", [inner]) => match self.value_of(inner, given, place) {
                ValueType::OrNull(inner) => ValueType::OrNull(inner),
                inner => ValueType::OrNull(Box::new(inner)),
            },
            ("Vec" | "VecDeque" | "BTreeSet" | "HashSet", [inner]) => {
                ValueType::List(Box::new(self.value_of(inner, given, place)))
            }
            ("BTreeMap" | "HashMap", [_, inner]) => ValueType::Named(Box::new(self.value_of(inner, given, place))),
            ("Box" | "Rc" | "Arc" | "Cow", [inner]) => self.value_of(inner, given, place),
            _ => self.value_of_ours(name, arguments, given, place),
        }
    }

    fn value_of_ours(&mut self, name: &str, arguments: &[Type], given: &BTreeMap<String, Type>, place: &str) -> ValueType {
        if let Some((_, same)) = WRITTEN_BY_HAND.iter().find(|(known, _)| *known == name) {
            return self.add(same);
        }
        let Some(of) = self.types.get(name).cloned() else { return self.trouble(format!("{place}: '{name}' is not known")) };
        let arguments = arguments.iter().map(|one| with_parameters(one, given));
        let given: BTreeMap<String, Type> = of.parameters.iter().cloned().zip(arguments).collect();
        if let SourceBody::Alias(of) = &of.body {
            return self.value_of(of, &given, name);
        }
        if !of.is_written {
            return self.trouble(format!("{place}: '{name}' ({}) does not derive Serialize", of.file));
        }
        if let Some(other) = &of.rules.into {
            return self.add(other);
        }
        match &of.body {
            SourceBody::Struct(fields) if matches!(fields.as_slice(), [SourceField { name: None, .. }]) => {
                self.value_of(&fields[0].of, &given, name)
            }
            SourceBody::Enum(variants) if variants.iter().all(|one| one.fields.is_empty()) && of.rules.tag.is_none() => {
                let words = variants.iter().map(|one| (word(one, &of.rules), one.comment.clone())).collect();
                ValueType::Words(WordList { name: Some(name_of(name)), words })
            }
            SourceBody::Enum(variants) if of.rules.is_untagged => self.one_of(variants, &given, name),
            SourceBody::Struct(_) | SourceBody::Enum(_) | SourceBody::Alias(_) => self.shape_of(name, &of, &given),
        }
    }

    /// What is written as one of several types: they have to be the same in JSON.
    fn one_of(&mut self, variants: &[SourceVariant], given: &BTreeMap<String, Type>, name: &str) -> ValueType {
        let all: Vec<ValueType> =
            variants.iter().flat_map(|one| &one.fields).map(|field| self.value_of(&field.of, given, name)).collect();
        match all.as_slice() {
            [first, others @ ..] if others.iter().all(|other| other == first) => first.clone(),
            numbers if numbers.iter().all(|one| matches!(one, ValueType::Plain("integer" | "number"))) => {
                ValueType::Plain("number")
            }
            _ => self.trouble(format!("{name}: its variants are of different types")),
        }
    }

    fn shape_of(&mut self, name: &str, of: &SourceType, given: &BTreeMap<String, Type>) -> ValueType {
        let arguments = given.values().map(|one| if let Type::Path(one) = one { one.path.get_ident() } else { None });
        let arguments = arguments.flatten().filter(|one| *one != "Value").map(|one| name_of(&one.to_string()));
        let shape = arguments.collect::<String>() + &name_of(name);
        if self.made_of.insert(shape.clone(), name.to_owned()).is_some_and(|before| before != name) {
            drop(self.trouble(format!("'{name}' and another type have the name '{shape}' in JSON")));
        }
        if !self.all.contains_key(&shape) {
            // First, in case it contains itself.
            self.all.insert(shape.clone(), Shape { meaning: of.comment.clone(), rows: Vec::new() });
            let rows = match &of.body {
                SourceBody::Struct(fields) => self.rows_of(fields, of.rules.rename_all.as_deref(), given, name),
                SourceBody::Enum(variants) => self.rows_of_variants(variants, &of.rules, given, name),
                SourceBody::Alias(_) => Vec::new(),
            };
            self.all.insert(shape.clone(), Shape { meaning: of.comment.clone(), rows });
        }
        ValueType::Shape(shape)
    }

    fn rows_of(
        &mut self,
        fields: &[SourceField],
        rename_all: Option<&str>,
        given: &BTreeMap<String, Type>,
        of: &str,
    ) -> Vec<ShapeRow> {
        let mut rows = Vec::new();
        for field in fields.iter().filter(|field| !field.rules.is_skipped) {
            let field_name = field.name.as_deref().unwrap_or_default();
            let place = format!("{of}.{field_name}");
            if field.name.is_none() {
                drop(self.trouble(format!("{place}: a field has no name")));
            }
            let mut value = match &field.rules.written_with {
                Some(function) => match WRITTEN_WITH.iter().find(|(known, _)| known == function) {
                    Some((_, same)) => self.add(same),
                    None => self.trouble(format!("{place}: written with {function}")),
                },
                None => match FORMS.iter().find(|(known, _)| *known == place) {
                    Some((_, same)) => self.add(same),
                    None => self.value_of(&field.of, given, &place),
                },
            };
            if field.rules.is_flat {
                match value {
                    ValueType::Shape(shape) => rows.push(ShapeRow::AllOf { shape, may_be_absent: false }),
                    ValueType::OrNull(inner) => match *inner {
                        ValueType::Shape(shape) => rows.push(ShapeRow::AllOf { shape, may_be_absent: true }),
                        other => drop(self.trouble(format!("{place}: {other:?} is flat"))),
                    },
                    other => drop(self.trouble(format!("{place}: {other:?} is flat"))),
                }
                continue;
            }
            let may_be_absent = field.rules.skipped_if.is_some();
            if let (Some("Option::is_none"), ValueType::OrNull(inner)) = (field.rules.skipped_if.as_deref(), &value) {
                value = (**inner).clone();
            }
            let (value, meaning) = match value {
                ValueType::Plain("string") => words_of(&field.comment, &|words| words),
                ValueType::OrNull(inner) if *inner == ValueType::Plain("string") => {
                    words_of(&field.comment, &|words| ValueType::OrNull(Box::new(words)))
                }
                value => (value, field.comment.clone()),
            };
            let name = field.rules.rename.clone().unwrap_or_else(|| renamed_field(field_name, rename_all));
            rows.push(ShapeRow::Key(ShapeKey { name, of: value, may_be_absent, meaning }));
        }
        rows
    }

    /// All keys of all variants: those that not every variant has may be absent.
    fn rows_of_variants(
        &mut self,
        variants: &[SourceVariant],
        rules: &WritingRules,
        given: &BTreeMap<String, Type>,
        of: &str,
    ) -> Vec<ShapeRow> {
        let mut keys: Vec<ShapeKey> = Vec::new();
        let words = variants.iter().map(|one| (word(one, rules), one.comment.clone())).collect();
        if let Some(tag) = &rules.tag {
            keys.push(ShapeKey {
                name: tag.clone(),
                of: ValueType::Words(WordList { name: None, words }),
                may_be_absent: false,
                meaning: String::new(),
            });
        }
        for variant in variants {
            let place = format!("{of}::{}", variant.name);
            if rules.tag.is_none() {
                match variant.fields.as_slice() {
                    [field @ SourceField { name: None, .. }] => {
                        let (name, of) = (word(variant, rules), self.value_of(&field.of, given, &place));
                        keys.push(ShapeKey { name, of, may_be_absent: true, meaning: variant.comment.clone() });
                    }
                    _ => drop(self.trouble(format!("{place}: is no type with a name"))),
                }
                continue;
            }
            let names = variant.rules.rename_all.as_deref().or(rules.rename_all_fields.as_deref());
            for row in self.rows_of(&variant.fields, names, given, &place) {
                match row {
                    ShapeRow::Key(key) if keys.iter().any(|known| known.name == key.name) => {}
                    ShapeRow::Key(key) => {
                        let has = |one: &SourceVariant| {
                            one.fields
                                .iter()
                                .any(|field| field.name.as_deref().is_some_and(|name| renamed_field(name, names) == key.name))
                        };
                        let may_be_absent = key.may_be_absent || !variants.iter().all(has);
                        keys.push(ShapeKey { may_be_absent, ..key });
                    }
                    ShapeRow::AllOf { .. } => drop(self.trouble(format!("{place}: has a flat field"))),
                }
            }
        }
        keys.into_iter().map(ShapeRow::Key).collect()
    }

    /// All keys of a shape, with those of the shapes of which it has all.
    pub fn keys(&self, shape: &str) -> Vec<ShapeKey> {
        let mut keys = Vec::new();
        for row in &self.all[shape].rows {
            match row {
                ShapeRow::Key(key) => keys.push(key.clone()),
                ShapeRow::AllOf { shape, may_be_absent } => {
                    let of_it = self.keys(shape).into_iter();
                    keys.extend(of_it.map(|key| ShapeKey { may_be_absent: key.may_be_absent || *may_be_absent, ..key }));
                }
            }
        }
        keys
    }
}

fn arguments(of: &PathArguments) -> Vec<Type> {
    let PathArguments::AngleBracketed(list) = of else { return Vec::new() };
    list.args.iter().filter_map(|one| if let GenericArgument::Type(one) = one { Some(one.clone()) } else { None }).collect()
}

/// A type in which a parameter alone is replaced.
fn with_parameters(of: &Type, given: &BTreeMap<String, Type>) -> Type {
    match of {
        Type::Path(path) => path.path.get_ident().and_then(|name| given.get(&name.to_string())).unwrap_or(of).clone(),
        Type::Reference(inner) => with_parameters(&inner.elem, given),
        _ => of.clone(),
    }
}
