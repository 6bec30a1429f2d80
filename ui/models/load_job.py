"""Reads which pair a form asks for, and loads it in its own thread. The pair is downloaded while
other visitors decode, and loaded when it is this job's turn in the queue. Independent of the page.

If loading fails or is stopped, the previous pair stays in use. If it was unloaded to make room, it
is loaded again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sequoia import Pair, SequoiaError
from sequoia.errors import BadModel
from sequoia.loading.download import DownloadProgress
from sequoia.loading.find_pair import LoadNews
from sequoia.loading.load import fetch, load
from sequoia.loading.model_checks import PassedCheck, checked_device, checked_dtype
from sequoia.loading.pair_request import BUNDLED_NAME, DERIVED, PairRequest, checked_name, preset
from sequoia.validate_input import shown
from ui.serving.fair_queue import Demand, Wait
from ui.serving.job import Job
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost

KEPT = "The current models stay loaded."
_USUAL_SECONDS = 60.0  # predicted for the first load, and the most predicted for any load
_ERROR_NUMBER = re.compile(r"\[Errno -?\d+\] ")  # in messages of the operating system


@dataclass(frozen=True)
class Report:
    """The state of a load. words: the current activity, or a sentence about a stopped load;
    empty if the load succeeded or failed. progress: of the current download; None without one.
    checks: those passed so far. over: whether the load has ended. error: the reason if it failed.
    done: whether the new models are in use."""

    words: str
    progress: DownloadProgress | None = None
    checks: tuple[PassedCheck, ...] = ()
    over: bool = False
    error: str | None = None
    done: bool = False


class LoadJob(Job[Report]):
    """Loads one pair. Stop ends a download or the wait in the queue. If it is pressed while the
    target's weights are read, loading stops once they have been read. As soon as the draft's
    weights are being read, Stop has no effect."""

    name = "loading of other models"

    def __init__(
        self, model_host: ModelHost, pair_request: PairRequest, online: bool | None = None
    ) -> None:
        super().__init__(model_host)
        self._pair_request = pair_request
        self._online = online
        self._last = Report(f"looking for {pair_request.title}")

    def work(self, steps: int | None) -> Report:  # noqa: ARG002  a load has no steps
        self._on_progress(self._last.words)
        fetch(self._pair_request, self._online, self._on_progress, self.halted)
        # loading does all checks again
        self._last = replace(self._last, progress=None, checks=())
        self._on_progress("opening the models’ files")
        self._model_host.change(self._load, self.halted, self._on_wait, self._next_turn())
        return replace(self.stopped(""), done=True)

    def demand(self) -> Demand:
        return Demand("loading of models", limit=_USUAL_SECONDS)

    def notice(self, words: str) -> Report:
        return replace(self._last, words=words, progress=None)

    def stopped(self, words: str) -> Report:
        return replace(self.notice(words), over=True)

    def failed(self, error: str) -> Report:
        return replace(self.stopped(""), error=error)

    @property
    def if_it_fails(self) -> str:
        return KEPT if self._model_host.status.stage == "ready" else ""

    if_out_of_memory = if_it_fails

    def refused(self, problem: SequoiaError) -> str:
        text = _ERROR_NUMBER.sub("", str(problem))
        kept = self.if_it_fails
        return f"{text.removesuffix('.')}. {kept}" if kept else text

    def _load(self) -> Pair:
        """Load the pair. The model host may call this again long after this job has ended, to
        reload the pair. Such a reload cannot be stopped."""
        pair = load(
            self._pair_request, False, self._on_progress, lambda: self.busy and self.halted()
        )
        self._on_progress("timing the models on this machine")  # what the model host does next
        return pair

    def _on_progress(self, news: LoadNews) -> None:
        if isinstance(news, PassedCheck):
            self._last = replace(self._last, checks=(*self._last.checks, news))
        elif isinstance(news, DownloadProgress):
            self._last = replace(self._last, words="downloading", progress=news)
        else:
            self._last = replace(self._last, words=news, progress=None)
        if self.busy:
            self.post(self._last)

    def _on_wait(self, wait: Wait) -> None:
        self._on_progress(wait.words("loading"))


OWN = "own"  # two models that the visitor names


def requested_pair(form: Mapping[str, Any], limits: Limits) -> PairRequest:
    """The pair requested by `form`. Raises a SequoiaError for an invalid value, and for any request
    on a public page. Any value of the field `offload` other than True counts as False."""
    if not limits.models:
        raise BadModel(
            "this page is public and serves only one pair; to load other models, start the "
            "app without --public"
        )
    name = form["pair"]
    if not isinstance(name, str):
        raise BadModel(f"pair: {shown(name)} is not the name of a pair; choose one from the menu")
    checked_device(form["device"])
    checked_dtype(form["dtype"])
    how = {
        "device": form["device"],
        "dtype": form["dtype"],
        "offload": form["offload"] is True,
    }
    if name == OWN:
        models = {role: _model(form[role], role) for role in ("target", "draft")}
        return PairRequest(**models, **how)
    if name != BUNDLED_NAME:
        preset(name)
    return PairRequest(name, **how)


def field_of(error: str, form: Mapping[str, Any]) -> str | None:
    """The field of the form whose name `error` begins with, None if there is none."""
    first = error.split(" ", 1)[0].rstrip(":")
    return first if first in form else None


def _model(text: Any, role: str) -> str:
    if not text or (isinstance(text, str) and not text.strip()):
        others = f"; as the small model also one of {', '.join(DERIVED)}"
        derived = others if role == "draft" else ""
        raise BadModel(f"{role}: enter a folder or a Hugging Face id owner/name{derived}")
    try:
        return checked_name(text)
    except BadModel as problem:
        raise BadModel(f"{role}: {problem}") from None
