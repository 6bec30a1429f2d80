"""Recorded steps of decoding runs that take turns, like the lanes of a race. The verdict of a race
says which lanes are faster. These steps serve to measure how often a verdict is wrong.

A session decodes one prompt in seven lanes: one lane decodes without a draft, two use the same
chain, and four the same tree. Each lane has its own seed, so two lanes of the same kind differ by
chance alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder
from sequoia.errors import BadTrace
from sequoia.measuring.defaults import acceptance_of
from sequoia.models.pair import Pair

FORMAT = "sequoia-race-steps"
_UNIT = 1e-5  # seconds; times are written as whole multiples of it
Steps = tuple[tuple[int, float], ...]  # (tokens, seconds) of each step


@dataclass(frozen=True)
class RecordedRun:
    """One lane of a session. kind: "plain", "chain" or "tree". common: the number of leading tokens
    that are the same in all lanes of the session."""

    kind: str
    steps: Steps
    common: int

    @property
    def length(self) -> int:
        """The number of tokens emitted in the run."""
        return sum(tokens for tokens, _ in self.steps)

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "common": self.common,
            "tokens": "".join(_DIGITS[tokens] for tokens, _ in self.steps),
            "times": [round(seconds / _UNIT) for _, seconds in self.steps],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RecordedRun:
        tokens = [int(digit, 36) for digit in data["tokens"]]
        seconds = [time * _UNIT for time in data["times"]]
        return cls(data["kind"], tuple(zip(tokens, seconds, strict=True)), data["common"])


@dataclass(frozen=True)
class Session:
    """Interleaved runs of one prompt. prompt: its name, not its text."""

    prompt: str
    temperature: float
    runs: tuple[RecordedRun, ...]

    @property
    def common(self) -> int:
        """The number of leading tokens that are the same in all runs."""
        return min(run.common for run in self.runs)

    @cached_property
    def by_kind(self) -> dict[str, list[RecordedRun]]:
        return {
            kind: [run for run in self.runs if run.kind == kind]
            for kind in dict.fromkeys(run.kind for run in self.runs)
        }


TEMPERATURES = (0.0, 0.6)
CHAIN_NODES = 6
TREE_NODES = 12
# At each temperature, the seed grows by this much from one session to the next. A session has fewer
# lanes than that, so no two of these sessions share a seed.
_SEEDS = 10
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_LANES = {"plain": 1, "chain": 2, "tree": 4}


def record_session(
    pair: Pair, name: str, prompt: str, params: SamplingParams, trees: Mapping[str, Tree]
) -> Session:
    """Decode `prompt` in all lanes of a session. The first lane has the seed of `params`, and each
    further lane the next seed. `name` is stored instead of the prompt's text."""
    kinds = [kind for kind, count in _LANES.items() for _ in range(count)]
    decoders = [
        Decoder(pair, prompt, params.further(lane), trees[kind]) for lane, kind in enumerate(kinds)
    ]
    steps = _interleaved(decoders)
    common = _common([decoder.emitted for decoder in decoders])
    runs = (RecordedRun(*one, common) for one in zip(kinds, map(tuple, steps), strict=True))
    return Session(name, params.temperature, tuple(runs))


def _interleaved(decoders: Sequence[Decoder]) -> list[list[tuple[int, float]]]:
    """(tokens, seconds) of every step of each decoder. As in a race, the decoder with the least
    decode time so far makes the next step."""
    steps = [list[tuple[int, float]]() for _ in decoders]
    clocks = [0.0] * len(decoders)
    for decoder in decoders:
        decoder.prefill()
    while running := [i for i, decoder in enumerate(decoders) if decoder.finish is None]:
        lane = min(running, key=lambda i: clocks[i])
        trace = decoders[lane].step()
        steps[lane].append((len(trace.emitted), trace.total_seconds))
        clocks[lane] += trace.total_seconds
    return steps


def _common(texts: Sequence[Sequence[int]]) -> int:
    """The number of leading tokens that all `texts` share."""
    for count, tokens in enumerate(zip(*texts, strict=False)):
        if len(set(tokens)) > 1:
            return count
    return min(map(len, texts))


def record(
    pair: Pair, prompts: Mapping[str, str], tokens: int, repeats: int
) -> Iterator[list[Session]]:
    """Record every prompt `repeats` times at each of TEMPERATURES. After each session, yields all
    sessions recorded so far."""
    base = SamplingParams(temperature=0.0, max_new_tokens=tokens, ignore_eos=True)
    sessions = list[Session]()
    for repeat in range(repeats):
        for temperature in TEMPERATURES:
            params = replace(base, temperature=temperature)
            trees = _trees(pair, params, [*prompts.values()])
            for i, (name, prompt) in enumerate(prompts.items()):
                seeded = params.further((repeat * len(prompts) + i) * _SEEDS)
                sessions.append(record_session(pair, name, prompt, seeded, trees))
                yield sessions


def _trees(pair: Pair, params: SamplingParams, prompts: Sequence[str]) -> dict[str, Tree]:
    acceptance = acceptance_of(pair, params, texts=prompts)[0].smoothed()
    return {
        "plain": Tree.chain(1),
        "chain": Tree.chain(CHAIN_NODES),
        "tree": best_tree(acceptance, TREE_NODES),
    }


def write_sessions(path: Path, about: Mapping[str, Any], sessions: Sequence[Session]) -> None:
    """Write a file that `read_sessions` can read. about: its header (pair, device, date)."""
    written = [
        {
            "prompt": session.prompt,
            "temperature": session.temperature,
            "runs": [run.to_dict() for run in session.runs],
        }
        for session in sessions
    ]
    head = json.dumps({"format": FORMAT, **about})[:-1]
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in written)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{head}, "sessions": [\n{lines}\n]}}\n', encoding="utf-8")


def read_sessions(path: Path) -> tuple[dict[str, Any], list[Session]]:
    """The header (pair, device, date) and the sessions of the file `path`. Raises BadTrace if it is
    not a file of recorded steps."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        sessions = [*_sessions(data.pop("sessions"))]
        if data.pop("format") != FORMAT:
            raise ValueError("another format")
        if not sessions or not {"pair", "device"} <= data.keys():
            raise ValueError("it has no sessions, or its header has no pair or device")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise BadTrace(
            f"{path} is not a file of recorded steps ({problem}); make one with --record"
        ) from None
    return data, sessions


def _sessions(items: Sequence[Mapping[str, Any]]) -> Iterator[Session]:
    for item in items:
        runs = tuple(map(RecordedRun.from_dict, item["runs"]))
        session = Session(item["prompt"], item["temperature"], runs)
        for kind, least in _LANES.items():
            if (found := len(session.by_kind.get(kind, ()))) < least:
                raise ValueError(f"a session has {found} runs of kind {kind!r}; it needs {least}")
        yield session
