"""How much visitors may use: sizes, times, and how many of them wait. Checks nothing itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What one visitor, and all visitors together, may use.

    tokens, nodes, prompt_chars: of one run. seconds: wall-clock time of decoding. waiting: visitors
    in the queue, the one being served included. sessions: how many are remembered. held: paused
    runs that keep their caches. runs, weight: finished runs stored for reload, and their nodes in
    total (one node of one step is about 100 bytes). upload: bytes of an opened file. models:
    whether a visitor may load other models, which includes downloading them.
    """

    tokens: int = 4096
    nodes: int = 1024
    prompt_chars: int = 20_000
    seconds: float = 1800.0
    waiting: int = 16
    sessions: int = 64
    held: int = 4
    runs: int = 32
    weight: int = 2_000_000
    upload: int = 32 * 1024 * 1024
    models: bool = True


LOCAL = Limits()
PUBLIC = Limits(
    tokens=512,
    nodes=256,
    prompt_chars=8_000,
    seconds=60.0,
    waiting=12,
    held=2,
    weight=1_000_000,
    upload=8 * 1024 * 1024,
    models=False,
)
