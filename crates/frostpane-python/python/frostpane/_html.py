"""A release as a table with bars, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ._text import interval, printable

if TYPE_CHECKING:
    from .release import Heavy, Release

_MOST = 50

_STYLE = (
    "<style>.frostpane{font:13px/1.45 system-ui,sans-serif;max-width:60rem}"
    ".frostpane table.list{border-collapse:collapse;margin:.4em 0;width:100%;table-layout:auto}"
    ".frostpane table.list th,.frostpane table.list td{border:0;padding:.15em .6em;text-align:right;white-space:nowrap;background:none;width:1px}"
    ".frostpane table.list th{font-weight:600;border-bottom:1px solid rgba(128,128,128,.5)}"
    ".frostpane table.list .key{text-align:left;white-space:normal;overflow-wrap:anywhere;width:auto}"
    ".frostpane table.list .bar{width:45%;text-align:left}"
    ".frostpane table.list .interval{opacity:.65;font-size:90%}"
    ".frostpane .bar div{position:relative;height:1em}"
    ".frostpane .bar i{position:absolute;left:0;top:.1em;bottom:.1em;background:#3a8fb7;border-radius:2px}"
    ".frostpane .bar b{position:absolute;top:.42em;height:.16em;background:currentColor;opacity:.55}"
    ".frostpane p{margin:.4em 0}.frostpane ul{margin:.2em 0;padding-left:1.4em}</style>"
)


def page(release: Release) -> str:
    """The release as HTML. Keys are text of unknown origin: everything is escaped."""
    said = "".join(f"<li>{escape(statement)}</li>" for statement in release.statements)
    return (
        f'{_STYLE}<div class="frostpane"><p><strong>{escape(release.title)}</strong></p>{_table(release)}'
        f"<details><summary>What holds, with {100 * release.confidence:g} % confidence</summary><ul>{said}</ul></details>"
        f"<p>{escape(release.privacy)}</p></div>"
    )


def _table(release: Release) -> str:
    if not release.heavy:
        return f"<p>{escape(str(release._words.get('empty') or 'The list is empty.'))}</p>"
    most = max(row.high for row in release.heavy)
    shown = "".join(_row(row, most) for row in release.heavy[:_MOST])
    rest = len(release) - _MOST
    more = f"<p>... and {rest:,} more</p>" if rest > 0 else ""
    head = '<tr><th>count</th><th>between</th><th></th><th class="key">key</th></tr>'
    return f'<table class="list"><thead>{head}</thead><tbody>{shown}</tbody></table>{more}'


def _row(row: Heavy, most: int) -> str:
    def share(count: int) -> str:
        return f"{100 * count / max(most, 1):.2f}%"

    bar = f'<i style="width:{share(row.count)}"></i><b style="left:{share(row.low)};width:{share(row.high - row.low)}"></b>'
    return (
        f'<tr><td>{row.count:,}</td><td class="interval">{interval(row)}</td><td class="bar"><div>{bar}</div></td>'
        f'<td class="key">{escape(printable(str(row.key)))}</td></tr>'
    )
