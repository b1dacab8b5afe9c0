//! Parameters of controls by name, with their domains, so that one declaration serves the constructor, the
//! scenario check, the command line, the documentation and Python.

use core::fmt;

/// A parameter's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A number.
    Number(f64),
    /// One of several words.
    Choice(&'a str),
    /// Yes or no.
    Flag(bool),
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => number.fmt(f),
            Value::Choice(word) => write!(f, "\"{word}\""),
            Value::Flag(flag) => flag.fmt(f),
        }
    }
}

/// Values that a parameter may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    /// Numbers between the two, both included.
    Number {
        /// The smallest.
        minimum: f64,
        /// The largest.
        maximum: f64,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// True or false.
    Flag,
}

impl Domain {
    /// Whether `value` lies in the domain.
    #[must_use]
    pub fn contains(&self, value: Value<'_>) -> bool {
        match (self, value) {
            (Domain::Number { minimum, maximum }, Value::Number(number)) => {
                (*minimum..=*maximum).contains(&number)
            }
            (Domain::Choice(words), Value::Choice(word)) => words.contains(&word),
            (Domain::Flag, Value::Flag(_)) => true,
            _ => false,
        }
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Domain::Number { minimum, maximum } => write!(f, "a number from {minimum} to {maximum}"),
            Domain::Choice(words) => {
                f.write_str("one of")?;
                words.iter().try_for_each(|word| write!(f, " \"{word}\""))
            }
            Domain::Flag => f.write_str("true or false"),
        }
    }
}

/// One parameter of a control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Its name in scenarios.
    pub name: &'static str,
    /// The value in the control's source.
    pub default: Value<'static>,
    /// The values that it allows.
    pub domain: Domain,
    /// Its meaning, with the unit.
    pub meaning: &'static str,
}

/// Why parameters were refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterError {
    /// The control has no parameter of that name.
    Unknown,
    /// The value lies outside the parameter's domain.
    OutsideDomain(Domain),
    /// Each is allowed, but not together.
    Together(&'static str),
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterError::Unknown => f.write_str("unknown parameter"),
            ParameterError::OutsideDomain(domain) => write!(f, "expected {domain}"),
            ParameterError::Together(rule) => f.write_str(rule),
        }
    }
}

impl core::error::Error for ParameterError {}

/// The parameters of one control. Declared with [`parameters!`](crate::parameters!).
pub trait Parameters: Copy + Default + fmt::Debug + Send + Sync + 'static {
    /// All of them, in order.
    const LIST: &'static [Parameter];

    /// The value of `name`, if there is such a parameter.
    fn get(&self, name: &str) -> Option<Value<'static>>;

    /// Sets `name` to `value`.
    ///
    /// # Errors
    /// When there is no such parameter or the value lies outside its domain; nothing is changed then.
    fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError>;

    /// Checks what single domains cannot say.
    ///
    /// # Errors
    /// [`ParameterError::Together`] with the rule that is broken.
    fn check(&self) -> Result<(), ParameterError>;
}

/// A type that a parameter's field can have.
pub trait Field: Copy {
    /// The field as a value.
    fn to_value(self) -> Value<'static>;
    /// The field that `value` stands for.
    fn from_value(value: Value<'_>) -> Option<Self>;
}

impl Field for f64 {
    fn to_value(self) -> Value<'static> {
        Value::Number(self)
    }
    fn from_value(value: Value<'_>) -> Option<Self> {
        if let Value::Number(number) = value { Some(number) } else { None }
    }
}

impl Field for bool {
    fn to_value(self) -> Value<'static> {
        Value::Flag(self)
    }
    fn from_value(value: Value<'_>) -> Option<Self> {
        if let Value::Flag(flag) = value { Some(flag) } else { None }
    }
}

/// Declares the parameters of a control: a struct with its defaults, and [`Parameters`] for it. The doc
/// comment of a field is the parameter's meaning.
///
/// ```
/// ackclock_cc::parameters! {
///     /// Parameters of an example.
///     pub struct ExampleParams {
///         /// smallest increase, packets per round trip
///         low: f64 = 1.0, Domain::Number { minimum: 0.0, maximum: 9.0 };
///         /// largest increase, packets per round trip
///         high: f64 = 2.0, Domain::Number { minimum: 0.0, maximum: 9.0 };
///     }
///     require |p| { p.low <= p.high => "low must not exceed high" }
/// }
/// use ackclock_cc::{Parameters, Value};
/// let mut example = ExampleParams::default();
/// assert!(example.set("low", Value::Number(10.0)).is_err());
/// assert!(example.set("low", Value::Number(3.0)).is_ok());
/// assert!(example.check().is_err());
/// ```
#[macro_export]
macro_rules! parameters {
    (
        $(#[$struct_attribute:meta])*
        pub struct $type:ident {
            $(
                #[doc = $meaning:literal]
                $field:ident : $field_type:ident = $default:expr, $domain:expr;
            )*
        }
        $(require |$p:ident| { $($rule:expr => $text:literal),+ $(,)? })?
    ) => {
        $(#[$struct_attribute])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $type {
            $(#[doc = $meaning] pub $field: $field_type,)*
        }

        impl Default for $type {
            fn default() -> Self {
                $type { $($field: $default,)* }
            }
        }

        impl $crate::parameters::Parameters for $type {
            const LIST: &'static [$crate::parameters::Parameter] = {
                #[allow(unused_imports)]
                use $crate::parameters::{Domain, Parameter, Value};
                &[$(Parameter {
                    name: stringify!($field),
                    default: $crate::parameters!(@value $field_type, $default),
                    domain: $domain,
                    meaning: $meaning.trim_ascii(),
                },)*]
            };

            #[allow(unused_variables)]
            fn get(&self, name: &str) -> Option<$crate::parameters::Value<'static>> {
                $(if name == stringify!($field) {
                    return Some($crate::parameters::Field::to_value(self.$field));
                })*
                None
            }

            #[allow(unused_variables, unused_mut)]
            fn set(
                &mut self,
                name: &str,
                value: $crate::parameters::Value<'_>,
            ) -> Result<(), $crate::parameters::ParameterError> {
                use $crate::parameters::{Parameter, ParameterError, Parameters};
                let parameter: &Parameter = <Self as Parameters>::LIST
                    .iter()
                    .find(|parameter| parameter.name == name)
                    .ok_or(ParameterError::Unknown)?;
                let outside = ParameterError::OutsideDomain(parameter.domain);
                if !parameter.domain.contains(value) {
                    return Err(outside);
                }
                $(if name == stringify!($field) {
                    self.$field = $crate::parameters::Field::from_value(value).ok_or(outside)?;
                })*
                Ok(())
            }

            #[allow(clippy::neg_cmp_op_on_partial_ord, reason = "NaN breaks a rule too")]
            fn check(&self) -> Result<(), $crate::parameters::ParameterError> {
                $(
                    let $p = self;
                    $(if !($rule) {
                        return Err($crate::parameters::ParameterError::Together($text));
                    })+
                )?
                Ok(())
            }
        }
    };
    (@value f64, $default:expr) => { Value::Number($default) };
    (@value bool, $default:expr) => { Value::Flag($default) };
    (@value $choice:ident, $default:expr) => { Value::Choice($default.name()) };
}

/// Declares a parameter that is one of several words: an enum whose variants are written as those words.
#[macro_export]
macro_rules! choice {
    (
        $(#[$enum_attribute:meta])*
        pub enum $type:ident { $($(#[$attribute:meta])* $variant:ident = $word:literal),+ $(,)? }
    ) => {
        $(#[$enum_attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $type { $($(#[$attribute])* $variant,)+ }

        impl $type {
            /// The words, in order.
            pub const WORDS: &'static [&'static str] = &[$($word,)+];

            /// The word for this variant.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $($type::$variant => $word,)+ }
            }
        }

        impl $crate::parameters::Field for $type {
            fn to_value(self) -> $crate::parameters::Value<'static> {
                $crate::parameters::Value::Choice(self.name())
            }
            fn from_value(value: $crate::parameters::Value<'_>) -> Option<Self> {
                match value {
                    $($crate::parameters::Value::Choice($word) => Some($type::$variant),)+
                    _ => None,
                }
            }
        }
    };
}
