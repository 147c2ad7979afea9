//! Writes the mutants of a file into it, each behind a switch.

use std::collections::HashSet;
use std::iter::Peekable;
use std::ops::Range;
use std::slice::Iter;

use crate::mutant::{Site, SiteShape};

/// The source of the module `switch`.
pub fn switch(mutants: usize) -> String {
    format!("{}\nconst COUNT: usize = {};\n", include_str!("switch.rs"), mutants + 1)
}

/// A file with its mutants and their places.
#[derive(Debug, Default)]
pub struct InstrumentedFile {
    pub text: String,
    /// Byte ranges of the text with the mutants that can cause an error there.
    pub places: Vec<(Range<usize>, Vec<u32>)>,
}

impl InstrumentedFile {
    /// The mutants of the smallest place around an error.
    pub fn to_blame(&self, error: &Range<usize>) -> &[u32] {
        self.places
            .iter()
            .filter(|(place, _)| place.start <= error.start && error.end <= place.end)
            .min_by_key(|(place, _)| place.len())
            .map_or(&[], |(_, mutants)| mutants)
    }

    /// The mutants of all places within an error's range.
    pub fn within(&self, error: &Range<usize>) -> Vec<u32> {
        self.places
            .iter()
            .filter(|(place, _)| error.start <= place.start && place.end <= error.end)
            .flat_map(|(_, mutants)| mutants.iter().copied())
            .collect()
    }
}

/// Writes the mutants of these sites into the text, without those left out.
pub fn instrument(text: &str, sites: &[Site], left_out: &HashSet<u32>) -> InstrumentedFile {
    let mut sites: Vec<Site> = sites.to_vec();
    for site in &mut sites {
        site.mutants.retain(|(id, _)| !left_out.contains(id));
    }
    sites.retain(|site| !site.mutants.is_empty());
    sites.sort_by_key(|site| {
        let inserted = site.range.is_empty();
        (site.range.start, !inserted, usize::MAX - site.range.end, site.shape)
    });
    let mut writer =
        SwitchWriter { source: text, rest: sites.iter().peekable(), done: InstrumentedFile::default() };
    writer.write(0..text.len());
    writer.done
}

struct SwitchWriter<'a> {
    source: &'a str,
    rest: Peekable<Iter<'a, Site>>,
    done: InstrumentedFile,
}

impl SwitchWriter<'_> {
    fn write(&mut self, range: Range<usize>) {
        let mut from = range.start;
        while let Some(site) = self.rest.next_if(|site| site.range.end <= range.end) {
            self.push(&self.source[from..site.range.start]);
            self.write_site(site);
            from = site.range.end;
        }
        self.push(&self.source[from..range.end]);
    }

    fn write_site(&mut self, site: &Site) {
        let start = self.done.text.len();
        let ids = || site.mutants.iter().map(|(id, _)| *id);
        let (first, last) = (ids().min().unwrap_or(0), ids().max().unwrap_or(0));
        let original = match site.mutants.len() {
            count if count as u32 == last - first + 1 => format!("crate::switch::original({first}, {last})"),
            _ => {
                ids().map(|id| format!("crate::switch::original({id}, {id})")).collect::<Vec<_>>().join(" & ")
            }
        };
        match site.shape {
            SiteShape::Body => {
                self.push(&format!(" if !({original}) {{ "));
                for (id, value) in &site.mutants {
                    self.blame(vec![*id], |writer| {
                        writer.push(&format!("if crate::switch::is_alive({id}) {{ return {value}; }} "))
                    });
                }
                self.push("}");
            }
            SiteShape::Arm => self.push(&format!(" if {original}")),
            SiteShape::GuardedArm => {
                self.push(&format!("{original} && ("));
                self.write(site.range.clone());
                self.push(")");
            }
            SiteShape::Statement => {
                self.push(&format!("if {original} {{ "));
                self.write(site.range.clone());
                self.push(" }");
            }
            SiteShape::Expression => {
                self.push(&format!("(if {original} {{ "));
                self.write(site.range.clone());
                self.push(" }");
                for (id, value) in &site.mutants {
                    self.blame(vec![*id], |writer| {
                        writer.push(&format!(" else if crate::switch::is_alive({id}) {{ {value} }}"))
                    });
                }
                self.push(" else { unreachable!() })");
            }
        }
        self.done.places.push((start..self.done.text.len(), ids().collect()));
    }

    fn blame(&mut self, mutants: Vec<u32>, write: impl FnOnce(&mut Self)) {
        let start = self.done.text.len();
        write(self);
        self.done.places.push((start..self.done.text.len(), mutants));
    }

    fn push(&mut self, text: &str) {
        self.done.text.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::{SourceFile, mutants};

    fn instrumented(text: &str, left_out: &[u32]) -> InstrumentedFile {
        let found = mutants(&[SourceFile { file: "a.rs".into(), text: text.into() }]).unwrap();
        instrument(text, &found.sites["a.rs"], &left_out.iter().copied().collect())
    }

    #[test]
    fn nested_mutants_keep_the_original_within_and_the_source_without() {
        let text = "fn f() -> T { a * b + c }";
        let expected = "fn f() -> T { (if crate::switch::original(2, 3) { \
            (if crate::switch::original(4, 5) { a * b } \
            else if crate::switch::is_alive(4) { (a) + (b) } \
            else if crate::switch::is_alive(5) { (a) / (b) } else { unreachable!() }) + c } \
            else if crate::switch::is_alive(2) { (a * b) - (c) } \
            else if crate::switch::is_alive(3) { (a * b) * (c) } else { unreachable!() }) }";
        assert_eq!(instrumented(text, &[1]).text, expected);
    }

    #[test]
    fn bodies_arms_and_statements_are_switched() {
        let text = "fn f() { match x { A => {} B if c => {} _ => {} } g(); }";
        let expected = "fn f() { if !(crate::switch::original(1, 1)) { if crate::switch::is_alive(1) { return (); } } \
            match x { A if crate::switch::original(2, 2) => {} \
            B if crate::switch::original(3, 3) && (c) => {} _ => {} } \
            if crate::switch::original(6, 6) { g(); } }";
        assert_eq!(instrumented(text, &[4, 5]).text, expected);
    }

    #[test]
    fn without_mutants_nothing_changes() {
        let text = "fn f() -> u64 { 1 + x }";
        assert_eq!(instrumented(text, &[1, 2, 3, 4, 5]).text, text);
    }

    #[test]
    fn an_error_is_blamed_on_the_smallest_place_around_it() {
        let done = instrumented("fn f() -> T { a * b + c }", &[]);
        let at = |text: &str| {
            let start = done.text.find(text).unwrap();
            done.to_blame(&(start..start + text.len())).to_vec()
        };
        assert_eq!(at("(a) / (b)"), [5]);
        assert_eq!(at("a * b }"), [4, 5]);
        assert_eq!(at("+ c"), [2, 3]);
        assert!(at("fn f").is_empty());
        assert!(done.within(&(0..4)).is_empty());
        assert!(done.within(&(0..done.text.len())).contains(&5));
    }
}
