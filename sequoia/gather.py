"""A pair brought to this machine: named, looked up, downloaded where it is not there, its configs and tokenizers held together.

Whatever these tell against a pair is told before a byte of its weights moves. Reads no weights (see hub.py).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .catalog import BUNDLED_NAME, preset, presets
from .checks import PROBES, Passed, Source, check_source, checked_name, matching_tokenizer
from .download import Downloads, Listing, Progress, require_room
from .errors import BadPair
from .guarded import shown

BUNDLED = Path(__file__).resolve().parent.parent / "assets" / "pair"
Told = Progress | Passed | str  # how far a download is, a check that was passed, or what is being done now
Tell = Callable[[Told], None]
Stop = Callable[[], bool]


@dataclass(frozen=True)
class Gathered:
    """A pair whose configs are fit and whose tokenizers are the same. fetch: downloads the weights that are not there yet."""

    target: Source
    draft: Source
    tokenizer: Any
    fetch: Callable[[], None]


def refs(name: str, target: str | None, draft: str | None) -> tuple[str, str]:
    """Folders or hub ids of target and draft. Raises BadModel for an unknown name, and BadPair for half a pair or two."""
    if (draft is None) != (target is None):
        raise BadPair(f"a draft and a target come together; given were draft={shown(draft)} and target={shown(target)}")
    if target is not None and draft is not None:
        if name != BUNDLED_NAME:
            raise BadPair(f"a pair is named, or its two models are; given were the name {shown(name)} and target={shown(target)}")
        return target, draft
    if name == BUNDLED_NAME:
        return str(BUNDLED / "target"), str(BUNDLED / "draft")
    found = preset(name)
    return found.target.id, found.draft.id


def streams(name: str, offload: bool | int) -> bool | int:
    """Whether the target's layers are to be streamed: as asked for, else as the pair called `name` needs it."""
    return any(one.name == name and one.offload for one in presets()) if offload is False else offload


@contextmanager
def gathered(names: Sequence[str], tell: Tell, stop: Stop, online: bool | None) -> Iterator[Gathered]:
    """The target and the draft of `names`, folders or hub ids. Raises BadModel, BadPair, NotDownloaded or Stopped; with the
    context a transfer ends too."""
    with Downloads(tell, stop, online) as downloads:
        places = [downloads.locate(checked_name(name)) for name in names]
        missing = [place for place in places if isinstance(place, Listing)]
        require_room(sum(place.missing_bytes for place in missing))
        target, draft = (_source(name, place, downloads) for name, place in zip(names, places, strict=True))
        tokenizer = matching_tokenizer(target, draft)
        tell(Passed("tokenizer", f"{len(tokenizer):,} pieces compared one by one, and {PROBES} texts split: the same for both"))

        def fetch() -> None:
            for place in missing:
                downloads.fetch(place, weights=True)

        yield Gathered(target, draft, tokenizer, fetch)


def _source(name: str, place: Path | Listing, downloads: Downloads) -> Source:
    """The model at `place`, its config looked at."""
    if isinstance(place, Listing):
        return check_source(name, downloads.fetch(place, weights=False), place.weight_bytes)
    return check_source(name, place)


def printer() -> Tell:
    """Tells downloads on the standard error, a line each time another twentieth of a model is there."""
    told = dict[str, int]()

    def tell(news: Told) -> None:
        if isinstance(news, Progress) and (part := 20 * news.done // max(news.total, 1)) != told.get(news.model):
            told[news.model] = part
            print(news, file=sys.stderr)

    return tell
