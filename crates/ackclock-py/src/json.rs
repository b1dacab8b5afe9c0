//! JSON as Python's `json.dumps` writes it, byte by byte.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// The text that `json.dumps(value, indent=indent)` returns, of a value that is `depth` levels deep in a larger one.
pub fn dumps<T: Serialize>(value: &T, indent: Option<usize>, depth: usize) -> serde_json::Result<String> {
    let mut text = Vec::new();
    let style = Style { indent, depth, is_empty: true };
    value.serialize(&mut Serializer::with_formatter(&mut text, style))?;
    Ok(String::from_utf8(text).expect("the formatter writes ASCII"))
}

struct Style {
    indent: Option<usize>,
    depth: usize,
    /// Whether nothing has been written into the array or object that was opened last.
    is_empty: bool,
}

impl Style {
    fn open<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.is_empty = true;
        writer.write_all(bracket)
    }

    fn close<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if !self.is_empty {
            self.line(writer)?;
        }
        self.is_empty = false;
        writer.write_all(bracket)
    }

    fn line<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        let Some(indent) = self.indent else { return Ok(()) };
        write!(writer, "\n{:1$}", "", indent * self.depth)
    }

    fn begin<W: ?Sized + Write>(&self, writer: &mut W, is_first: bool) -> io::Result<()> {
        match (is_first, self.indent) {
            (true, _) => {}
            (false, None) => writer.write_all(b", ")?,
            (false, Some(_)) => writer.write_all(b",")?,
        }
        self.line(writer)
    }
}

impl Formatter for Style {
    /// Rust changes to exponents where Python does (below 1e-4 and from 1e16 on), with other digits in them.
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        let text = format!("{value:?}");
        let Some((digits, exponent)) = text.split_once('e') else { return writer.write_all(text.as_bytes()) };
        let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
        write!(writer, "{digits}e{sign}{exponent:0>2}")
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        if fragment.is_ascii() {
            return writer.write_all(fragment.as_bytes());
        }
        for character in fragment.chars() {
            if character.is_ascii() {
                write!(writer, "{character}")?;
                continue;
            }
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, is_first: bool) -> io::Result<()> {
        self.begin(writer, is_first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.is_empty = false;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, is_first: bool) -> io::Result<()> {
        self.begin(writer, is_first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.is_empty = false;
        Ok(())
    }
}
