"""The limits for node-by-node verification: the largest probability of accepting a child, and the
most tokens per step, that a rule can reach if it is lossless at each node on its own. They come
from a linear program that is solved exactly in fractions. The Walk tab computes the same limits by
optimal transport (ui/walk/web/rules/limit.js).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from exact import Enumerator, distribution

from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import Verifier

Row = list[Fraction]


def largest(gains: Row, rows: Sequence[Row], bounds: Row) -> Fraction:
    """The largest `gains` · x over all x >= 0 with `rows` · x <= `bounds`, by the simplex method
    with Bland's rule, which prevents cycling. No bound may be negative."""
    count = len(rows)
    slack = [[Fraction(int(i == j)) for j in range(count)] for i in range(count)]
    table = [[*row, *own, bound] for row, own, bound in zip(rows, slack, bounds, strict=True)]
    last = [*(-gain for gain in gains), *[Fraction(0)] * (count + 1)]
    basis = [len(gains) + i for i in range(count)]
    while (enter := next((j for j, value in enumerate(last[:-1]) if value < 0), None)) is not None:
        ratios = [
            (row[-1] / row[enter], basis[i], i) for i, row in enumerate(table) if row[enter] > 0
        ]
        leave = min(ratios)[2]
        pivot = table[leave][enter]
        table[leave] = [value / pivot for value in table[leave]]
        for row in (*table[:leave], *table[leave + 1 :], last):
            factor = row[enter]
            row[:] = [a - factor * b for a, b in zip(row, table[leave], strict=True)]
        basis[leave] = enter
    return last[-1]


def best_worth(
    p: Row, drawn: dict[tuple[int, ...], Fraction], worth: Sequence[Fraction]
) -> Fraction:
    """The largest possible expected worth of the child that is accepted at a node. Rejecting all
    children is worth 0. drawn: the joint distribution of the children's tokens. worth: what
    accepting the first, the second, ... child is worth."""
    variables = [(tokens, rank) for tokens in drawn for rank in range(len(worth))]
    of_draw = [[Fraction(int(one == tokens)) for one, _ in variables] for tokens in drawn]
    of_token = [
        [Fraction(int(tokens[rank] == token)) for tokens, rank in variables]
        for token in range(len(p))
    ]
    return largest(
        [worth[rank] for _, rank in variables], [*of_draw, *of_token], [*drawn.values(), *p]
    )


def limits(tree: Tree, verifier: Verifier, p: Row, q: Row) -> tuple[Fraction, Fraction]:
    """The largest possible (probability of accepting a child of the root, tokens per step), with
    the same p and q at every node."""

    def drawn(count: int) -> dict[tuple[int, ...], Fraction]:
        def draw(chance: Enumerator) -> tuple[int, ...]:
            return tuple(verifier.draw(chance, np.array([q], dtype=object), [count])[0])

        return distribution(draw)  # pyright: ignore[reportReturnType]

    def emitted(node: int) -> Fraction:
        worth = [emitted(child) for child in tree.children[node]]
        return 1 + (best_worth(p, drawn(len(worth)), worth) if worth else 0)

    children = len(tree.children[0])
    return best_worth(p, drawn(children), [Fraction(1)] * children), emitted(0)
