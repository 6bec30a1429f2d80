"""Measurements of a pair of models (target and draft) on this machine, cached so that each is made
only once."""

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
    verifier. kind: the texts classified last, and the kind of text that they are. chats: the cache
    for chat messages, which have other acceptance rates. other: anything else computed once for the
    pair.
    """

    profile: HardwareProfile | None = None
    acceptances: dict[tuple[float, float, str], Acceptance] = field(default_factory=dict)
    kind: tuple[tuple[str, ...], str] | None = None
    chats: PairCache | None = None
    other: dict[Hashable, Any] = field(default_factory=dict)
    # the profile that `as_chat` last copied to `chats`
    _passed_on: HardwareProfile | None = field(default=None, init=False, repr=False, compare=False)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """The cached value for `key`. The first call for a key gets it from `make`."""
        if key not in self.other:
            self.other[key] = make()
        return self.other[key]

    def as_chat(self) -> PairCache:
        """The cache for chat messages, always the same object. If `self` has a new profile, the
        profile is first copied to that cache."""
        self.chats = self.chats or PairCache()
        if self.profile is not None and self.profile is not self._passed_on:
            self.chats.profile = self._passed_on = self.profile
        return self.chats
