"""Record the runs of the menu "Examples": `python -m ui.record_examples`.

assets/examples.json says which: each with a title, one sentence, its settings, and what it has to
show. Every run is made several times, and the one of the median speed-up is kept. Where the runs do
not show what the sentence says, the command ends with an error and writes nothing.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from sequoia import Pair, Run, SamplingParams, SequoiaError, load_pair
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from sequoia.assets_folder import ASSETS, BUNDLED_PAIR
from sequoia.loading.pair_catalog import BUNDLED_NAME
from sequoia.text_files import load_json, write_text
from ui.decode import recordings
from ui.decode.request import DecodeRequest
from ui.record import record_run
from ui.record_opening import speedup_of
from ui.serving.model_host import ModelHost
from ui.shared.prompts import presets
from ui.shared.tree_menu import TreeRequest

FILE = ASSETS / "examples.json"
SHUFFLED = "draft with shuffled weights"


@dataclass(frozen=True)
class Recipe:
    """One example. prompt: the name of a preset. tree: kind and numbers, as in the form's menu.
    shows: "faster" or "slower" than the large model alone, or "slower than NAME" with the name of
    another example; empty: anything."""

    name: str
    title: str
    about: str
    prompt: str
    temperature: float
    tree: tuple[Any, ...]
    shows: str = ""
    verifier: str = DEFAULT_VERIFIER
    draft: str = ""

    def request(self, tokens: int) -> DecodeRequest:
        kind, *numbers = self.tree
        texts = {preset.name: preset.text for preset in presets()}
        params = SamplingParams(temperature=self.temperature, max_new_tokens=tokens, seed=0)
        tree_request = TreeRequest(kind, tuple(numbers))
        return DecodeRequest(texts[self.prompt], params, tree_request, self.verifier)


def recipes() -> list[Recipe]:
    """All examples, in the order of the file."""
    entries = load_json(FILE)["examples"]
    return [Recipe(**{**entry, "tree": tuple(entry["tree"])}) for entry in entries]


@contextmanager
def shuffled_pair() -> Iterator[Pair]:
    """The bundled pair with a draft that knows nothing: the weights of each of its layers are those
    of the bundled draft in random order."""
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


def record_all(
    asked: Sequence[Recipe], hosts: Mapping[str, ModelHost], tokens: int, rounds: int
) -> dict[str, list[Run]]:
    """Every example `rounds` times, all of them once in each round, sorted by speed-up."""
    runs: dict[str, list[Run]] = {one.name: [] for one in asked}
    for number in range(rounds + 1):
        for one in asked:
            run = record_run(one.request(tokens), hosts[one.draft])
            if number:  # the first round warms up
                runs[one.name].append(run)
    return {name: sorted(made, key=speedup_of) for name, made in runs.items()}


def median_run(runs: Sequence[Run]) -> Run:
    """The run of the median speed-up; of an even number, the slower one."""
    return runs[(len(runs) - 1) // 2]


def require_shown(recipe: Recipe, runs: Mapping[str, Sequence[Run]]) -> None:
    """Raises SequoiaError if the runs do not show what the example says."""
    speedups = {name: statistics.median(map(speedup_of, made)) for name, made in runs.items()}
    own = speedups[recipe.name]
    way, _, other = recipe.shows.partition(" than ")
    bound = speedups[other] if other else 1.0
    is_shown = not way or (own > bound if way == "faster" else own < bound)
    if not is_shown:
        raise SequoiaError(
            f"{recipe.name}: {own:.2f}x, which is not {way} than {bound:.2f}x; record again on a "
            f"quiet machine, or change what {FILE.name} says"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m ui.record_examples", description=str(__doc__).splitlines()[0]
    )
    parser.add_argument("--tokens", type=int, default=96)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    found = recipes()
    with shuffled_pair() as shuffled:
        hosts = {"": ModelHost(load_pair, 1), SHUFFLED: ModelHost(lambda: shuffled, 1)}
        for host in hosts.values():
            host.open()
        runs = record_all(found, hosts, asked.tokens, asked.rounds)
    for recipe in found:
        require_shown(recipe, runs)
    for recipe in found:
        write(recipe, median_run(runs[recipe.name]))


def write(recipe: Recipe, run: Run) -> None:
    """The file of an example."""
    meta = {**run.meta, "title": recipe.title, "about": recipe.about}
    text = replace(run, meta=meta).to_json()
    write_text(recordings.RUNS / f"{recipe.name}.json", text)
    print(f"{recipe.name:12} {speedup_of(run):5.2f}x  {len(text) / 1e3:4.0f} kB  {recipe.title}")


if __name__ == "__main__":
    try:
        main()
    except SequoiaError as problem:
        sys.exit(str(problem))
