"""Published decoding times on one scale: the time of a token beside the least time of a plain token
on the same card, which is that of reading the weights once. Figures and sources are in
assets/published.json; those of this program come from its profile of an H100."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from sequoia.assets_folder import ASSETS
from sequoia.planning.named_profiles import named_profile
from sequoia.planning.paper_results import paper_tables
from sequoia.planning.simulated_step_times import step_seconds
from sequoia.text_files import load_json

FILE = ASSETS / "published.json"
BYTES_PER_WEIGHT = 2
GIGA = 1e9


@dataclass(frozen=True)
class Published:
    """A time for one text at a time. ms: milliseconds a token. floor_ms: the time in which the card
    reads the model's weights once. claimed: the speed-up that the source states; None for plain
    decoding. label: where the time comes from: "paper" for a publication. tuned: whether this is
    the plain decoding with which the paper's speed-ups are compared again."""

    system: str
    card: str
    model: str
    ms: float
    floor_ms: float
    source: str
    url: str = ""
    label: str = "paper"
    claimed: float | None = None
    tuned: bool = False

    @property
    def tokens_per_second(self) -> float:
        return 1000 / self.ms

    @property
    def over_floor(self) -> float:
        """How many times as fast as plain decoding at the card's full memory bandwidth. For plain
        decoding, the share of that bandwidth which it uses."""
        return self.floor_ms / self.ms


@cache
def published_figures() -> tuple[Published, ...]:
    """All published figures, and those of this program."""
    content = load_json(FILE)
    figures = (_figure(content, one) for one in content["figures"])
    return (*figures, *_own(content))


@cache
def tuned_baseline() -> Published:
    """Plain decoding of the paper's 7B target on an A100 by tuned code."""
    (found,) = (one for one in published_figures() if one.tuned)
    return found


def floor_ms(card: Mapping[str, Any], model: Mapping[str, Any]) -> float:
    """Milliseconds in which `card` reads the 16-bit weights of `model` once."""
    return 1e3 * model["parameters"] * BYTES_PER_WEIGHT / (card["gb_per_s"] * GIGA)


def _figure(content: Mapping[str, Any], about: Mapping[str, Any]) -> Published:
    card, model = content["cards"][about["card"]], content["models"][about["model"]]
    floor = floor_ms(card, model)
    return Published(**{**about, "card": card["name"], "model": model["name"], "floor_ms": floor})


def _own(content: Mapping[str, Any]) -> Iterator[Published]:
    """Plain decoding as measured, and the paper's fastest row of the same models with the measured
    times: its tokens per step, and a tree of its size."""
    about = content["own"]
    profile = named_profile(about["profile"])
    (table,) = (table for table in paper_tables() if table.key == about["table"])
    best = max((row.results[0] for row in table.rows), key=lambda one: one.speedup)
    plain = 1e3 * profile.plain_seconds
    tree = 1e3 * step_seconds(best.tree, profile) / best.tokens
    place = {"card": about["card"], "model": about["model"]}
    source = "this program’s profile of an H100, random weights"
    yield _figure(
        content,
        {**place, "system": "This program, plain", "ms": plain, "source": source}
        | {"label": profile.source},
    )
    yield _figure(
        content,
        {**place, "system": "This program, the paper’s tree", "ms": tree, "label": "simulated"}
        | {"claimed": plain / tree, "source": f"{source}; tokens per step of {table.source}"},
    )
