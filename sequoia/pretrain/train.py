"""The training loop and its checkpoints.

Knows tokens, an objective and a recipe; nothing of where they come from or who watches.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel

from ..errors import BadTraining
from .model import Forward, Objective, new_model, optimisers
from .recipe import Bound, Recipe, finite

VERSION = 1
CPU_TOKENS = 2048  # a pass; larger activations leave the caches and cost fresh pages at every step
HELD_WINDOWS = 64


@dataclass(frozen=True)
class Tokens:
    """(tokens,) uint16 arrays: the text to train on and the text held out."""

    train: np.ndarray
    held: np.ndarray

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(self.train.tobytes() + b"|" + self.held.tobytes()).hexdigest()


@dataclass
class State:
    """A run that can be put down and taken up: exactly what a checkpoint holds."""

    model: PreTrainedModel
    optimisers: tuple[torch.optim.Optimizer, ...]
    crops: torch.Generator
    step: int = 0
    tokens: int = 0
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Learning rate of the last step."""
        return self.optimisers[0].param_groups[0]["lr"]


def fresh(recipe: Recipe, vocab: int, end: int, device: torch.device | str = "cpu") -> State:
    """A run before its first step."""
    model = new_model(recipe.size, vocab, end, recipe.seed).to(device)  # pyright: ignore[reportArgumentType]
    return State(model, optimisers(model, recipe.peak), torch.Generator().manual_seed(recipe.seed))


def fit(state: State, objective: Objective, text: np.ndarray, recipe: Recipe, bound: Bound,
        network: Forward | None = None) -> Iterator[float]:
    """Train until `bound`, one step and its loss at a time; `state` is whole whenever this yields.

    `network` is what computes in the model's place, such as its compiled form. Only time spent in here counts as the run's.
    """
    check_length(text, recipe)
    device = state.model.device
    state.model.train()
    while (progress := bound.progress(state.seconds, state.tokens)) < 1:
        started = time.perf_counter()
        windows = to_device(crop(text, *recipe.shape(progress), state.crops), device)
        rate = recipe.rate(state.step + 1, progress)
        loss = _step(state, objective, windows, state.model if network is None else network, rate)
        state.step += 1
        state.tokens += windows[:, 1:].numel()
        state.seconds += time.perf_counter() - started
        yield finite(f"the loss of step {state.step}", loss)


def _step(state: State, objective: Objective, windows: torch.Tensor, network: Forward, rate: float) -> float:
    """One update of all weights from the mean loss over `windows`, computed in parts that suit the device."""
    total = torch.zeros((), device=windows.device)
    for part in windows.split(_rows(windows)):
        loss = objective(network, part) * (len(part) / len(windows))
        loss.backward()
        total += loss.detach()
    for optimiser in state.optimisers:
        for group in optimiser.param_groups:
            group["lr"] = rate
        optimiser.step()
        optimiser.zero_grad()
    return total.item()


def _rows(windows: torch.Tensor) -> int:
    return len(windows) if windows.is_cuda else max(1, CPU_TOKENS // (windows.shape[1] - 1))


def check_length(text: np.ndarray, recipe: Recipe) -> None:
    """BadTraining unless `text` fills one batch."""
    needed = recipe.batch * recipe.context + 1
    if len(text) < needed:
        raise BadTraining(f"a corpus of {len(text)} tokens to train on is too small for one batch; it takes {recipe.batch} x "
                          f"{recipe.context} + 1 = {needed}. Give more text, or a smaller batch or context")


def crop(text: np.ndarray, rows: int, length: int, generator: torch.Generator) -> torch.Tensor:
    """(rows, length + 1) int64 windows at random places of `text`."""
    starts = torch.randint(len(text) - length, (rows, 1), generator=generator).numpy()
    return torch.from_numpy(text[starts + np.arange(length + 1)].astype(np.int64))


def to_device(windows: torch.Tensor, device: torch.device) -> torch.Tensor:
    return windows.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else windows


def held_windows(held: np.ndarray, context: int) -> torch.Tensor:
    """(rows, context + 1) int64: at most HELD_WINDOWS windows evenly spread over the held-out text, shorter if that is short."""
    if len(held) < 2:
        raise BadTraining(f"a held-out text of {len(held)} tokens; at least 2 are needed")
    length = min(context, len(held) - 1)
    rows = min(HELD_WINDOWS, (len(held) - 1) // length)
    starts = np.linspace(0, len(held) - length - 1, rows).astype(np.int64)[:, None]
    return torch.from_numpy(held[starts + np.arange(length + 1)].astype(np.int64))


@torch.no_grad()
def held_mean(measure: Callable[[torch.Tensor], Any], windows: torch.Tensor, device: torch.device) -> list[float]:
    """Means over `windows` of what `measure` says of a part of them: one number or a tuple of them."""
    sums: dict[int, float] = {}
    for part in windows.split(_rows(windows)):
        values = measure(to_device(part, device))
        for i, value in enumerate(values if isinstance(values, tuple) else (values,)):
            sums[i] = sums.get(i, 0.0) + value.item() * len(part) / len(windows)
    return list(sums.values())


# -- checkpoints -------------------------------------------------------------------------------------------------


def save(state: State, path: Path, identity: dict[str, Any]) -> None:
    """Write `state` so that `path` holds the old checkpoint or the new one, whatever happens on the way.

    `identity` is what a run that takes it up must have in common with this one.
    """
    data = {"version": VERSION, "identity": identity, "model": state.model.state_dict(),
            "optimisers": [optimiser.state_dict() for optimiser in state.optimisers], "crops": state.crops.get_state(),
            "step": state.step, "tokens": state.tokens, "seconds": state.seconds}
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as file:
        torch.save(data, file)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def restore(state: State, path: Path, identity: dict[str, Any]) -> None:
    """Fill a fresh `state` from `path`; BadTraining if the file is no checkpoint or one of another run."""
    try:
        data = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, ValueError, pickle.UnpicklingError) as error:
        raise BadTraining(f"{str(path)[:200]!r} is no readable checkpoint: {str(error)[:200]}") from None
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise BadTraining(f"{str(path)[:200]!r} is no checkpoint of version {VERSION}")
    for name, value in identity.items():
        if data["identity"].get(name) != value:
            raise BadTraining(f"the checkpoint was made with {name} {str(data['identity'].get(name))[:80]}, this run has "
                              f"{str(value)[:80]}; start anew or give the same")
    state.model.load_state_dict(data["model"])
    for optimiser, saved in zip(state.optimisers, data["optimisers"], strict=True):
        optimiser.load_state_dict(saved)
    state.crops.set_state(data["crops"])
    state.step, state.tokens, state.seconds = data["step"], data["tokens"], data["seconds"]
