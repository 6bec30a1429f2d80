"""The runs of the menu "Examples": `python -m ui.record examples`.

assets/examples.json lists the examples: their titles, settings, and for most of them a result that
they must show. Every example is run several times, each time beside plain decoding. The run with
the shortest time in total is kept, because other programs disturbed it least. If a kept run does
not show its result, the command ends with an error and writes nothing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from sequoia import Pair, SamplingParams, SequoiaError, load_pair
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from sequoia.assets_folder import ASSETS, BUNDLED_PAIR
from sequoia.loading.pair_request import BUNDLED_NAME
from sequoia.saved_files.race_file import RaceLog
from sequoia.text_files import load_json, write_text
from ui.record.runs import (
    opened_host,
    prompt_named,
    quietest,
    record,
    repeated,
    request_of,
    speedup_of,
    tokens_per_step,
)
from ui.run import recordings
from ui.run.request import RunRequest

FILE = ASSETS / "examples.json"
SHUFFLED = "draft with shuffled weights"
CLEAR = 1.05  # the least ratio of speeds that counts as a difference


@dataclass(frozen=True)
class Recipe:
    """One example. prompt: the name of a prompt preset. tree: the kind of tree, then the values of
    its fields in the form, such as ("best", 64, 6). shows: the required result. "faster" and
    "slower" compare with plain decoding, "faster than NAME" and "slower than NAME" with another
    example, and "fewer than NAME" compares the tokens per step. "": no requirement. draft: "" for
    the bundled draft, or SHUFFLED."""

    name: str
    title: str
    about: str
    prompt: str
    temperature: float
    tree: tuple[Any, ...]
    shows: str = ""
    verifier: str = DEFAULT_VERIFIER
    draft: str = ""

    def request(self, tokens: int) -> RunRequest:
        params = SamplingParams(temperature=self.temperature, max_new_tokens=tokens, seed=0)
        return request_of(prompt_named(self.prompt), params, self.tree, self.verifier)


def recipes() -> list[Recipe]:
    """All examples in assets/examples.json, in their order."""
    entries = load_json(FILE)["examples"]
    return [Recipe(**{**entry, "tree": tuple(entry["tree"])}) for entry in entries]


@contextmanager
def shuffled_pair() -> Iterator[Pair]:
    """The bundled pair with a useless draft: the weights in each of its tensors are shuffled."""
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / SHUFFLED
        draft.mkdir()
        for path in (BUNDLED_PAIR / "draft").iterdir():
            if path.suffix == ".json":
                (draft / path.name).write_bytes(path.read_bytes())
        weights = load_file(BUNDLED_PAIR / "draft" / "model.safetensors")
        chance = torch.Generator().manual_seed(0)
        mixed = {name: _shuffled(weight, chance) for name, weight in weights.items()}
        save_file(mixed, draft / "model.safetensors", {"format": "pt"})
        found = load_pair(target=str(BUNDLED_PAIR / "target"), draft=str(draft))
        bundled = load_pair()
        yield replace(found, name=BUNDLED_NAME, begin=bundled.begin, known=bundled.known)


def _shuffled(weight: torch.Tensor, chance: torch.Generator) -> torch.Tensor:
    order = torch.randperm(weight.numel(), generator=chance)
    return weight.flatten()[order].reshape(weight.shape).contiguous()


def require_shown(recipe: Recipe, runs: Mapping[str, RaceLog]) -> None:
    """Raises SequoiaError if the recipe's run does not show what `recipe.shows` says. runs: the
    kept run of each example, by the example's name."""
    way, _, other = recipe.shows.partition(" than ")
    figure = tokens_per_step if way == "fewer" else speedup_of
    own = figure(runs[recipe.name])
    bound = figure(runs[other]) if other else 1.0
    ratio = own / bound if way == "faster" else bound / own
    if way and (ratio <= 1 if way == "fewer" else ratio < CLEAR):
        raise SequoiaError(
            f"{recipe.name}: {own:.2f}, which is not clearly {way} than {bound:.2f}; record again "
            f"on a quiet machine, or change what {FILE.name} says"
        )


def record_examples(tokens: int, rounds: int) -> None:
    """Write a file for each example, and print its speed-up. tokens: those of a run. rounds: runs
    per example. Raises SequoiaError, and writes nothing, if a run does not show what it must."""
    found = recipes()
    with shuffled_pair() as shuffled:
        hosts = {"": opened_host(), SHUFFLED: opened_host(lambda: shuffled)}
        makes = {
            one.name: lambda one=one: record(one.request(tokens), hosts[one.draft]) for one in found
        }
        kept = {name: quietest(runs) for name, runs in repeated(makes, rounds).items()}
    for recipe in found:
        require_shown(recipe, kept)
    for recipe in found:
        _write(recipe, kept[recipe.name])


def _write(recipe: Recipe, run: RaceLog) -> None:
    meta = {**run.meta, "title": recipe.title, "about": recipe.about}
    text = replace(run, meta=meta).to_json()
    write_text(recordings.RUNS / f"{recipe.name}.json", text)
    print(f"{recipe.name:12} {speedup_of(run):5.2f}x  {len(text) / 1e3:4.0f} kB  {recipe.title}")
