//! Columns of numbers that are not integers by their type: floats and decimals.
//!
//! A column of integers becomes one of floats or decimals by a single value in pandas, numpy and Spark. A value that is whole is the integer that it
//! is, in any of them.

use std::fmt::Display;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Float16Type, Float32Type, Float64Type,
};
use arrow_array::{Array, ArrayRef, LargeBinaryArray, TimestampMicrosecondArray};
use arrow_schema::DataType;
use frostpane_events::Times;

use crate::column::Role;

/// From here on floats skip integers, and may stand for a neighbour.
const INEXACT: f64 = 9_007_199_254_740_992.0;

/// Returns true if a column of this type is rewritten before it is read.
pub fn is_number(data: &DataType) -> bool {
    data.is_floating() || data.is_decimal()
}

/// The integer that a float is, if it is one and no other integer has the same float.
pub fn whole(number: f64) -> Option<i64> {
    (number.abs() < INEXACT && number.trunc() == number).then_some(number as i64)
}

/// A column of such numbers: as moments, or as the digits of those that are whole. Others are null.
pub fn rewritten(array: &ArrayRef, role: Role) -> ArrayRef {
    if let DataType::Dictionary(..) = array.data_type() {
        let dictionary = array.as_any_dictionary();
        return dictionary.with_values(rewritten(dictionary.values(), role));
    }
    match role {
        Role::Time => Arc::new(moments(array)),
        Role::Key | Role::User => Arc::new(digits(array)),
    }
}

fn floats(array: &ArrayRef) -> Vec<Option<f64>> {
    match array.data_type() {
        DataType::Float16 => {
            array.as_primitive::<Float16Type>().iter().map(|number| number.map(f64::from)).collect()
        }
        DataType::Float32 => {
            array.as_primitive::<Float32Type>().iter().map(|number| number.map(f64::from)).collect()
        }
        DataType::Float64 => array.as_primitive::<Float64Type>().iter().collect(),
        _ => vec![None; array.len()],
    }
}

fn digits(array: &ArrayRef) -> LargeBinaryArray {
    macro_rules! decimals {
        ($type:ty, $scale:expr) => {{
            let numbers = array.as_primitive::<$type>().iter();
            numbers.map(|number| number.and_then(|number| decimal(number, *$scale))).collect()
        }};
    }
    match array.data_type() {
        DataType::Decimal32(_, scale) => decimals!(Decimal32Type, scale),
        DataType::Decimal64(_, scale) => decimals!(Decimal64Type, scale),
        DataType::Decimal128(_, scale) => decimals!(Decimal128Type, scale),
        DataType::Decimal256(_, scale) => decimals!(Decimal256Type, scale),
        _ => {
            let text = |number: f64| whole(number).map(|number| number.to_string());
            floats(array).into_iter().map(|number| number.and_then(text)).collect()
        }
    }
}

/// The digits of a decimal that is stored as a whole number of its last places, if it is whole.
fn decimal(stored: impl Display, scale: i8) -> Option<String> {
    let text = stored.to_string();
    let places = usize::from(scale.unsigned_abs());
    match scale {
        _ if text == "0" => Some(text),
        ..=0 => Some(text + &"0".repeat(places)),
        _ => {
            let (whole, fraction) = text.split_at(text.len().checked_sub(places)?);
            let is_whole = fraction.bytes().all(|digit| digit == b'0');
            (is_whole && !whole.is_empty() && whole != "-").then(|| whole.to_owned())
        }
    }
}

fn moments(array: &ArrayRef) -> TimestampMicrosecondArray {
    let times = Times::default();
    floats(array).into_iter().map(|number| number.and_then(|number| times.of_float(number))).collect()
}
