//! Hostile files: every reader ends, with events or with an error, and never panics.

use std::vec::IntoIter;

use parquet::basic::{self, BrotliLevel, Encoding};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::Result as ParquetResult;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::error::{Halt, Result};
use crate::parquet::byte_cells::ByteCells;
use crate::parquet::same::{with_cells, written};
use crate::pattern;
use crate::schema::{Format, Schema};
use crate::source::read_stream;
use crate::stream::ByteStream;
use crate::testing::{Dice, events, gzip, selection};
use crate::{Compression, Pattern};

const FORMATS: [Format; 5] = [Format::Text, Format::Csv, Format::Tsv, Format::Jsonl, Format::Parquet];

/// Reads bytes as a file of a format, by name and by position; says how many events there were.
fn read(bytes: &[u8], compression: Compression, format: Format, named: bool, multiline: bool) -> Result<u64> {
    let [key, time, user] = if named { ["key", "time", "key"] } else { ["2", "1", "3"] };
    // Files of two columns have no third.
    let user = Some(user).filter(|_| named || format != Format::Parquet);
    let stream =
        ByteStream::new(bytes, &[compression], false).map_err(|cause| Halt::from(cause.to_string()))?;
    let selection = Some(selection(key, Some(time), user)).filter(|_| format != Format::Text);
    let schema = Schema { multiline, by_clock: true, ..Schema::default() };
    let (found, tally) = events(&schema, |sink| read_stream(stream, format, selection, sink));
    found.map(|_| tally.read())
}

impl Dice {
    fn bytes(&mut self) -> Vec<u8> {
        const TELLING: &[u8] = b"\n\r\t,\"\\{}[]:.0-eZT \0\xff";
        let mostly_telling = self.below(2) == 0;
        (0..self.below(200))
            .map(|_| if mostly_telling { TELLING[self.below(TELLING.len())] } else { self.below(256) as u8 })
            .collect()
    }

    fn mutate(&mut self, file: &[u8]) -> Vec<u8> {
        let mut mutated = file.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(mutated.len().max(1)).min(mutated.len());
            match self.below(4) {
                0 => mutated.truncate(at),
                1 => mutated.extend_from_within(at..),
                2 if at < mutated.len() => mutated[at] ^= 1 << self.below(8),
                _ if at < mutated.len() => mutated[at] = self.below(256) as u8,
                _ => {}
            }
        }
        mutated
    }
}

fn parquet_file(compression: basic::Compression) -> Vec<u8> {
    let schema =
        "message events { required int64 time (TIMESTAMP(MICROS, true)); optional binary key (STRING); }";
    let properties = WriterProperties::builder().set_compression(compression);
    let times: Vec<i64> = (0..8).map(|i| 1_700_000_000_000_000 + i).collect();
    let keys: Vec<ByteArray> = ["elm", "oak", "elm", "yew"].map(ByteArray::from).to_vec();
    let file = written(schema, 2, properties, |_, index, column| match index {
        0 => column.typed::<Int64Type>().write_batch(&times, None, None),
        _ => column.typed::<ByteArrayType>().write_batch(&keys, Some(&[1, 0, 1, 0, 1, 0, 1, 0]), None),
    });
    file.into()
}

fn valid_files() -> Vec<(Format, Compression, Vec<u8>, u64)> {
    let json = "{\"time\": \"2026-01-31T12:00:00Z\", \"more\": [{}, 1.5], \"key\": \"\\ud800 elm\"}\n";
    let csv = "time,key\n1700000000,\"a \"\"b\"\"\nc\"\n1700000001,\n";
    let tsv = "time\tkey\n1700000000\telm\n1700000001.5\t\n";
    let (none, csv, tsv) = (Compression::None, csv.as_bytes(), tsv.as_bytes());
    vec![
        (Format::Text, none, b"elm\n\noak".to_vec(), 3),
        (Format::Csv, none, csv.into(), 2),
        (Format::Tsv, none, tsv.into(), 2),
        (Format::Jsonl, none, json.repeat(3).into(), 3),
        (Format::Parquet, none, parquet_file(basic::Compression::UNCOMPRESSED), 16),
        (Format::Parquet, none, parquet_file(basic::Compression::SNAPPY), 16),
        (Format::Parquet, none, parquet_file(basic::Compression::LZ4), 16),
        (Format::Parquet, none, parquet_file(basic::Compression::LZ4_RAW), 16),
        (Format::Parquet, none, parquet_file(basic::Compression::BROTLI(BrotliLevel::default())), 16),
        (Format::Csv, Compression::Gzip, gzip(csv), 2),
        (Format::Tsv, Compression::Zstd, zstd::encode_all(tsv, 1).unwrap(), 2),
    ]
}

#[test]
fn random_bytes_end_every_reader_without_panic() {
    let mut dice = Dice(1);
    for _ in 0..4_000 {
        let (start, compression, end): (&[u8], _, &[u8]) = match dice.below(6) {
            0 => (b"PAR1", Compression::None, b""),
            1 => (b"\x1F\x8B\x08", Compression::Gzip, b""),
            2 => (b"\x28\xB5\x2F\xFD", Compression::Zstd, b""),
            3 => (b"", Compression::None, b"\x10\0\0\0PAR1"),
            _ => (b"", Compression::None, b""),
        };
        let bytes = [start, &dice.bytes(), end].concat();
        for format in FORMATS {
            let _ = read(&bytes, compression, format, dice.below(2) == 0, dice.below(2) == 0);
        }
    }
}

#[test]
fn damaged_files_end_every_reader_without_panic() {
    let mut dice = Dice(2);
    for (format, compression, file, events) in valid_files() {
        assert_eq!(read(&file, compression, format, true, true).unwrap(), events, "{format:?}");
        for _ in 0..2_000 {
            let damaged = dice.mutate(&file);
            let _ = read(&damaged, compression, format, dice.below(2) == 0, dice.below(2) == 0);
        }
    }
}

/// Lines are cut at their ends and nowhere else, so a reader that knows the format never refuses them, whether
/// a pattern matches them or not.
#[test]
fn random_lines_are_as_many_events_in_every_format_and_by_a_pattern() {
    let mut dice = Dice(4);
    let pattern: Pattern = r"(?<time>\d+)[^,]*,?(?<key>.*)".parse().unwrap();
    let selection = selection("key", Some("time"), Some("key"));
    let schema = Schema { by_clock: true, show_input: true, ..Schema::default() };
    for _ in 0..4_000 {
        let bytes = [dice.bytes(), b"\n".to_vec()].concat();
        let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
        for format in [Format::Text, Format::Csv, Format::Tsv, Format::Jsonl] {
            let read = read(&bytes, Compression::None, format, false, false).unwrap();
            assert_eq!(read, lines, "{format:?}: {bytes:?}");
        }
        let (found, tally) =
            events(&schema, |sink| pattern::read(&mut bytes.as_slice(), &pattern, &selection, sink));
        found.unwrap();
        assert_eq!(tally.read(), lines, "{bytes:?}");
    }
}

const ROWS: i64 = 300;

struct Pages(IntoIter<Page>);

impl Iterator for Pages {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        Ok(self.0.next())
    }

    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        Ok(None)
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        Ok(())
    }
}

/// Pages of both versions, with a dictionary that is soon full, and with nulls.
fn pages(version: WriterVersion, schema: &str) -> Vec<Page> {
    let nullable = schema.contains("optional");
    let cell = |row: usize| (!nullable || row % 50 != 7).then(|| vec![row as u8; row % 90]);
    let cells = (0..ROWS as usize).map(cell).collect();
    let properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_encoding(Encoding::PLAIN)
        .set_dictionary_page_size_limit(400)
        .set_data_page_row_count_limit(60)
        .set_write_batch_size(20);
    let file = SerializedFileReader::new(with_cells(schema, &[cells], properties)).unwrap();
    file.get_row_group(0).unwrap().get_column_page_reader(0).unwrap().map(|page| page.unwrap()).collect()
}

/// Damages what a page holds, what it says about it, or where it stands.
fn damage(dice: &mut Dice, pages: &mut [Page]) {
    let index = dice.below(pages.len());
    let (other, wrong) = (pages[dice.below(pages.len())].clone(), dice.below(400) as u32);
    match (dice.below(6), &mut pages[index]) {
        (0, page) => *page = other,
        (1, Page::DataPage { num_values, .. } | Page::DictionaryPage { num_values, .. }) => {
            *num_values = wrong;
        }
        (1, Page::DataPageV2 { num_values, .. }) => *num_values = u32::MAX - wrong,
        (2, Page::DataPageV2 { def_levels_byte_len, .. }) => *def_levels_byte_len = wrong,
        (3, Page::DataPageV2 { rep_levels_byte_len, .. }) => *rep_levels_byte_len = u32::MAX - wrong,
        (_, Page::DataPage { buf, .. } | Page::DataPageV2 { buf, .. } | Page::DictionaryPage { buf, .. }) => {
            *buf = dice.mutate(buf).into()
        }
    }
}

#[test]
fn damaged_pages_are_errors_or_cells_without_panic() {
    let mut dice = Dice(3);
    let (mut faults, mut ends) = (0, 0);
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for (schema, most) in
            [("message m { required binary key; }", 0), ("message m { optional binary key; }", 1)]
        {
            let pages = pages(version, schema);
            for _ in 0..5_000 {
                let mut damaged = pages.clone();
                (0..=dice.below(2)).for_each(|_| damage(&mut dice, &mut damaged));
                let mut cells = ByteCells::new(Box::new(Pages(damaged.into_iter())), most, ROWS);
                let mut read = 0;
                let outcome = loop {
                    match cells.fill() {
                        Ok(0) => break Ok(()),
                        Ok(filled) => read += filled,
                        Err(fault) => break Err(fault),
                    }
                    (0..cells.left()).for_each(|_| drop(cells.next().map(<[u8]>::to_vec)));
                };
                assert!(read as i64 <= ROWS);
                if outcome.is_ok() { ends += 1 } else { faults += 1 }
            }
        }
    }
    assert!(faults > 1_000 && ends > 1_000, "{faults} faults, {ends} without");
}

#[test]
fn pages_that_are_encoded_in_other_ways_than_announced_are_told() {
    let mut pages = pages(WriterVersion::PARQUET_1_0, "message m { required binary key; }");
    for page in &mut pages {
        if let Page::DataPage { encoding, .. } = page {
            *encoding = Encoding::DELTA_BYTE_ARRAY;
        }
    }
    let fault = ByteCells::new(Box::new(Pages(pages.into_iter())), 0, ROWS).fill();
    let fault = fault.unwrap_err().to_string();
    assert!(
        fault.ends_with(
            "a page is encoded as DELTA_BYTE_ARRAY, which cannot be read here: write the file again in another way"
        ),
        "{fault}"
    );
}
