"""The entries of the menus in the Hardware form, and the check of a key from the browser."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from ui.shared.acceptance_rates import Rates
from ui.shared.saved_profiles import Entry


def known(key: Any, among: Mapping[str, Any], otherwise: Any) -> Any:
    """`key` if it is in `among`, else `otherwise`. A value from the browser can be anything."""
    return key if isinstance(key, str) and key in among else otherwise


def named(entries: Mapping[str, Entry], same: Set[str] = frozenset()) -> list[tuple[str, str]]:
    """Menu entries of profiles: (text, key). same: the keys of the profiles whose times are on
    screen."""
    return [
        (f"{entry.name} · {'shown now' if key in same else entry.profile.source}", key)
        for key, entry in entries.items()
    ]


def with_the_same_times(entries: Mapping[str, Entry], key: Any) -> set[str]:
    """The keys of all entries with the same times as the entry `key`, including `key` itself. Empty
    if `entries` does not have `key`."""
    own = _times(entries[key]) if key in entries else None
    return {other for other, entry in entries.items() if _times(entry) == own}


def _times(entry: Entry) -> tuple[Any, ...]:
    profile = entry.profile
    return (
        profile.target_seconds,
        profile.draft_seconds,
        profile.overhead_seconds,
        profile.level_overhead,
    )


def rate_choices(vectors: dict[str, Rates]) -> list[tuple[str, str]]:
    """Menu entries of acceptance vectors: (text, key)."""
    return [(f"{rates.short} · {rates.label}", key) for key, rates in vectors.items()]
