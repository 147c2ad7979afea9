//! A first line that seems to name the columns: for advice alone.

use crate::fields::Fields;
use crate::schema::Delimiter;

/// Returns true if the first line has no number and as many fields as the second, which has one.
pub fn seems_header(head: &[u8], delimiter: Delimiter) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n');
    let (Some(first), Some(second)) = (lines.next(), lines.next()) else {
        return false;
    };
    let numbers = |line| Fields::new(line, delimiter.0).map(is_number);
    let (first, second): (Vec<bool>, Vec<bool>) = (numbers(first).collect(), numbers(second).collect());
    let is_named = Fields::new(head, delimiter.0).next().is_some_and(|name| !name.is_empty());
    is_named && first.len() == second.len() && !first.contains(&true) && second.contains(&true)
}

/// Also of dates and times: digits, and what stands between them.
fn is_number(field: &[u8]) -> bool {
    let field = field.trim_ascii();
    let field = field.strip_prefix(b"\"").unwrap_or(field);
    field.strip_prefix(b"-").unwrap_or(field).first().is_some_and(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_without_numbers_above_one_with_some_seems_a_header() {
        for (head, seems) in [
            ("time,user,search\n1700000000,7,snow\n", true),
            ("time,search\r\n\"2025-10-01\",snow\r\n", true),
            ("snow,rain\nrain,snow\n", false),
            ("1,snow\n2,rain\n", false),
            ("snow\n1,2\n", false),
            ("time,search", false),
            ("time,search\n", false),
            ("", false),
        ] {
            assert_eq!(seems_header(head.as_bytes(), Delimiter::COMMA), seems, "{head}");
        }
    }
}
