"""Reading of events: files, tables, columns, lists and single values."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from . import _internal
from ._time import micros
from .errors import ColumnError, InputError, OperatorWarning, ParameterError

_ONE = (str, bytes, bytearray, int)
_WHAT = {"key": "keys", "time": "times", "user": "users"}


def rows(events: Any, key: Any, time: Any, user: Any, spec: str) -> _internal.EventRows:
    """The events, with columns that are named in files or a table, or given beside keys."""
    files = _files(events, key)
    if files is None:
        taken = _rows(events, key, time, user)
    else:
        taken = _internal.EventRows.of_files(
            files, spec, *(_named_in_file(role, name) for role, name in (("key", key), ("time", time), ("user", user)))
        )
    for note in taken.notes:
        warnings.warn(note, OperatorWarning, stacklevel=3)
    for what in taken.unreadable:
        warnings.warn(f"none of the {what} can be read: {what} are text, bytes or whole numbers", OperatorWarning, stacklevel=3)
    return taken


def _files(events: Any, key: Any) -> list[str] | None:
    """The names of files, folders or patterns: paths, or text where a column is named, which one key does not have."""
    if isinstance(events, os.PathLike) or (isinstance(events, str) and isinstance(key, str)):
        return [os.fspath(events)]
    if isinstance(events, (list, tuple)) and events and all(isinstance(each, os.PathLike) for each in events):
        return [os.fspath(each) for each in events]
    return None


def _named_in_file(role: str, name: Any) -> str | None:
    if name is not None and not isinstance(name, str):
        raise ParameterError(f"files were given: {role} is the name of a column in them, not {type(name).__name__}")
    return name


def _rows(events: Any, key: Any, time: Any, user: Any) -> _internal.EventRows:
    if isinstance(events, _ONE) and not isinstance(events, bool):
        return _internal.EventRows.of_columns([events], _one_time(time), None if user is None else [user])
    if hasattr(events, "collect") and not _is_arrow(events):
        raise InputError("this table has not been computed yet: collect it first")
    # Polars copies a frame whose columns have other chunks than each other before it gives it away, and a
    # column not.
    if isinstance(events, Mapping) or _is_pandas(events, "DataFrame") or _is_polars(events):
        return _of_columns(
            _named(events, _name("key", key)),
            None if time is None else _named(events, _name("time", time)),
            None if user is None else _named(events, _name("user", user)),
        )
    if _is_table(events):
        return _internal.EventRows.of_frame(
            events,
            _name("key", key),
            None if time is None else _name("time", time),
            None if user is None else _name("user", user),
        )
    for role, column in (("time", time), ("user", user)):
        if isinstance(column, str):
            raise ParameterError(
                f"{role}={column!r} is the name of a column, but the events are a single column of keys: "
                f"give the {_WHAT[role]} as a column of the same length, or a table"
            )
    return _of_columns(events, time, user)


def _of_columns(key: Any, time: Any, user: Any) -> _internal.EventRows:
    times, exact = (None, False) if time is None else _times(time)
    users = None if user is None else _column(user, "user")
    return _internal.EventRows.of_columns(_column(key, "key"), times, users, exact)


def _one_time(time: Any) -> list[tuple[int]] | None:
    return None if time is None else [(micros(time),)]


def _name(role: str, name: Any) -> str:
    if name is None:
        raise ParameterError(f"a table was given: say which column holds the {_WHAT[role]}, with {role}")
    if not isinstance(name, str):
        raise ParameterError(f"a table was given: {role} is the name of a column in it, not {type(name).__name__}")
    return name


def _named(table: Any, name: str) -> Any:
    names = table.columns if _is_polars(table) else table.keys()
    if name not in names:
        raise ColumnError(f"there is no column {name}: there are {', '.join(map(str, names))}")
    column = table[name]
    if _is_pandas(column, "DataFrame"):
        raise ColumnError(f"there are several columns {name}: rename one of them")
    return column


def _is_arrow(given: Any) -> bool:
    return hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__")


def _is_table(given: Any) -> bool:
    return _is_arrow(given) and any(hasattr(given, name) for name in ("columns", "column_names", "schema", "num_columns"))


def _is_pandas(given: Any, name: str) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(given, getattr(pandas, name))


def _is_polars(given: Any, name: str = "DataFrame") -> bool:
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(given, getattr(polars, name))


def _is_numpy(given: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(given, numpy.ndarray)


def _column(given: Any, role: str) -> Any:
    """A column for the Rust side: Arrow, an array of 64-bit numbers, or a list, whose values are read one
    by one."""
    if _is_pandas(given, "Series") or _is_pandas(given, "Index"):
        return _of_pandas(given, role)
    if _is_numpy(given):
        return _of_numpy(given, role)
    if _is_polars(given, "Series"):
        return _of_polars(given)
    if _is_arrow(given):
        return given
    if isinstance(given, _ONE) or not isinstance(given, Iterable):
        raise InputError(f"{type(given).__name__} is no column of {_WHAT[role]}: give a column, an array or an iterable")
    return given if isinstance(given, list) else list(given)


def _of_numpy(array: Any, role: str) -> Any:
    import numpy

    if array.ndim != 1:
        raise InputError(f"an array of {array.ndim} dimensions was given, but a column has 1: choose one, with [:, number]")
    if isinstance(array, numpy.ma.MaskedArray):
        return array.tolist()
    kind = array.dtype.kind
    if kind in "iuf" and array.dtype.itemsize <= 8:
        wide = array.astype({"i": numpy.int64, "u": numpy.uint64, "f": numpy.float64}[kind], copy=False)
        return numpy.ascontiguousarray(wide)
    if kind in "OUST":
        return array.tolist()
    raise InputError(f"the array of {_WHAT[role]} holds {array.dtype}, but {_WHAT[role]} are text, bytes or whole numbers: cast it to one of these")


def _of_pandas(series: Any, role: str) -> Any:
    import numpy

    dtype = series.dtype
    if isinstance(dtype, numpy.dtype):
        return _of_numpy(series.to_numpy(), role)
    categories = getattr(dtype, "categories", None)
    # Of objects pyarrow would look for a type that suits all of them.
    if categories is None or not isinstance(categories.dtype, numpy.dtype) or categories.dtype.kind in "iu":
        arrow = _pyarrow()
        try:
            return series.tolist() if arrow is None else arrow.Array.from_pandas(series)
        except (TypeError, ValueError, NotImplementedError):
            pass
    return series.tolist()


def _of_polars(series: Any) -> Any:
    name = str(series.dtype)
    if name == "Object":
        # Arrow would have addresses in memory in their place.
        return series.to_list()
    return series.cast(sys.modules["polars"].String) if name in ("Int128", "UInt128") else series


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        return None
    return pyarrow


def _times(given: Any) -> tuple[Any, bool]:
    """A column of times, and whether its integers are microseconds."""
    if _is_pandas(given, "Series") or _is_pandas(given, "Index"):
        return _pandas_times(given)
    if _is_numpy(given) and given.dtype.kind == "M" and not _is_masked(given):
        return _moments(given), True
    if _is_numpy(given) and (given.dtype.kind in "OUST" or _is_masked(given)):
        return _list_of_times(given.tolist()), True
    if _is_polars(given, "Series") and str(given.dtype) == "Object":
        return _list_of_times(given.to_list()), True
    if _is_numpy(given) or _is_arrow(given):
        return _column(given, "time"), False
    if isinstance(given, _ONE) or not isinstance(given, Iterable):
        raise InputError(f"{type(given).__name__} is no column of times: give one for every event")
    return _list_of_times(given), True


def _is_masked(array: Any) -> bool:
    import numpy

    return isinstance(array, numpy.ma.MaskedArray)


def _moments(array: Any) -> Any:
    import numpy

    if array.ndim != 1:
        raise InputError(f"an array of {array.ndim} dimensions was given, but a column has 1: choose one, with [:, number]")
    return numpy.ascontiguousarray(array.astype("datetime64[us]")).view("int64")


def _pandas_times(series: Any) -> tuple[Any, bool]:
    kind = getattr(series.dtype, "kind", "")
    if kind == "M" and hasattr(series.dtype, "tz"):
        naive = series.dt.tz_convert(None) if hasattr(series, "dt") else series.tz_convert(None)
        return _moments(naive.to_numpy()), True
    if kind == "M":
        return _moments(series.to_numpy()), True
    if kind == "O":
        return _list_of_times(series.tolist()), True
    return _of_pandas(series, "time"), False


def _list_of_times(given: Iterable[Any]) -> list[Any]:
    return [_moment(moment) for moment in given]


def _moment(given: Any) -> Any:
    """Text and numbers unchanged, for the reader of times; any other moment as microseconds in a tuple; None if invalid."""
    if type(given).__name__ in ("NoneType", "NAType", "NaTType"):
        return None
    if hasattr(given, "item") and getattr(getattr(given, "dtype", None), "kind", "") != "M":
        given = given.item()
    if isinstance(given, (str, int, float)):
        return given
    try:
        return (micros(given),)
    except (TypeError, ValueError, ArithmeticError, AttributeError):
        return None
