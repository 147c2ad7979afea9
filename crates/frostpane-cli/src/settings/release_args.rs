//! Options that say what to release, and the specification that they make.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use frostpane::{
    Builder, Bytes, Delta, Edge, Epsilon, Key, KeySpec, Keys, Norm, Policy, Ratio, Size, Span, Spec, Unit,
};
use frostpane_store::scratch;
use jiff::tz::TimeZone;

use super::time::TimeSettings;
use super::values::{WindowArg, duration, number};
use crate::events::read_keys;
use crate::failure::{Failure, Result};
use crate::terminal::warn;

/// Memory that the program takes beside the window: its code and its buffers.
const PROGRAM: u64 = 11_000_000;

#[derive(clap::Args, Clone)]
#[command(next_help_heading = "What to release")]
pub struct RequestArgs {
    /// A file with the specification, in TOML or, if its name ends in .json, in JSON: its fields have the
    /// names of these options, which take precedence
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,

    /// Write the specification in force, with all choices made, and do nothing else
    #[arg(long, value_name = "toml|json", num_args = 0..=1, require_equals = true, default_missing_value = "toml", value_enum)]
    pub print_spec: Option<SpecFormat>,

    /// What heavy is relative to: the number of events (l1), or the root of the sum of all squared counts
    /// (l2), which is smaller and so finds more [default: l2; compare: both]
    #[arg(long, value_enum, ignore_case = true)]
    pub norm: Option<NormArg>,

    /// A key is heavy from this share of the norm on [default: 0.05]
    #[arg(long, allow_negative_numbers = true)]
    pub alpha: Option<f64>,

    /// List the K keys with the highest counts, as far as privacy allows, instead of the heavy ones
    #[arg(long, value_name = "K", value_parser = number, conflicts_with_all = ["alpha", "norm"])]
    pub top: Option<u64>,

    /// List every key that privacy allows, instead of the heavy ones
    #[arg(long, conflicts_with_all = ["alpha", "norm", "top"])]
    pub all: bool,

    /// The privacy loss: smaller is more private, larger more accurate [default: 1]
    #[arg(long, allow_negative_numbers = true)]
    pub epsilon: Option<f64>,

    /// The chance with which the loss may be larger; declared keys need none [default: 1e-9]
    #[arg(long, allow_negative_numbers = true)]
    pub delta: Option<f64>,

    /// How far back to look: a number of events, a time such as 12h or 30d, today or yesterday; given several
    /// times, a list for each, and each costs its epsilon; watch takes one [default: 1000000]
    #[arg(long, value_name = "EVENTS|TIME")]
    pub window: Vec<WindowArg>,

    /// The step by which the window slides; it begins at a multiple of that, so it may be up to one step
    /// shorter than asked for [default: a 64th of the window, by time a 60th; of several windows, of the
    /// shortest, or less; watch: a 32nd, and the window is rounded up to whole steps]
    #[arg(long, value_name = "EVENTS|TIME")]
    pub slide: Option<Span>,

    /// Where the panes of a window end; plan says what auto chooses, and why [default: auto; fixed for files]
    #[arg(long, value_enum, ignore_case = true)]
    pub policy: Option<PolicyArg>,

    /// How long to wait for events that come late, by time [default: 0s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub lateness: Option<Duration>,

    /// The keys that may be listed, known in advance: a range of integers without its end, or a file with one
    /// a line [default: any]
    #[arg(long, value_name = "START..END|FILE", allow_hyphen_values = true)]
    pub keys: Option<KeySpec>,

    /// The most memory to take [default: 64MB]
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Size>,

    #[command(flatten)]
    pub users: UserArgs,
}

#[derive(clap::Args, Clone, Default)]
#[command(next_help_heading = "Who is protected")]
pub struct UserArgs {
    /// Protect users (see --user): count at most so many different keys of a user in an epoch; noise grows
    /// with it [default: 1]
    #[arg(long, value_name = "C", value_parser = number)]
    pub per_user: Option<u64>,

    /// Count each of these keys at most so often in an epoch; with 1 a count is a number of users, in each
    /// epoch anew [default: 1]
    #[arg(long, value_name = "M", value_parser = number)]
    pub per_key: Option<u64>,

    /// Protect all that a user does within such a time; epochs begin at its multiples by the clock, in UTC or
    /// at the fixed offset of --timezone [default: 1d]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub epoch: Option<Duration>,

    /// Count only this share of the users, chosen by a secret hash, such as 1/4
    #[arg(long, value_name = "SHARE")]
    pub sample_users: Option<Ratio>,
}

impl UserArgs {
    /// Options take precedence over the specification.
    fn apply(&self, spec: &mut Spec) {
        if let Self { per_user: None, per_key: None, epoch: None, sample_users: None } = self {
            return;
        }
        let bound = |given: Option<u64>| given.map(|given| u32::try_from(given).unwrap_or(u32::MAX));
        let mut bounds = spec.unit.bounds().unwrap_or_default();
        bounds.per_user = bound(self.per_user).unwrap_or(bounds.per_user);
        bounds.per_key = bound(self.per_key).unwrap_or(bounds.per_key);
        bounds.epoch = self.epoch.unwrap_or(bounds.epoch);
        bounds.sample_users = self.sample_users.or(bounds.sample_users);
        spec.unit = Unit::User(bounds);
    }
}

/// Options of continual release alone.
#[derive(clap::Args)]
pub struct ContinualArgs {
    /// The number of releases, any so many, over which the stated confidence holds for all statements
    /// together [default: 1000]
    #[arg(long, value_name = "RELEASES")]
    pub together: Option<u64>,
}

impl ContinualArgs {
    pub fn apply(&self, spec: &mut Spec) {
        spec.together = self.together.or(spec.together);
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SpecFormat {
    Toml,
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NormArg {
    L1,
    L2,
}

impl From<NormArg> for Norm {
    fn from(norm: NormArg) -> Self {
        match norm {
            NormArg::L1 => Norm::L1,
            NormArg::L2 => Norm::L2,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PolicyArg {
    /// Exponential for several windows, and else uniform, unless smooth is foreseen to promise clearly more
    Auto,
    /// After equal steps
    Uniform,
    /// After equal steps, and merged as they age: for windows of many lengths
    Exponential,
    /// Where the norm has grown enough, which takes a quarter of epsilon: for long windows by count
    Smooth,
    /// Where the windows begin, because their end is known before the first event: for files
    Fixed,
}

impl From<PolicyArg> for Option<Policy> {
    fn from(policy: PolicyArg) -> Self {
        match policy {
            PolicyArg::Auto => None,
            PolicyArg::Uniform => Some(Policy::Uniform),
            PolicyArg::Exponential => Some(Policy::Exponential),
            PolicyArg::Smooth => Some(Policy::Smooth),
            PolicyArg::Fixed => Some(Policy::Fixed),
        }
    }
}

#[derive(Clone)]
pub struct ReleaseRequest {
    pub spec: Spec,
    /// All windows, in the order in which they were given.
    pub windows: Vec<WindowArg>,
    /// False if the window is the default.
    pub windows_given: bool,
    print: Option<SpecFormat>,
    file: Option<PathBuf>,
}

impl RequestArgs {
    pub fn resolve(&self, continual: bool) -> Result<ReleaseRequest> {
        let file = self.spec.as_deref().map(read_spec).transpose()?;
        let from_file = file.is_some();
        let mut spec = file.unwrap_or_default();
        if spec.horizon.take().is_some() {
            warn("horizon is not used any more, because delta holds however long lists go on: leave it out");
        }
        if from_file && spec.continual != continual {
            return Err(Failure::from(if continual {
                "the specification is not of continual release: give it to `frostpane list`, or \
                 write `continual = true` into it"
            } else {
                "the specification is of continual release: give it to `frostpane watch`, or to \
                 `frostpane plan` with --watch"
            }));
        }
        spec.continual = continual;
        self.apply(&mut spec)?;
        if let Some(days) = self.window.iter().find(|window| continual && window.names_days()) {
            return Err(Failure::Message(format!(
                "the window {} has an end, but `frostpane watch` moves on: give it as a time such as 24h, or \
                 use `frostpane list`",
                days.text
            )));
        }
        let windows = match self.window[..] {
            [] => spec.windows.iter().copied().map(WindowArg::from).collect(),
            _ => self.window.clone(),
        };
        Ok(ReleaseRequest {
            spec,
            windows,
            windows_given: from_file || !self.window.is_empty(),
            print: self.print_spec,
            file: self.spec.clone(),
        })
    }

    /// Options take precedence over the specification.
    fn apply(&self, spec: &mut Spec) -> Result<()> {
        fn set<T>(field: &mut T, given: Option<T>) {
            if let Some(given) = given {
                *field = given;
            }
        }
        set(&mut spec.norm, self.norm.map(Norm::from));
        set(&mut spec.alpha, self.alpha);
        // Which keys are listed is one choice, which options replace as a whole.
        if self.top.is_some() || self.all || self.alpha.is_some() || self.norm.is_some() {
            (spec.top, spec.all) = (self.top, self.all);
        }
        set(&mut spec.epsilon, self.epsilon.map(Epsilon::new).transpose()?);
        set(&mut spec.delta, self.delta.map(Delta::new));
        set(&mut spec.policy, self.policy.map(Option::<Policy>::from));
        set(&mut spec.lateness, self.lateness);
        set(&mut spec.keys, self.keys.clone());
        set(&mut spec.memory, self.memory);
        if !self.window.is_empty() {
            spec.windows = self.window.iter().map(|window| window.span).collect();
        }
        spec.slide = self.slide.or(spec.slide);
        self.users.apply(spec);
        Ok(())
    }
}

pub enum RequestedKeys {
    Bytes(Keys<Bytes>),
    Integers(Keys<u64>),
}

/// The value of an expression for the keys of a request, which are of either type.
macro_rules! for_keys_of {
    ($request:expr, |$keys:ident| $value:expr) => {
        match $request.keys()? {
            $crate::settings::RequestedKeys::Bytes($keys) => $value,
            $crate::settings::RequestedKeys::Integers($keys) => $value,
        }
    };
}
pub(crate) use for_keys_of;

impl ReleaseRequest {
    pub fn keys(&self) -> Result<RequestedKeys> {
        Ok(match &self.spec.keys {
            KeySpec::Range(range) => RequestedKeys::Integers(Keys::range(range.clone())?),
            KeySpec::File(file) => RequestedKeys::Bytes(Keys::list(read_keys(file)?)?),
            KeySpec::List(keys) => {
                let bytes = keys.iter().map(|key| Bytes::from(key.as_bytes()));
                RequestedKeys::Bytes(Keys::list(bytes)?)
            }
            _ => RequestedKeys::Bytes(Keys::open()),
        })
    }

    /// True if panes may be fixed from the end, once that is known: no other policy was given.
    pub fn may_be_fixed(&self) -> bool {
        matches!(self.spec.policy, None | Some(Policy::Fixed))
    }

    /// The end of the windows, if a time or the days that they name say it.
    pub fn end(&self, clock: &TimeSettings) -> Result<Option<Edge>> {
        match self.spec.until {
            Some(until @ Edge::Event(_)) if clock.until.is_none() => return Ok(Some(until)),
            Some(until) if clock.until.is_none() => return self.end(&clock.clone().ending(until)),
            _ => {}
        }
        if let (Span::Events(_), Some(_)) = (self.longest(), clock.until) {
            return Err(Failure::from(
                "--until is for windows by time: give the window as a time such as 7d, and --time",
            ));
        }
        let mut end = None;
        for (index, window) in self.windows.iter().enumerate() {
            let this = clock.end_of(window)?.or(clock.until);
            if index > 0 && this != end {
                return Err(Failure::Message(format!(
                    "the windows {} and {} do not end at the same time: ask for each in a run of its own",
                    self.windows[0].text, window.text
                )));
            }
            end = this;
        }
        Ok(end.map(Edge::Instant))
    }

    /// Protects users if a column of users was given, in epochs of this clock.
    pub fn of_users(mut self, has_column: bool, clock: &TimeSettings) -> Result<Self> {
        if has_column {
            protect_users(&mut self.spec);
        }
        in_zone(&mut self.spec, &clock.timezone)?;
        Ok(self)
    }

    pub fn is_of_users(&self) -> bool {
        self.spec.unit.is_user()
    }

    /// With panes fixed from an end, which need not be known yet.
    pub fn fixed(mut self) -> Self {
        self.spec.policy = Some(Policy::Fixed);
        self
    }

    pub fn ending(mut self, end: Edge, clock: &TimeSettings) -> Result<Self> {
        if let Edge::Instant(end) = end {
            for window in &mut self.windows {
                window.span = clock.length_of(window, end)?;
            }
        }
        self.spec.until = Some(end);
        self.spec.windows = self.windows.iter().map(|window| window.span).collect();
        Ok(self)
    }

    pub fn builder<K: Key>(&self, keys: Keys<K>) -> Builder<K> {
        Builder::from_spec(self.spec.clone(), keys).program(PROGRAM).scratch(scratch)
    }

    /// Writes the specification in force, if that is all that was asked for.
    pub fn is_printed(&self) -> Result<bool> {
        let Some(format) = self.print else {
            return Ok(false);
        };
        let mut spec = for_keys_of!(self, |keys| self.builder(keys).spec()?);
        // The best choice for a single release depends on where its events come from: what was left open
        // stays open.
        if !spec.continual {
            (spec.policy, spec.slide) = (self.spec.policy, self.spec.slide);
        }
        let text = match format {
            SpecFormat::Toml => toml::to_string(&spec)?,
            SpecFormat::Json => serde_json::to_string_pretty(&spec).map_err(io::Error::from)? + "\n",
        };
        io::stdout().write_all(text.as_bytes())?;
        Ok(true)
    }

    pub fn files(&self) -> Vec<&Path> {
        let keys = match &self.spec.keys {
            KeySpec::File(file) => Some(file.as_path()),
            _ => None,
        };
        keys.into_iter().chain(self.file.as_deref()).collect()
    }

    pub fn by_clock(&self) -> bool {
        !self.longest().is_by_count()
    }

    pub fn longest(&self) -> Span {
        self.spec.longest()
    }
}

/// Refuses to protect users if nothing says whose an event is.
pub fn check_column(spec: &Spec, has_column: bool) -> Result<()> {
    if spec.unit.is_user() && !has_column {
        return Err(Failure::from(
            "users are to be protected, but nothing says whose an event is: say which column holds the user, with --user",
        ));
    }
    Ok(())
}

/// Protects users, by default with the usual bounds.
pub fn protect_users(spec: &mut Spec) {
    spec.unit = Unit::User(spec.unit.bounds().unwrap_or_default());
}

/// Begins epochs by the clock of a zone.
fn in_zone(spec: &mut Spec, zone: &TimeZone) -> Result<()> {
    let Unit::User(mut bounds) = spec.unit else {
        return Ok(());
    };
    let Ok(offset) = zone.to_fixed_offset() else {
        return Err(Failure::Message(format!(
            "--timezone {} changes its offset within a year, so that one epoch of users would be longer \
             than another: give a fixed offset such as +01:00, or none for UTC",
            zone.iana_name().unwrap_or("that was given")
        )));
    };
    // Slides of several epochs begin at midnight of the zone, too.
    let slide = match spec.slide {
        Some(Span::Clock(slide)) => slide,
        _ => Duration::ZERO,
    };
    let longest = bounds.epoch.max(slide).as_secs();
    if offset.seconds() != 0 {
        let longest = i64::try_from(longest).unwrap_or(i64::MAX).max(1);
        let behind = (-i64::from(offset.seconds())).rem_euclid(longest);
        bounds.offset = Duration::from_secs(behind.unsigned_abs());
    }
    spec.unit = Unit::User(bounds);
    Ok(())
}

fn read_spec(file: &Path) -> Result<Spec> {
    let refusal = |cause: String| {
        Failure::Message(format!("the specification {} cannot be used: {}", file.display(), cause))
    };
    let text = fs::read_to_string(file).map_err(|cause| match cause.kind() {
        io::ErrorKind::NotFound => refusal("there is no such file; --print-spec writes one".to_owned()),
        _ => refusal(cause.to_string()),
    })?;
    if file.extension().is_some_and(|end| end == "json") {
        return serde_json::from_str(&text).map_err(|cause| refusal(cause.to_string()));
    }
    toml::from_str(&text).map_err(|cause| {
        let before = cause.span().and_then(|span| text.get(..span.start));
        let line = 1 + before.map_or(0, |before| before.matches('\n').count());
        refusal(format!("line {line}: {}", cause.message()))
    })
}
