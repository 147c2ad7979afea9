//! Paths to fields of a JSON object, such as `user.country`.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::schema::EventColumns;

/// The rest of the paths below some place; an empty path is that place itself.
pub type Paths<'p> = EventColumns<&'p str>;

impl Paths<'_> {
    fn is_empty(&self) -> bool {
        self.key.is_none() && self.time.is_none() && self.user.is_none()
    }

    /// Below a field. Its name may have dots itself.
    fn below(self, name: &str) -> Self {
        self.map(|path| {
            let rest = path.strip_prefix(name)?;
            if rest.is_empty() { Some(rest) } else { rest.strip_prefix('.') }
        })
    }
}

#[derive(Default)]
pub struct JsonFields<'a> {
    pub key: Option<&'a str>,
    pub time: Option<&'a str>,
    pub user: Option<&'a str>,
    /// One of them is there twice.
    pub is_twice: bool,
}

/// The values at the ends of the paths in an object, and true if all of it could be read; if not, those
/// before the place that could not. Of fields with one name the last counts for keys, and the first for times
/// and users: no key may touch those before it.
pub fn find<'a>(object: &'a [u8], paths: Paths<'_>) -> (JsonFields<'a>, bool) {
    let mut found = JsonFields::default();
    let mut json = serde_json::Deserializer::from_slice(object);
    let walk = Walk { paths, found: &mut found };
    let whole = walk.deserialize(&mut json).and_then(|()| json.end()).is_ok();
    (found, whole)
}

struct Walk<'p, 'f, 'a> {
    paths: Paths<'p>,
    found: &'f mut JsonFields<'a>,
}

impl<'a> DeserializeSeed<'a> for Walk<'_, '_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for Walk<'_, '_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(paths) = map.next_key_seed(Name(self.paths))? {
            if paths.is_empty() {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let raw = map.next_value::<&'a RawValue>()?.get();
            if paths.key == Some("") {
                self.found.is_twice |= self.found.key.replace(raw).is_some();
            }
            if paths.time == Some("") {
                self.found.is_twice |= self.found.time.is_some();
                self.found.time.get_or_insert(raw);
            }
            if paths.user == Some("") {
                self.found.is_twice |= self.found.user.is_some();
                self.found.user.get_or_insert(raw);
            }
            let paths = paths.map(|path| Some(path).filter(|path| !path.is_empty()));
            if !paths.is_empty() && raw.starts_with('{') {
                Walk { paths, found: &mut *self.found }
                    .deserialize(&mut serde_json::Deserializer::from_str(raw))
                    .map_err(A::Error::custom)?;
            }
        }
        Ok(())
    }
}

/// The name of a field. Its value is the rest of the paths below it.
struct Name<'p>(Paths<'p>);

impl<'a, 'p> DeserializeSeed<'a> for Name<'p> {
    type Value = Paths<'p>;

    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<Paths<'p>, D::Error> {
        json.deserialize_str(self)
    }
}

impl<'p> Visitor<'_> for Name<'p> {
    type Value = Paths<'p>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Paths<'p>, E> {
        Ok(self.0.below(name))
    }
}
