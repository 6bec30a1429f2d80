"""Finds a pair: looks up both models, downloads missing files, checks the configs and compares the
tokenizers.

Configs and tokenizers are downloaded and checked first. So a pair that they rule out is refused
before its weights are downloaded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sequoia.algorithm.progress import ShouldStop
from sequoia.loading.compare_tokenizers import checked_tokenizer, matching_tokenizer
from sequoia.loading.download import DownloadProgress, Downloads, Listing, require_room
from sequoia.loading.layer_drafts import is_layer_draft, refuse_layers_as_target
from sequoia.loading.model_checks import (
    PassedCheck,
    Source,
    check_source,
    check_weights,
    local_bytes,
)
from sequoia.loading.pair_request import PairRequest
from sequoia.models.compare_logits import TEXT

# progress of a download, a passed check, or a sentence about the current step
LoadNews = DownloadProgress | PassedCheck | str
OnProgress = Callable[[LoadNews], None]


@dataclass(frozen=True)
class FoundPair:
    """A pair whose configs allow token trees and whose tokenizers match. draft: None if it
    has no files of its own. tokenizer: the target's, used for both. fetch: downloads the weights
    that are missing, and checks them."""

    target: Source
    draft: Source | None
    tokenizer: Any
    fetch: Callable[[], None]


@contextmanager
def found_pair(
    request: PairRequest,
    online: bool | None,
    on_progress: OnProgress,
    should_stop: ShouldStop,
) -> Iterator[FoundPair]:
    """A context with the pair that `request` names. Leaving the context ends any download. online:
    as for `Downloads`. Raises BadModel, BadPair, NotDownloaded, OutOfMemory or Stopped."""
    names = request.models
    with Downloads(on_progress, should_stop, online) as downloads:
        places = [downloads.locate(name) for name in names]
        require_room(sum(place.missing_bytes for place in places if isinstance(place, Listing)))
        sources = [_source(*found, downloads) for found in zip(names, places, strict=True)]
        refuse_layers_as_target(sources[0])
        target = sources[0]
        draft = None if request.derived else sources[1]
        if draft is None or is_layer_draft(draft.folder):
            tokenizer = checked_tokenizer(target)
            words = f"the draft uses the {len(tokenizer):,} tokens of the target"
        else:
            tokenizer = matching_tokenizer(target, draft)
            words = f"all {len(tokenizer):,} tokens are the same in both, which split texts alike"
        on_progress(PassedCheck("tokenizer", words))

        def fetch() -> None:
            for source, place in zip(sources, places, strict=True):
                if isinstance(place, Listing):
                    downloads.fetch(place, weights=True)
                    check_weights(source)

        text = tuple(tokenizer(TEXT)["input_ids"])
        target = replace(target, text=text)
        draft = draft and replace(draft, text=text)
        yield FoundPair(target, draft, tokenizer, fetch)


def _source(name: str, place: Path | Listing, downloads: Downloads) -> Source:
    """The model at `place`, with its config checked."""
    if isinstance(place, Listing):
        return check_source(name, downloads.fetch(place, weights=False), place.weight_bytes)
    if is_layer_draft(place):
        return check_source(name, place, local_bytes(place, name))
    return check_source(name, place)


def printer() -> OnProgress:
    """A callback that prints the progress of downloads to standard error, one line for every 5% of
    a model."""
    printed = dict[str, int]()

    def on_progress(news: LoadNews) -> None:
        if isinstance(news, DownloadProgress) and (
            part := 20 * news.done // max(news.total, 1)
        ) != printed.get(news.model):
            printed[news.model] = part
            print(news, file=sys.stderr)

    return on_progress
