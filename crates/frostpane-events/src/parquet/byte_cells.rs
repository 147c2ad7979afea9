//! A Parquet column of byte arrays, read in place: the parquet crate unpacks the pages, and cells are parts
//! of them. (Its own reader makes an owned value of each cell, which takes longer than everything else.)

use bytes::Bytes;
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;

use super::damaged;
use super::runs::Runs;

const BATCH: usize = 1 << 11;

/// The cells of a column, from the top down. Holds one page and the dictionary.
pub struct ByteCells {
    pages: Box<dyn PageReader>,
    /// The level of a cell that is not null.
    most: u32,
    /// Rows of the group that are in none of the pages so far.
    rows: u64,
    dictionary: Option<Dictionary>,
    page: DataPage,
    batch: ByteBatch,
}

/// The rest of a page.
struct DataPage {
    cells: usize,
    /// If any cell may be null.
    levels: Option<Runs>,
    values: Values,
}

enum Values {
    /// One after the other, the next one here.
    Plain { bytes: Bytes, next: usize },
    /// Their places in the dictionary.
    Places(Runs),
}

struct Dictionary {
    bytes: Bytes,
    spans: Vec<ByteSpan>,
}

#[derive(Default)]
struct ByteBatch {
    cells: usize,
    /// The level of each cell, if any may be null.
    levels: Vec<u32>,
    /// The places in the dictionary, and in `bytes`, of the cells that are not null.
    places: Vec<u32>,
    spans: Vec<ByteSpan>,
    bytes: Bytes,
    next_cell: usize,
    next_value: usize,
}

/// A page is smaller than 2 GiB.
#[derive(Clone, Copy)]
struct ByteSpan {
    start: u32,
    end: u32,
}

impl DataPage {
    fn empty() -> Self {
        Self { cells: 0, levels: None, values: Values::Plain { bytes: Bytes::new(), next: 0 } }
    }
}

impl ByteCells {
    pub fn can_read(chunk: &ColumnChunkMetaData) -> bool {
        chunk.column_type() == Type::BYTE_ARRAY && chunk.encodings().all(is_known)
    }

    /// The cells of pages that must have so many rows together.
    pub fn new(pages: Box<dyn PageReader>, most: i16, rows: i64) -> Self {
        Self {
            pages,
            most: most.max(0) as u32,
            rows: rows.max(0) as u64,
            dictionary: None,
            page: DataPage::empty(),
            batch: ByteBatch::default(),
        }
    }

    pub fn left(&self) -> usize {
        self.batch.cells - self.batch.next_cell
    }

    /// Looks up the next cells in place of those before, and says how many there are; none at the end.
    pub fn fill(&mut self) -> Result<usize> {
        if self.page.cells == 0 && !self.next_page()? {
            return Ok(0);
        }
        let (page, batch) = (&mut self.page, &mut self.batch);
        (batch.next_cell, batch.next_value) = (0, 0);
        batch.cells = page.cells.min(BATCH);
        page.cells -= batch.cells;
        let mut values = batch.cells;
        if let Some(levels) = &mut page.levels {
            levels.read(batch.cells, &mut batch.levels)?;
            values = batch.levels.iter().filter(|&&level| level == self.most).count();
        }
        batch.spans.clear();
        match (&mut page.values, &self.dictionary) {
            (Values::Plain { bytes, next }, _) => *next = plain(bytes, *next, values, &mut batch.spans)?,
            (Values::Places(places), Some(dictionary)) => {
                places.read(values, &mut batch.places)?;
                for &place in &batch.places {
                    let span = dictionary.spans.get(place as usize);
                    batch.spans.push(*span.ok_or_else(damaged)?);
                }
            }
            (Values::Places(_), None) => return Err(damaged()),
        }
        Ok(batch.cells)
    }

    #[inline]
    pub fn next(&mut self) -> Option<&[u8]> {
        let batch = &mut self.batch;
        let null = self.most > 0 && batch.levels.get(batch.next_cell) != Some(&self.most);
        batch.next_cell += 1;
        if null {
            return None;
        }
        let span = batch.spans.get(batch.next_value)?;
        batch.next_value += 1;
        batch.bytes.get(span.start as usize..span.end as usize)
    }

    fn next_page(&mut self) -> Result<bool> {
        while self.page.cells == 0 {
            self.page = DataPage::empty();
            self.batch.bytes = Bytes::new();
            let Some(page) = self.pages.get_next_page()? else {
                self.batch = ByteBatch::default();
                return if self.rows == 0 { Ok(false) } else { Err(damaged()) };
            };
            self.turn(page)?;
        }
        Ok(true)
    }

    fn turn(&mut self, page: Page) -> Result<()> {
        let (cells, encoding) = (page.num_values(), page.encoding());
        let (levels, values) = match page {
            Page::DictionaryPage { buf, .. } => return self.take_dictionary(buf, cells, encoding),
            Page::DataPage { buf, def_level_encoding, .. } => self.parts(buf, def_level_encoding)?,
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let (_, rest) = split(buf, rep_levels_byte_len)?;
                split(rest, def_levels_byte_len)?
            }
        };
        let rows = self.rows.checked_sub(cells.into());
        self.rows = rows.ok_or_else(damaged)?;
        self.page = DataPage {
            cells: cells as usize,
            levels: (self.most > 0).then(|| Runs::new(levels, width(self.most))).transpose()?,
            values: self.values(values, encoding)?,
        };
        Ok(())
    }

    fn parts(&self, page: Bytes, encoding: Encoding) -> Result<(Bytes, Bytes)> {
        if self.most == 0 {
            return Ok((Bytes::new(), page));
        }
        if encoding != Encoding::RLE {
            return Err(unknown(encoding));
        }
        let length = *page.first_chunk().ok_or_else(damaged)?;
        split(page.slice(length.len()..), u32::from_le_bytes(length))
    }

    fn values(&mut self, bytes: Bytes, encoding: Encoding) -> Result<Values> {
        match encoding {
            Encoding::PLAIN => {
                self.batch.bytes = bytes.clone();
                Ok(Values::Plain { bytes, next: 0 })
            }
            Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY => {
                let dictionary = self.dictionary.as_ref().ok_or_else(damaged)?;
                self.batch.bytes = dictionary.bytes.clone();
                // A page of nulls has no places, and may have no width of them.
                let (width, places) = split(bytes, 1).unwrap_or_default();
                Ok(Values::Places(Runs::new(places, width.first().copied().unwrap_or(0))?))
            }
            other => Err(unknown(other)),
        }
    }

    fn take_dictionary(&mut self, bytes: Bytes, values: u32, encoding: Encoding) -> Result<()> {
        if self.dictionary.is_some() {
            return Err(damaged());
        }
        if !matches!(encoding, Encoding::PLAIN | Encoding::PLAIN_DICTIONARY) {
            return Err(unknown(encoding));
        }
        let mut spans = Vec::new();
        plain(&bytes, 0, values as usize, &mut spans)?;
        self.dictionary = Some(Dictionary { bytes, spans });
        Ok(())
    }
}

/// Writers list bit-compression for levels that are not there; a page whose levels are bit-packed is refused.
#[expect(deprecated)]
fn is_known(encoding: Encoding) -> bool {
    matches!(
        encoding,
        Encoding::PLAIN
            | Encoding::PLAIN_DICTIONARY
            | Encoding::RLE_DICTIONARY
            | Encoding::RLE
            | Encoding::BIT_PACKED
    )
}

fn unknown(encoding: Encoding) -> ParquetError {
    ParquetError::NYI(format!(
        "a page is encoded as {encoding}, which cannot be read here: write the file again in another way"
    ))
}

fn width(most: u32) -> u8 {
    (u32::BITS - most.leading_zeros()) as u8
}

fn split(mut bytes: Bytes, length: u32) -> Result<(Bytes, Bytes)> {
    if bytes.len() < length as usize {
        return Err(damaged());
    }
    let rest = bytes.split_off(length as usize);
    Ok((bytes, rest))
}

/// Appends where so many values stand from a place on, each after its length, and says where they end.
fn plain(bytes: &[u8], mut next: usize, values: usize, spans: &mut Vec<ByteSpan>) -> Result<usize> {
    for _ in 0..values {
        let (length, rest) = bytes[next..].split_first_chunk().ok_or_else(damaged)?;
        let length = u32::from_le_bytes(*length) as usize;
        if length > rest.len() {
            return Err(damaged());
        }
        let start = bytes.len() - rest.len();
        next = start + length;
        spans.push(ByteSpan { start: start as u32, end: next as u32 });
    }
    Ok(next)
}
