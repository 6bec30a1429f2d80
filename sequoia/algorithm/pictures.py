"""Pictures as SVG for notebooks: the shape of a tree, and how many tokens each step of a run gave.
They are drawn on white, so that they can be read in a dark notebook too."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_INK, _NODE, _DRAFT, _TARGET = "#1d2433", "#3257c8", "#0a7a5c", "#a86400"
_COLUMN, _ROW = 34, 14  # px from level to level, and from node to node
_DOT = 4.5  # px
_EDGE = 12  # px around a picture
_HEAD = 22  # px of the line above it
_BAR, _TOKEN = 8, 8  # px: width of a step with the space beside it, height of a token
_LETTER = 7.5  # px of a letter in the line above


def tree_svg(parents: Sequence[int], title: str) -> str:
    """The tree with these parents of its nodes, its root on the left and the first child of each
    node beside it."""
    depths = [0]
    for parent in parents[1:]:
        depths.append(depths[parent] + 1)
    rows = _rows(parents)
    places = [
        (_EDGE + _COLUMN * depth, _HEAD + _EDGE + _ROW * row)
        for depth, row in zip(depths, rows, strict=True)
    ]
    edges = [
        f'<path d="M{places[parent][0]} {places[parent][1]}L{x} {y}"/>'
        for parent, (x, y) in zip(parents[1:], places[1:], strict=True)
    ]
    dots = [f'<circle cx="{x}" cy="{y}" r="{_DOT}"/>' for x, y in places]
    parts = [f'<g stroke="{_INK}" stroke-opacity="0.5">{"".join(edges)}</g>']
    parts.append(f'<g fill="{_NODE}">{"".join(dots)}</g>')
    return _sheet(parts, _COLUMN * max(depths), _ROW * max(rows), title)


def steps_svg(steps: Sequence[tuple[int, int]], title: str) -> str:
    """A bar for each step. steps: for each, how many guesses it accepted, which are drawn below,
    and how many tokens the target added."""
    most = max(map(sum, steps), default=0)
    floor = _HEAD + _EDGE + _TOKEN * most
    bars = []
    for number, (guesses, own) in enumerate(steps):
        x = _EDGE + _BAR * number
        bars.append(_bar(x, floor, guesses, _DRAFT))
        bars.append(_bar(x, floor - _TOKEN * guesses, own, _TARGET))
    return _sheet(bars, _BAR * len(steps), _TOKEN * most, title)


def _rows(parents: Sequence[int]) -> list[int]:
    """The row of each node: its first child stands beside it, and each leaf has a row."""
    below = [0] * len(parents)  # leaves below each node
    for node in reversed(range(len(parents))):
        below[node] = below[node] or 1
        if node:
            below[parents[node]] += below[node]
    rows = [0] * len(parents)
    free = [0] * len(parents)  # the row of a node's next child
    for node, parent in enumerate(parents[1:], start=1):
        rows[node] = free[node] = free[parent]
        free[parent] += below[node]
    return rows


def _bar(x: int, floor: int, tokens: int, colour: str) -> str:
    height = _TOKEN * tokens
    return (
        f'<rect x="{x}" y="{floor - height}" width="{_BAR - 2}" height="{height}" fill="{colour}"/>'
    )


def _sheet(parts: Sequence[str], width: float, height: float, title: str) -> str:
    wide = max(width, _LETTER * len(title)) + 2 * _EDGE
    tall = height + _HEAD + 2 * _EDGE
    words = escape(title)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:g}" height="{tall:g}" role="img">'
        f'<title>{words}</title><rect width="100%" height="100%" fill="#ffffff"/>'
        f'<text x="{_EDGE}" y="18" font-family="sans-serif" font-size="13" fill="{_INK}">{words}'
        f"</text>{''.join(parts)}</svg>"
    )
