//! Finds the mutants of source files.

use std::collections::HashMap;
use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, ItemConst, Lit, Pat, Signature, Stmt, Type, UnOp};

use crate::mutant::{Genre, Site, SiteShape, SourceMutant};
use crate::workspace::{beside_root, package_of};
use crate::{operators, values};

#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Relative to `src`, after the name of the package if it is not the library's.
    pub file: String,
    pub text: String,
}

/// The mutants of some files, and their sites by file.
#[derive(Debug, Default)]
pub struct FoundMutants {
    pub mutants: Vec<SourceMutant>,
    pub sites: HashMap<String, Vec<Site>>,
}

impl SourceFile {
    /// Returns true for the root of a library crate.
    pub fn is_root(&self) -> bool {
        self.file == beside_root(&self.file, "lib.rs")
    }
}

pub fn mutants(sources: &[SourceFile]) -> syn::Result<FoundMutants> {
    let trees = sources
        .iter()
        .map(|source| Ok((source, syn::parse_file(&source.text)?)))
        .collect::<syn::Result<Vec<_>>>()?;
    let mut constants = NamedNumbers::default();
    for (source, tree) in &trees {
        constants.declared_in(source, tree);
    }
    let mut found = FoundMutants::default();
    for (source, tree) in &trees {
        let mut finder = Finder::new(source, &constants, &mut found);
        finder.visit_file(tree);
        let sites = finder.sites;
        found.sites.insert(source.file.clone(), sites);
    }
    Ok(found)
}

/// Constant numbers by package and name. Each is one mutant, active wherever it is used.
#[derive(Debug, Default)]
struct NamedNumbers {
    by_name: HashMap<(String, String), Vec<NamedNumber>>,
}

#[derive(Debug)]
struct NamedNumber {
    file: String,
    line: usize,
    text: String,
    is_float: bool,
}

impl NamedNumbers {
    fn declared_in(&mut self, source: &SourceFile, tree: &syn::File) {
        for item in &tree.items {
            let syn::Item::Const(item) = item else { continue };
            if let Some(is_float) = is_number(item) {
                let constant = NamedNumber {
                    file: source.file.clone(),
                    line: item.span().start().line,
                    text: brief(&text_of(&item.expr)),
                    is_float,
                };
                self.by_name
                    .entry((package_of(&source.file).into(), item.ident.to_string()))
                    .or_default()
                    .push(constant);
            }
        }
    }

    /// The constant that a name refers to in a file: its own, or the only one in the package.
    fn named(&self, name: &str, file: &str) -> Option<&NamedNumber> {
        let all = self.by_name.get(&(package_of(file).into(), name.into()))?;
        let own = all.iter().find(|constant| constant.file == file);
        own.or(if all.len() == 1 { all.first() } else { None })
    }
}

fn is_number(item: &ItemConst) -> Option<bool> {
    match text_of(&item.ty).as_str() {
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i32" | "i64" | "i128" => Some(false),
        "f64" => Some(true),
        _ => None,
    }
}

struct Finder<'a> {
    source: &'a SourceFile,
    constants: &'a NamedNumbers,
    found: &'a mut FoundMutants,
    sites: Vec<Site>,
    /// Enclosing modules, types and functions.
    scopes: Vec<String>,
    functions: usize,
    /// Enclosing expressions.
    around: Vec<Range<usize>>,
    /// Number of mutants by name.
    names: HashMap<String, usize>,
    /// Ids of the mutants of constants.
    numbers: HashMap<String, u32>,
}

impl<'a> Finder<'a> {
    fn new(source: &'a SourceFile, constants: &'a NamedNumbers, found: &'a mut FoundMutants) -> Self {
        let numbers = found
            .mutants
            .iter()
            .filter(|mutant| mutant.genre == Genre::Constant)
            .map(|mutant| (mutant.name.clone(), mutant.id))
            .collect();
        Self {
            source,
            constants,
            found,
            sites: Vec::new(),
            scopes: Vec::new(),
            functions: 0,
            around: Vec::new(),
            names: HashMap::new(),
            numbers,
        }
    }

    fn add(
        &mut self,
        shape: SiteShape,
        range: Range<usize>,
        genre: Genre,
        change: &str,
        replacement: String,
    ) {
        if self.functions == 0 {
            return;
        }
        let name = format!("{} {}: {change}", self.source.file, self.scopes.join("::"));
        let times = self.names.entry(name.clone()).or_default();
        *times += 1;
        let name = if *times > 1 { format!("{name} #{times}") } else { name };
        let line = 1 + self.source.text[..range.start].matches('\n').count();
        let id = self.number(self.source.file.clone(), line, genre, name);
        self.place(shape, range, id, replacement);
    }

    fn number(&mut self, file: String, line: usize, genre: Genre, name: String) -> u32 {
        let id = 1 + self.found.mutants.len() as u32;
        let mutant = SourceMutant { id, file, line, genre, name };
        self.found.mutants.push(mutant);
        id
    }

    fn place(&mut self, shape: SiteShape, range: Range<usize>, id: u32, replacement: String) {
        match self.sites.iter_mut().find(|site| site.range == range && site.shape == shape) {
            Some(site) => site.mutants.push((id, replacement)),
            None => self.sites.push(Site { range, shape, mutants: vec![(id, replacement)] }),
        }
    }

    fn expression(&mut self, of: &Expr, genre: Genre, change: &str, replacement: String) {
        self.add(SiteShape::Expression, range_of(of), genre, change, replacement);
    }

    fn function(&mut self, signature: &Signature, body: &Block) {
        self.scopes.push(signature.ident.to_string());
        self.functions += 1;
        let start = range_of(body).start + 1;
        let original = text_of(body);
        for value in values::of_return(&signature.output) {
            let same = original.trim_matches(['{', '}', ' ', '\n']) == value;
            if !same && !body.stmts.is_empty() {
                let change = format!("returns {value}");
                self.add(SiteShape::Body, start..start, Genre::Body, &change, value);
            }
        }
        visit::visit_block(self, body);
        self.functions -= 1;
        self.scopes.pop();
    }

    fn within(&mut self, scope: String, walk: impl FnOnce(&mut Self)) {
        self.scopes.push(scope);
        walk(self);
        self.scopes.pop();
    }

    /// Mutates the condition, or the parts of a chain that have no `let`.
    fn condition(&mut self, keyword: &str, condition: &Expr, values: &[&str]) {
        if contains_let(condition) {
            if let Expr::Binary(both) = condition {
                self.condition(keyword, &both.left, values);
                self.condition(keyword, &both.right, values);
            }
            return;
        }
        let text = brief(&text_of(condition));
        for value in values.iter().filter(|value| **value != text) {
            let change = format!("{keyword} {text}: always {value}");
            self.expression(condition, Genre::Condition, &change, (*value).into());
        }
    }

    fn arms(&mut self, node: &syn::ExprMatch) {
        let has_wildcard = node.arms.iter().any(|arm| matches!(arm.pat, Pat::Wild(_)) && arm.guard.is_none());
        for arm in &node.arms {
            let text = brief(&text_of(&arm.pat));
            if has_wildcard && !matches!(arm.pat, Pat::Wild(_)) {
                let (shape, range) = match &arm.guard {
                    Some((_, guard)) => (SiteShape::GuardedArm, range_of(guard)),
                    None => (SiteShape::Arm, end_of(&arm.pat)),
                };
                let guarded = arm.guard.as_ref().map(|(_, guard)| brief(&text_of(guard)));
                let guarded = guarded.map(|guard| format!(" if {guard}")).unwrap_or_default();
                self.add(shape, range, Genre::Arm, &format!("arm {text}{guarded} deleted"), String::new());
            }
            if let Some((_, guard)) = &arm.guard
                && !contains_let(guard)
            {
                for value in ["true", "false"] {
                    let change = format!("guard {}: always {value}", brief(&text_of(guard)));
                    self.expression(guard, Genre::Guard, &change, value.into());
                }
            }
        }
    }

    fn operator(&mut self, node: &syn::ExprBinary, whole: &Expr) {
        let operator = text_of(&node.op);
        let (left, right) = (text_of(&node.left), text_of(&node.right));
        for instead in operators::instead_of(&operator) {
            let change = format!("{} {operator} {}: {instead}", last_of(&left), first_of(&right));
            let replacement = if is_assignment(&node.op) {
                format!("{left} {instead} {right}")
            } else {
                format!("({left}) {instead} ({right})")
            };
            self.expression(whole, Genre::Operator, &change, replacement);
        }
    }

    fn literal(&mut self, node: &syn::ExprLit, whole: &Expr) {
        let Lit::Int(literal) = &node.lit else { return };
        let Ok(value) = literal.base10_parse::<u128>() else {
            return;
        };
        let less = format!("{}{}", value.checked_sub(1).unwrap_or(1), literal.suffix());
        let change = format!("{} in {}: {less}", text_of(literal), self.surroundings(range_of(whole)));
        self.expression(whole, Genre::Literal, &change, less);
    }

    /// The enclosing expression, shortened to the text next to the place.
    fn surroundings(&self, place: Range<usize>) -> String {
        let around = self.around.iter().rev().find(|around| **around != place);
        let around = around.cloned().unwrap_or(place.clone());
        let text = &self.source.text;
        let before = last_of(&text[around.start..place.start]);
        format!("{before}{}{}", &text[place.clone()], first_of(&text[place.end..around.end]))
    }

    fn constant(&mut self, node: &syn::ExprPath, whole: &Expr) {
        let Some(last) = node.path.segments.last() else {
            return;
        };
        let name = last.ident.to_string();
        let Some(constant) = self.constants.named(&name, &self.source.file) else {
            return;
        };
        if self.functions == 0 {
            return;
        }
        let path = text_of(node);
        let (what, replacement) = if constant.is_float {
            ("half of it", format!("{path} / 2.0"))
        } else {
            ("one less", format!("{path} - 1"))
        };
        let change = format!("{} {name}: {}, {what}", constant.file, constant.text);
        let id = self.numbers.get(&change).copied().unwrap_or_else(|| {
            self.number(constant.file.clone(), constant.line, Genre::Constant, change.clone())
        });
        self.numbers.insert(change, id);
        self.place(SiteShape::Expression, range_of(whole), id, replacement);
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        if is_compiled(&node.attrs) {
            self.within(node.ident.to_string(), |finder| visit::visit_item_mod(finder, node));
        }
    }

    fn visit_item_impl(&mut self, node: &'ast syn::ItemImpl) {
        if is_compiled(&node.attrs) {
            let of_type = without_generics(&node.self_ty);
            let scope = match &node.trait_ {
                Some((_, of_trait, _)) => format!("<{of_type} as {}>", brief(&text_of(of_trait))),
                None => of_type,
            };
            self.within(scope, |finder| visit::visit_item_impl(finder, node));
        }
    }

    fn visit_item_trait(&mut self, node: &'ast syn::ItemTrait) {
        self.within(node.ident.to_string(), |finder| visit::visit_item_trait(finder, node));
    }

    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        if is_compiled(&node.attrs) && node.sig.constness.is_none() {
            self.function(&node.sig, &node.block);
        }
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        if is_compiled(&node.attrs) && node.sig.constness.is_none() {
            self.function(&node.sig, &node.block);
        }
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        if let Some(body) = &node.default
            && is_compiled(&node.attrs)
        {
            self.function(&node.sig, body);
        }
    }

    fn visit_stmt(&mut self, node: &'ast Stmt) {
        if let Stmt::Expr(expression, Some(_)) = node
            && may_be_deleted(expression)
        {
            let change = format!("{} deleted", brief(&text_of(node)));
            self.add(SiteShape::Statement, range_of(node), Genre::Statement, &change, String::new());
        }
        visit::visit_stmt(self, node);
    }

    fn visit_expr(&mut self, node: &'ast Expr) {
        match node {
            Expr::If(node) => self.condition("if", &node.cond, &["true", "false"]),
            Expr::While(node) => self.condition("while", &node.cond, &["false"]),
            Expr::Match(node) => self.arms(node),
            Expr::Binary(binary) if !contains_let(node) => self.operator(binary, node),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_) | UnOp::Neg(_)) => {
                let change = format!("{} without its {}", brief(&text_of(node)), text_of(&unary.op));
                self.expression(node, Genre::Unary, &change, text_of(&unary.expr));
            }
            Expr::Lit(literal) => self.literal(literal, node),
            Expr::Path(path) => self.constant(path, node),
            _ => {}
        }
        self.around.push(range_of(node));
        visit::visit_expr(self, node);
        self.around.pop();
    }

    fn visit_expr_repeat(&mut self, node: &'ast syn::ExprRepeat) {
        self.visit_expr(&node.expr);
    }

    // Constants are evaluated by the compiler, so a switch cannot be inside them.
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_item_const(&mut self, _: &'ast ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_item_enum(&mut self, _: &'ast syn::ItemEnum) {}
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_pat(&mut self, _: &'ast Pat) {}
    fn visit_path(&mut self, _: &'ast syn::Path) {}
    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}
    fn visit_macro(&mut self, _: &'ast syn::Macro) {}
}

fn may_be_deleted(statement: &Expr) -> bool {
    match statement {
        Expr::Call(_) | Expr::MethodCall(_) | Expr::Assign(_) => true,
        Expr::Binary(binary) => is_assignment(&binary.op),
        Expr::Try(tried) => may_be_deleted(&tried.expr),
        _ => false,
    }
}

fn is_assignment(operator: &BinOp) -> bool {
    text_of(operator).ends_with('=')
        && !matches!(operator, BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Le(_) | BinOp::Ge(_))
}

fn contains_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(binary) => contains_let(&binary.left) || contains_let(&binary.right),
        _ => false,
    }
}

/// Returns false for tests and for code that a negative `cfg` excludes.
fn is_compiled(attributes: &[syn::Attribute]) -> bool {
    !attributes.iter().any(|attribute| {
        let text = text_of(attribute);
        text == "#[test]" || text.starts_with("#[cfg(") && (text.contains("test") || text.contains("not("))
    })
}

fn without_generics(of_type: &Type) -> String {
    let text = text_of(of_type);
    text.split('<').next().unwrap_or_default().trim_start_matches('&').to_owned()
}

fn range_of(node: &impl Spanned) -> Range<usize> {
    node.span().byte_range()
}

fn end_of(node: &impl Spanned) -> Range<usize> {
    let end = range_of(node).end;
    end..end
}

pub fn text_of(node: &impl Spanned) -> String {
    node.span().source_text().unwrap_or_default()
}

const BRIEF: usize = 60;
const NEAR: usize = 28;

/// Shortens text to one line of the length of a name.
fn brief(text: &str) -> String {
    let text = one_line(text.trim());
    match text.char_indices().nth(BRIEF) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text,
    }
}

fn first_of(text: &str) -> String {
    let text = one_line(text);
    match text.char_indices().nth(NEAR) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn last_of(text: &str) -> String {
    let text = one_line(text);
    match text.char_indices().rev().nth(NEAR - 1) {
        Some((start, _)) if start > 0 => format!("…{}", &text[start..]),
        _ => text,
    }
}

/// Replaces each run of white space, at the ends too, by one space.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if !character.is_whitespace() {
            line.push(character);
        } else if !line.ends_with(' ') {
            line.push(' ');
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> FoundMutants {
        let source = SourceFile { file: "a.rs".into(), text: text.into() };
        mutants(&[source]).unwrap()
    }

    fn names(text: &str) -> Vec<String> {
        found(text).mutants.into_iter().map(|mutant| mutant.name).collect()
    }

    #[test]
    fn every_genre_is_found() {
        let text = "
            const LEAST: u64 = 7;
            impl<T> Sum<T> {
                fn of(&mut self, x: u64) -> Option<u64> {
                    self.times += x;
                    if !self.is_open && x < LEAST {
                        return None;
                    }
                    match x {
                        1 if self.odd() => Some(-3),
                        2 => None,
                        _ => None,
                    }
                }
            }";
        let expected = [
            "a.rs Sum::of: returns None",
            "a.rs Sum::of: returns Some(0)",
            "a.rs Sum::of: returns Some(1)",
            "a.rs Sum::of: self.times += x; deleted",
            "a.rs Sum::of: self.times += x: -=",
            "a.rs Sum::of: self.times += x: *=",
            "a.rs Sum::of: if !self.is_open && x < LEAST: always true",
            "a.rs Sum::of: if !self.is_open && x < LEAST: always false",
            "a.rs Sum::of: !self.is_open && x < LEAST: ||",
            "a.rs Sum::of: !self.is_open without its !",
            "a.rs Sum::of: x < LEAST: <=",
            "a.rs Sum::of: x < LEAST: ==",
            "a.rs Sum::of: x < LEAST: >",
            "a.rs LEAST: 7, one less",
            "a.rs Sum::of: arm 1 if self.odd() deleted",
            "a.rs Sum::of: guard self.odd(): always true",
            "a.rs Sum::of: guard self.odd(): always false",
            "a.rs Sum::of: arm 2 deleted",
            "a.rs Sum::of: -3 without its -",
            "a.rs Sum::of: 3 in -3: 2",
        ];
        assert_eq!(names(text), expected);
    }

    #[test]
    fn what_is_tested_or_compiled_in_is_left_alone() {
        let text = "
            const A: [u8; 2 + 1] = [0; 3];
            #[cfg(test)] mod tests { fn f() -> u8 { 1 + 1 } }
            #[test] fn g() { h(1 + 1); }
            const fn k() -> u64 { 1 + 1 }
            fn l(x: [u8; 1 + 1]) { assert!(1 + 1 == 2); match x { 1..=2 => {} } }";
        assert_eq!(names(text), ["a.rs l: returns ()"]);
    }

    #[test]
    fn a_let_stays_in_its_chain_and_its_neighbours_are_conditions() {
        let text = "fn f() { if let Some(x) = y && x.is_odd() { } }";
        let expected = [
            "a.rs f: returns ()",
            "a.rs f: if x.is_odd(): always true",
            "a.rs f: if x.is_odd(): always false",
        ];
        assert_eq!(names(text), expected);
    }

    #[test]
    fn names_stay_when_other_lines_change_and_equals_are_numbered() {
        let before = "fn f() -> T { a + b; a + b }";
        let after = "fn g() { c - d; }\n\nfn f() -> T { c * d;\n a + b; a\n + b }";
        let (before, after) = (names(before), names(after));
        assert!(before.contains(&"a.rs f: a + b: - #2".to_owned()));
        assert!(before.iter().all(|name| after.contains(name)), "{after:?}");
    }

    #[test]
    fn a_constant_is_one_mutant_wherever_it_is_used() {
        let sources =
            [("a.rs", "pub const N: f64 = 0.5; fn f() -> T { N }"), ("b.rs", "fn g() -> T { a::N }")];
        let sources = sources.map(|(file, text)| SourceFile { file: file.into(), text: text.into() });
        let found = mutants(&sources).unwrap();
        let id = found.mutants.iter().find(|mutant| mutant.name == "a.rs N: 0.5, half of it").unwrap().id;
        let replacements = |file: &str| {
            let sites = found.sites[file].iter().flat_map(|site| &site.mutants);
            sites.filter(|mutant| mutant.0 == id).map(|mutant| mutant.1.clone()).collect::<Vec<_>>()
        };
        assert_eq!(replacements("a.rs"), ["N / 2.0"]);
        assert_eq!(replacements("b.rs"), ["a::N / 2.0"]);
    }
}
