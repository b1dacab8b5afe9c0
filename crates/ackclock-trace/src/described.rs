//! Types that are declared once and know their JSON schema: names, types and meanings are those of the declaration.

use serde_json::{Map, Value, json};

/// The definitions that schemas refer to, by name.
pub(crate) type Definitions = Map<String, Value>;

/// A type that is written as JSON.
pub(crate) trait Schema {
    /// The name by which others refer to it; none if its schema stands where it is used.
    const NAME: Option<&'static str> = None;

    /// Its schema; those that it refers to are added to the definitions.
    fn schema(definitions: &mut Definitions) -> Value;
}

/// The schema at a place that uses a value of type `T`.
fn used<T: Schema>(definitions: &mut Definitions) -> Value {
    let Some(name) = T::NAME else { return T::schema(definitions) };
    if !definitions.contains_key(name) {
        // Definitions stand in the order in which they are first referred to.
        definitions.insert(name.to_owned(), Value::Null);
        definitions[name] = T::schema(definitions);
    }
    json!({ "$ref": format!("#/$defs/{name}") })
}

macro_rules! plain {
    ($($kind:ty: $schema:tt,)*) => {
        $(impl Schema for $kind {
            fn schema(_: &mut Definitions) -> Value {
                json!($schema)
            }
        })*
    };
}

plain! {
    &'static str: { "type": "string" },
    String: { "type": "string" },
    u32: { "type": "integer", "format": "uint32", "minimum": 0 },
    u64: { "type": "integer", "format": "uint64", "minimum": 0 },
    f64: { "type": "number", "format": "double" },
    std::sync::Arc<Value>: {},
}

impl<T: Schema> Schema for Vec<T> {
    fn schema(definitions: &mut Definitions) -> Value {
        json!({ "type": "array", "items": used::<T>(definitions) })
    }
}

impl<T: Schema> Schema for Option<T> {
    fn schema(definitions: &mut Definitions) -> Value {
        let mut schema = used::<T>(definitions);
        if schema["type"].is_string() {
            schema["type"] = json!([schema["type"], "null"]);
            return schema;
        }
        json!({ "anyOf": [schema, { "type": "null" }] })
    }
}

/// When an object has a key.
pub(crate) enum Presence {
    Always,
    Sometimes,
    /// Never: the keys of the value stand in its place.
    Flattened,
}

/// The schema of an object, field by field.
pub(crate) struct Object<'a> {
    definitions: &'a mut Definitions,
    properties: Map<String, Value>,
    required: Vec<Value>,
}

impl<'a> Object<'a> {
    pub(crate) fn new(definitions: &'a mut Definitions) -> Self {
        Object { definitions, properties: Map::new(), required: Vec::new() }
    }

    pub(crate) fn add<T: Schema>(&mut self, name: &str, meaning: &[&str], presence: Presence) {
        if matches!(presence, Presence::Flattened) {
            let schema = T::schema(self.definitions);
            self.properties.extend(schema["properties"].as_object().cloned().unwrap_or_default());
            self.required.extend(schema["required"].as_array().cloned().unwrap_or_default());
            return;
        }
        let mut schema = used::<T>(self.definitions);
        schema["description"] = lines(meaning).into();
        self.properties.insert(name.to_owned(), schema);
        if matches!(presence, Presence::Always) {
            self.required.push(name.into());
        }
    }

    pub(crate) fn finish(self, meaning: &[&str]) -> Value {
        json!({
            "type": "object",
            "properties": self.properties,
            "required": self.required,
            "description": lines(meaning),
        })
    }
}

/// The lines of a doc comment as one text.
fn lines(comment: &[&str]) -> String {
    comment.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n")
}

/// Declares a type that serde writes, with its schema, and its columns where it is marked `rows`. Only what is written here of serde's attributes has a schema;
/// with any other the declaration does not compile.
macro_rules! described {
    (@cells $row:ident $prefix:ident $rows:ident $field:ident $kind:ty) => {
        <$kind as $crate::cells::Cell>::put($row.map(|row| &row.$field), $prefix, stringify!($field), $rows)
    };
    (@cells $row:ident $prefix:ident $rows:ident $field:ident $kind:ty, flatten) => {
        <$kind as $crate::cells::Row>::fields($row.map(|row| &row.$field), $prefix, $rows)
    };
    (@presence) => { $crate::described::Presence::Always };
    (@presence flatten) => { $crate::described::Presence::Flattened };
    (@presence skip_serializing_if) => { $crate::described::Presence::Sometimes };
    (
        rows
        $(#[doc = $meaning:literal])*
        #[derive($($derived:ident),*)]
        pub struct $name:ident {
            $(
                $(#[doc = $text:literal])*
                $(#[serde($attribute:ident $(= $function:literal)?)])?
                pub $field:ident: $kind:ty,
            )*
        }
    ) => {
        $crate::described::described! {
            $(#[doc = $meaning])*
            #[derive($($derived),*)]
            pub struct $name {
                $(
                    $(#[doc = $text])*
                    $(#[serde($attribute $(= $function)?)])?
                    pub $field: $kind,
                )*
            }
        }

        impl $crate::cells::Row for $name {
            fn fields(row: Option<&Self>, prefix: &str, rows: &mut $crate::cells::Rows) {
                $($crate::described::described!(@cells row prefix rows $field $kind $(, $attribute)?);)*
            }
        }
    };
    (
        $(#[doc = $meaning:literal])*
        #[derive($($derived:ident),*)]
        pub struct $name:ident {
            $(
                $(#[doc = $text:literal])*
                $(#[serde($attribute:ident $(= $function:literal)?)])?
                pub $field:ident: $kind:ty,
            )*
        }
    ) => {
        $(#[doc = $meaning])*
        #[derive($($derived),*)]
        pub struct $name {
            $(
                $(#[doc = $text])*
                $(#[serde($attribute $(= $function)?)])?
                pub $field: $kind,
            )*
        }

        impl $crate::described::Schema for $name {
            const NAME: Option<&'static str> = Some(stringify!($name));

            fn schema(definitions: &mut $crate::described::Definitions) -> serde_json::Value {
                let mut object = $crate::described::Object::new(definitions);
                $(
                    let presence = $crate::described::described!(@presence $($attribute)?);
                    object.add::<$kind>(stringify!($field), &[$($text),*], presence);
                )*
                object.finish(&[$($meaning),*])
            }
        }
    };
    (
        $(#[$attribute:meta])*
        pub enum $name:ident {
            $($(#[$about:meta])* $word:ident,)*
        }
    ) => {
        $(#[$attribute])*
        pub enum $name {
            $($(#[$about])* $word,)*
        }

        impl $crate::described::Schema for $name {
            fn schema(_: &mut $crate::described::Definitions) -> serde_json::Value {
                serde_json::json!({ "type": "string", "enum": [$($name::$word),*] })
            }
        }

        impl $crate::cells::Cell for $name {
            fn put(cell: Option<&Self>, prefix: &str, name: &str, rows: &mut $crate::cells::Rows) {
                let word = cell.map(|cell| match cell {
                    $($name::$word => stringify!($word).to_ascii_lowercase(),)*
                });
                <String as $crate::cells::Cell>::put(word.as_ref(), prefix, name, rows);
            }
        }
    };
}
pub(crate) use described;
