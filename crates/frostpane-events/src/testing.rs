//! Events of a reader, collected.

use std::io::Read;
use std::path::Path;

use flate2::read::GzEncoder;

use crate::EventRef;
use crate::error::Result;
use crate::schema::{Column, ColumnSelection, Schema};
use crate::sink::{EventSink, ReadTally};

pub type Owned = (Option<i64>, Option<Vec<u8>>, Option<Vec<u8>>);

pub fn selection(key: &str, time: Option<&str>, user: Option<&str>) -> ColumnSelection {
    let [key, time, user] = [Some(key), time, user].map(|column| Some(Column::new(column?).unwrap()));
    Schema { key, time, user, ..Schema::default() }.selection(Path::new("")).unwrap()
}

/// The events that `read` hands over, and their numbers.
pub fn events(
    schema: &Schema,
    read: impl FnOnce(&mut EventSink<'_>) -> Result<()>,
) -> (Result<Vec<Owned>>, ReadTally) {
    let (mut tally, mut events) = (ReadTally::default(), Vec::new());
    let owned = |bytes: Option<&[u8]>| bytes.map(<[u8]>::to_vec);
    let visit = &mut |event: EventRef<'_>| {
        events.push((event.time, owned(event.key), owned(event.user)));
        Ok(())
    };
    let outcome = read(&mut EventSink { file: "events", unit: "line", schema, tally: &mut tally, visit });
    (outcome.map(|()| events), tally)
}

pub fn text(bytes: Option<Vec<u8>>) -> Option<String> {
    bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    GzEncoder::new(bytes, flate2::Compression::fast()).read_to_end(&mut packed).unwrap();
    packed
}

pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        ((mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 33) as usize % end
    }
}
