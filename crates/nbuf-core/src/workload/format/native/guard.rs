//! What must be true of a column before the `parquet` crate may decode it.
//!
//! That crate trusts some numbers of a file: it reserves what a page says it unpacks to, makes a
//! dictionary as long as its head says, and takes for granted that a dictionary came first. Here
//! those numbers are compared with the bytes there are.
//!
//! Cost: the heads of the pages are read twice.

use std::sync::Arc;

use parquet::basic::{Encoding, Type as Physical};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::ParquetError;
use parquet::file::FOOTER_SIZE;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;

use super::error::ReadError;
use super::thrift::walk;
use crate::units::Bound;

/// What a Parquet file begins and ends with.
const PARQUET_MAGIC: [u8; 4] = *b"PAR1";

/// A page may unpack to this many bytes whatever its packed size.
const PAGE_BYTES_FREE: u64 = 4 << 20;

/// Beyond that, to this many times its packed size.
pub(super) const UNPACKED_RATIO_MAX: u64 = 1024;

/// Bytes within which a page's head must end: first try, and last.
const PAGE_HEAD_BYTES: [u64; 2] = [256, 256 << 10];

fn damaged(what: &str) -> ParquetError {
    ParquetError::General(what.to_owned())
}

/// Reads the description at the end of the file.
pub(super) fn footer<R: ChunkReader>(source: &R) -> Result<ParquetMetaData, ReadError> {
    let file_bytes = source.len();
    if file_bytes == 0 {
        return Err(ReadError::Empty);
    }
    let magic_bytes = PARQUET_MAGIC.len() as u64;
    let edge = |start| source.get_bytes(start, PARQUET_MAGIC.len());
    if file_bytes < magic_bytes || edge(0)? != PARQUET_MAGIC[..] {
        return Err(ReadError::NotParquet);
    }
    let tail_bytes = FOOTER_SIZE as u64;
    if file_bytes < magic_bytes + tail_bytes || edge(file_bytes - magic_bytes)? != PARQUET_MAGIC[..]
    {
        return Err(ReadError::Truncated { file_bytes });
    }
    let tail = source.get_bytes(file_bytes - tail_bytes, magic_bytes_of_length())?;
    let length = tail.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
    let start = (file_bytes - tail_bytes).checked_sub(length);
    let start = start.filter(|&start| start >= magic_bytes);
    let start = start.ok_or_else(|| damaged("its description is longer than the file"))?;
    let description = source.get_bytes(start, usize::try_from(length).unwrap_or(usize::MAX))?;
    if walk(&description).is_none() {
        return Err(damaged("its description is not whole").into());
    }
    Ok(ParquetMetaDataReader::new().parse_and_finish(source)?)
}

/// Bytes of the number that says how long the description is.
const fn magic_bytes_of_length() -> usize {
    FOOTER_SIZE - PARQUET_MAGIC.len()
}

/// The pages of a column, once their heads have been found believable.
pub(super) fn pages<R: ChunkReader + 'static>(
    source: &Arc<R>,
    chunk: &ColumnChunkMetaData,
    rows: usize,
    bound: Bound,
) -> Result<Box<dyn PageReader>, ReadError> {
    let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
    let start = u64::try_from(start).map_err(ParquetError::from)?;
    let length = u64::try_from(chunk.compressed_size()).map_err(ParquetError::from)?;
    let end = start.checked_add(length);
    let end = end.filter(|&end| end <= source.len());
    let end = end.ok_or_else(|| damaged("a column is outside the file"))?;
    let mut place = start;
    while place < end {
        place += page_bytes((&**source, bound), place, end - place)?;
    }
    Ok(Box::new(Checked {
        pages: SerializedPageReader::new(Arc::clone(source), chunk, rows, None)?,
        value_bytes_min: match chunk.column_type() {
            Physical::INT64 => 8,
            _ => 4,
        },
        nullable: chunk.column_descr().max_def_level() > 0,
        rows,
        dictionary: false,
    }))
}

/// Bytes of the page that begins here, its head included.
fn page_bytes<R: ChunkReader>(
    (source, bound): (&R, Bound),
    place: u64,
    room: u64,
) -> Result<u64, ReadError> {
    let mut head = None;
    for bytes in PAGE_HEAD_BYTES {
        let bytes = usize::try_from(bytes.min(room)).map_err(ParquetError::from)?;
        head = walk(&source.get_bytes(place, bytes)?);
        if head.is_some() {
            break;
        }
    }
    let head = head.ok_or_else(|| damaged("the head of a page is not whole"))?;
    let size = |field: usize| head.integers[field].and_then(|size| u64::try_from(size).ok());
    let sizes = size(2).zip(size(3));
    let (unpacked, packed) = sizes.ok_or_else(|| damaged("a page has no size"))?;
    let bytes = packed.saturating_add(head.bytes as u64);
    if bytes > room {
        return Err(damaged("a page is longer than its column").into());
    }
    if unpacked > PAGE_BYTES_FREE && unpacked > packed.saturating_mul(UNPACKED_RATIO_MAX) {
        let claims = "a page claims to unpack to more than a thousand times its size";
        return Err(damaged(claims).into());
    }
    if unpacked > PAGE_BYTES_FREE {
        bound.allow("a page of this trace", packed.saturating_add(unpacked))?;
    }
    Ok(bytes)
}

/// Pages whose counts have been compared with their bytes.
struct Checked<R: ChunkReader> {
    pages: SerializedPageReader<R>,
    value_bytes_min: usize,
    nullable: bool,
    rows: usize,
    dictionary: bool,
}

impl<R: ChunkReader> Checked<R> {
    fn check(&mut self, page: &Page) -> Result<(), ParquetError> {
        let values = usize::try_from(page.num_values())?;
        let values_at = match page {
            Page::DictionaryPage { buf, .. } => {
                self.dictionary = true;
                if values > buf.len() / self.value_bytes_min {
                    return Err(damaged("a dictionary is shorter than it says"));
                }
                return Ok(());
            }
            Page::DataPage { buf, .. } if self.nullable => {
                let length = buf.first_chunk().ok_or_else(|| damaged("a page is too short"))?;
                usize::try_from(u32::from_le_bytes(*length))?.saturating_add(4)
            }
            Page::DataPage { .. } => 0,
            Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
                usize::try_from(*def_levels_byte_len)?
                    .saturating_add(usize::try_from(*rep_levels_byte_len)?)
            }
        };
        if values > self.rows {
            return Err(damaged("a page has more values than its row group has rows"));
        }
        let coded = page.buffer().get(values_at..);
        let coded = coded.ok_or_else(|| damaged("a page is shorter than its levels"))?;
        match page.encoding() {
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY if !self.dictionary => {
                Err(damaged("a dictionary is missing"))
            }
            Encoding::DELTA_LENGTH_BYTE_ARRAY if delta_values(coded) > Some(values as u64) => {
                Err(damaged("a page has more lengths than values"))
            }
            Encoding::DELTA_BYTE_ARRAY => Err(damaged(
                "a column is coded as DELTA_BYTE_ARRAY, which nbuf does not read: \
                 write the file again with a dictionary",
            )),
            _ => Ok(()),
        }
    }
}

/// The count in the head of delta-coded numbers: block size, blocks, count.
fn delta_values(coded: &[u8]) -> Option<u64> {
    let mut rest = coded.iter();
    let mut number = || {
        let mut number = 0_u64;
        for place in 0..10 {
            let byte = *rest.next()?;
            number |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    };
    number()?;
    number()?;
    number()
}

impl<R: ChunkReader> Iterator for Checked<R> {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<R: ChunkReader> PageReader for Checked<R> {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            self.check(page)?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool, ParquetError> {
        self.pages.at_record_boundary()
    }
}
