//! The declaration of settings that are one of a few words, of which their reading follows.

/// Declares an enumeration whose values are words of the format: reading, writing and the list of what is allowed
/// all come from the one declaration.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$each:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$each])* $variant),+ }

        impl $name {
            /// The words that scenarios use, in the order of the documentation.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// Its word in scenarios.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl $crate::value::Value for $name {
            fn read(content: &$crate::tree::Content, form: $crate::keys::Form) -> Result<Self, String> {
                match <&'static str as $crate::value::Value>::read(content, form)? {
                    $($word => Ok(Self::$variant),)+
                    other => Err(format!("unknown value \"{other}\"")),
                }
            }
        }

        impl $crate::value::Shown for $name {
            fn shown(&self, form: $crate::keys::Form) -> serde_json::Value {
                match (form, self.name()) {
                    ($crate::keys::Form::FlagOrWord(_), word @ ("true" | "false")) => (word == "true").into(),
                    (_, word) => word.into(),
                }
            }
        }
    };
}

pub(crate) use words;
