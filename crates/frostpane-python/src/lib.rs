//! The Rust side of the Python package `python/frostpane`.

mod building;
mod column;
mod error;
mod events;
mod files;
mod hitters;
mod number;
mod process_guard;
mod progress;
mod rows;
mod spec;
mod store;
mod table;
mod value;
mod watch;

use frostpane::{Edge, Key, Release, Span, Spec, Stage};
use frostpane_render::OperatorSummary;
use jiff::Timestamp;
use pyo3::prelude::*;
use serde_json::json;

use error::{CallError, Result};
use spec::with_builder;

/// Parses a specification from JSON or TOML, and returns it as JSON.
#[pyfunction]
#[pyo3(signature = (text, toml=false))]
fn read_spec(text: &str, toml: bool) -> PyResult<String> {
    let spec = if toml {
        toml::from_str(text).map_err(|cause| {
            let before = cause.span().and_then(|span| text.get(..span.start));
            let line = 1 + before.map_or(0, |before| before.matches('\n').count());
            CallError::Parameter(format!(
                "the specification cannot be used: line {line}: {}",
                cause.message()
            ))
        })?
    } else {
        spec::parse(text)?
    };
    Ok(written(&spec)?)
}

#[pyfunction]
fn spec_to_toml(spec: &str) -> PyResult<String> {
    Ok(toml::to_string(&spec::parse(spec)?).map_err(|cause| CallError::Parameter(cause.to_string()))?)
}

/// Returns the specification with all choices made, as JSON.
#[pyfunction]
fn decide(py: Python<'_>, spec: &str) -> PyResult<String> {
    let spec = spec::parse(spec)?;
    Ok(py.detach(|| written(&with_builder!(&spec, builder => builder.spec()?)))?)
}

#[pyfunction]
#[pyo3(signature = (spec, events=None, norm=None))]
fn plan(py: Python<'_>, spec: &str, events: Option<u64>, norm: Option<u64>) -> PyResult<String> {
    let spec = spec::parse(spec)?;
    Ok(py.detach(|| outlook(&spec, events, norm))?)
}

fn outlook(spec: &Spec, events: Option<u64>, norm: Option<u64>) -> Result<String> {
    with_builder!(spec, builder => {
        let choice = builder.choice()?;
        let plan = builder.plan()?;
        let expected = match (plan.layout.by_count, events) {
            (true, events) => events.unwrap_or(u64::MAX).min(plan.layout.window),
            (false, Some(events)) => events,
            (false, None) => return Err(CallError::Parameter(
                "a window by time may hold any number of events: say how many to expect, with \
                 events".to_owned(),
            )),
        };
        Ok(json!({
            "plan": plan,
            "policy": { "policy": plan.layout.policy, "reason": choice.reason },
            "memory": plan.memory.total(),
            "forecast": builder.forecast(expected, norm)?,
            "cost": { "epsilon": builder.cost()?.epsilon() },
        })
        .to_string())
    })
}

#[pyfunction]
fn stages(py: Python<'_>, spec: &str) -> PyResult<String> {
    let spec = spec::parse(spec)?;
    let stages = py.detach(|| -> Result<String> {
        let stages = with_builder!(&spec, builder => builder.stages()?);
        let said = stages.into_iter().map(|Stage { what, epsilon, times, .. }| {
            json!({ "what": what, "words": what.to_string(), "epsilon": epsilon, "times": times })
        });
        written(&said.collect::<Vec<_>>())
    });
    Ok(stages?)
}

/// The least epsilon at which every key with this count is listed.
#[pyfunction]
fn epsilon_for(py: Python<'_>, spec: &str, count: u64, events: u64) -> PyResult<Option<f64>> {
    let spec = spec::parse(spec)?;
    Ok(py.detach(|| -> Result<_> {
        Ok(with_builder!(&spec, builder => builder.epsilon_for(count, events)?))
    })?)
}

#[pyfunction]
fn moment(text: &str) -> PyResult<i64> {
    Ok(spec::moment(text)?)
}

#[pyfunction]
fn moment_text(micros: i64) -> PyResult<String> {
    let moment = Timestamp::from_microsecond(micros);
    Ok(moment
        .map(|moment| moment.to_string())
        .map_err(|_| CallError::Parameter(format!("{micros} lies outside the calendar")))?)
}

/// The length of a span in events or microseconds, and whether it is a number of events.
#[pyfunction]
fn span(text: &str) -> PyResult<(u64, bool)> {
    let span: Span = text.parse().map_err(CallError::from)?;
    Ok((span.length(), span.is_by_count()))
}

/// The specification of a complete set of rows, with the given end or, of events, the latest.
#[pyfunction]
fn ended(py: Python<'_>, spec: &str, rows: &rows::EventRows) -> PyResult<String> {
    let spec = spec::parse(spec)?;
    if spec.until.is_some() || spec.unit.is_user() {
        return Ok(written(&spec)?);
    }
    let held = rows.borrow(py, &spec)?;
    let columns = held.columns(&spec)?;
    let ended = py.detach(|| -> Result<Spec> {
        match columns.time {
            None => {
                let within = spec.longest().length().min(rows.len as u64);
                spec::ending(spec, Edge::Event(rows.len as u64), within)
            }
            Some((view, kind)) => {
                let (end, within) = events::end(view, kind, spec.longest())?;
                spec::ending(spec, end, within)
            }
        }
    })?;
    Ok(written(&ended)?)
}

/// A release as JSON, and its summary as JSON.
type Made = (String, String);

/// A release of a window that was asked for, with its summary.
fn made<K: Key>(spec: &Spec, asked: Option<Span>, release: &Release<K>) -> Made {
    // Numbers, texts and no map whose keys are anything else: this does not fail.
    (serde_json::to_string(release).unwrap_or_default(), sentences(spec, asked, release))
}

fn sentences<K: Key>(spec: &Spec, asked: Option<Span>, release: &Release<K>) -> String {
    serde_json::to_string(&OperatorSummary::of(spec, asked, release)).unwrap_or_default()
}

fn written(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|cause| CallError::Parameter(cause.to_string()))
}

#[pymodule]
fn _internal(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<building::PanePlan>()?;
    module.add_class::<building::Bounder>()?;
    module.add_class::<building::PartCounter>()?;
    module.add_class::<rows::EventRows>()?;
    module.add_class::<hitters::Hitters>()?;
    module.add_class::<watch::ContinualHandle>()?;
    module.add_class::<store::StoreHandle>()?;
    module.add_class::<table::Table>()?;
    module.add_function(wrap_pyfunction!(read_spec, module)?)?;
    module.add_function(wrap_pyfunction!(spec_to_toml, module)?)?;
    module.add_function(wrap_pyfunction!(decide, module)?)?;
    module.add_function(wrap_pyfunction!(plan, module)?)?;
    module.add_function(wrap_pyfunction!(stages, module)?)?;
    module.add_function(wrap_pyfunction!(epsilon_for, module)?)?;
    module.add_function(wrap_pyfunction!(moment, module)?)?;
    module.add_function(wrap_pyfunction!(moment_text, module)?)?;
    module.add_function(wrap_pyfunction!(span, module)?)?;
    module.add_function(wrap_pyfunction!(ended, module)?)?;
    module.add_function(wrap_pyfunction!(store::read_budget, module)?)
}
