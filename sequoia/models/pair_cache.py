"""Measurements of a pair on this machine, cached so that each is made only once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sequoia.algorithm.acceptance import Acceptance
from sequoia.planning.hardware_profile import HardwareProfile

T = TypeVar("T")


@dataclass
class PairCache:
    """Cached measurements of one pair. Any of them may still be missing.

    profile: this machine's step times with the pair. acceptances: by temperature, top-p and
    verifier. kind: the texts classified last, and the kind of text found. chats: the cache for chat
    messages, whose acceptance is different. other: anything else computed once for the pair.
    """

    profile: HardwareProfile | None = None
    acceptances: dict[tuple[float, float, str], Acceptance] = field(default_factory=dict)
    kind: tuple[tuple[str, ...], str] | None = None
    chats: PairCache | None = None
    other: dict[Hashable, Any] = field(default_factory=dict)
    # the profile that `chats` last got from this cache
    _passed_on: HardwareProfile | None = field(default=None, init=False, repr=False, compare=False)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """The cached value for `key`. The first call for a key gets it from `make`."""
        if key not in self.other:
            self.other[key] = make()
        return self.other[key]

    def as_chat(self) -> PairCache:
        """The cache for chat messages, always the same object. If this cache has a new profile, it
        is copied to the cache for chat messages."""
        self.chats = self.chats or PairCache()
        if self.profile is not None and self.profile is not self._passed_on:
            self.chats.profile = self._passed_on = self.profile
        return self.chats
