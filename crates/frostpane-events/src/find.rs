//! Search for a byte in a line, and its fields: most are so short that a call of memchr takes longer.

const WORD: usize = 8;
const STEP: usize = 2 * WORD;

#[inline]
pub fn find(byte: u8, text: &[u8]) -> Option<usize> {
    for (index, step) in text.as_chunks::<STEP>().0.iter().enumerate() {
        if let Some(place) = within(byte, step) {
            return Some(index * STEP + place);
        }
    }
    in_tail(byte, text)
}

/// The first place of a byte, if only those after the last whole step are left to look at.
#[inline]
fn in_tail(byte: u8, text: &[u8]) -> Option<usize> {
    if let Some(last) = text.last_chunk::<STEP>() {
        within(byte, last).map(|place| text.len() - STEP + place)
    } else if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
        match (hits(byte, first), hits(byte, last)) {
            (0, 0) => None,
            (0, last) => Some(text.len() - WORD + place(last)),
            (first, _) => Some(place(first)),
        }
    } else {
        text.iter().position(|&there| there == byte)
    }
}

#[inline]
fn within(byte: u8, step: &[u8; STEP]) -> Option<usize> {
    let (words, _) = step.as_chunks();
    match (hits(byte, &words[0]), hits(byte, &words[1])) {
        (0, 0) => None,
        (0, second) => Some(WORD + place(second)),
        (first, _) => Some(place(first)),
    }
}

/// The top bit of the first byte that is the one looked for, if any is; bits above it mean nothing.
#[inline]
fn hits(byte: u8, word: &[u8; WORD]) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; WORD]);
    let different = u64::from_le_bytes(*word) ^ (u64::from(byte) * ONES);
    different.wrapping_sub(ONES) & !different & (ONES << 7)
}

#[inline]
fn place(hits: u64) -> usize {
    hits.trailing_zeros() as usize / 8
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_place_is_found_wherever_it_is() {
        for length in 0..70 {
            assert_eq!(find(b',', &vec![b'x'; length]), None);
            for first in 0..length {
                let mut text = vec![b'x'; length];
                text[first] = b',';
                assert_eq!(find(b',', &text), Some(first));
                text[first..].fill(b',');
                assert_eq!(find(b',', &text), Some(first));
            }
        }
    }
}
