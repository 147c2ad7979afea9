//! The fields of a line without quotes.

use crate::find::find;

/// Splits a line at every separator; a line without any is one field.
#[derive(Clone)]
pub struct Fields<'a> {
    rest: Option<&'a [u8]>,
    separator: u8,
}

impl<'a> Fields<'a> {
    #[inline]
    pub fn new(line: &'a [u8], separator: u8) -> Self {
        Self { rest: Some(line), separator }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let line = self.rest?;
        let end = find(self.separator, line);
        self.rest = end.map(|end| &line[end + 1..]);
        Some(&line[..end.unwrap_or(line.len())])
    }
}
