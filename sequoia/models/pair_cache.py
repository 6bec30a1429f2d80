"""What was measured of a pair on this machine, kept so that it is measured only once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sequoia.algorithm.acceptance import Acceptance
from sequoia.planning.hardware_profile import HardwareProfile

T = TypeVar("T")


@dataclass
class PairCache:
    """Filled by measuring/defaults.py and by finer measurements of the machine; any of it may still
    be missing.

    profile: times of this machine with the pair. acceptances: by temperature, top-p and verifier.
    kind: the texts last asked about, and their kind. chats: the cache for chat messages, which have
    another acceptance on the same machine. other: what else was made of the pair once, such as the
    plans of an experiment, by keys that say what it is.
    """

    profile: HardwareProfile | None = None
    acceptances: dict[tuple[float, float, str], Acceptance] = field(default_factory=dict)
    kind: tuple[tuple[str, ...], str] | None = None
    chats: PairCache | None = None
    other: dict[Hashable, Any] = field(default_factory=dict)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` returned the first time it was asked for `key`."""
        if key not in self.other:
            self.other[key] = make()
        return self.other[key]

    def as_chat(self) -> PairCache:
        """The cache for chat messages, always the same one, with the newest profile."""
        self.chats = self.chats or PairCache()
        self.chats.profile = self.profile or self.chats.profile
        return self.chats
