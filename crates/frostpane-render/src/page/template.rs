//! A page with placeholders.

use std::io::{self, Write};

/// Writes the page with the meaning of each `{{name}}` in its place. A meaning is not searched for names.
pub fn fill(out: &mut impl Write, page: &str, mut meaning: impl FnMut(&str) -> String) -> io::Result<()> {
    let mut rest = page;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, behind)) = after.split_once("}}") else {
            break;
        };
        out.write_all(before.as_bytes())?;
        out.write_all(meaning(name).as_bytes())?;
        rest = behind;
    }
    out.write_all(rest.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_once() {
        let mut out = Vec::new();
        fill(&mut out, "a {{x}} b {{y}} c", |name| format!("[{name} {{{{x}}}}]")).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a [x {{x}}] b [y {{x}}] c");
    }
}
