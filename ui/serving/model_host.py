"""The models: loaded in the background while the page is already up, changed for others, and one
line of visitors before them.

Knows no page.
"""

from __future__ import annotations

import gc
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from sequoia import Pair, SamplingParams, SequoiaError, default_plan, machine
from sequoia.errors import OutOfMemory
from sequoia.loading.find_pair import LoadNews, printer
from sequoia.loading.pair_checks import PassedCheck
from ui.serving.fair_queue import Cancelled, FairQueue

_log = logging.getLogger(__name__)
Load = Callable[[], Pair]


class NotLoaded(SequoiaError):
    """The models could not be loaded; the text says why."""


@dataclass(frozen=True)
class Status:
    """Where loading stands: "loading", "measuring", "ready" or "failed", and one
    line of words for it."""

    stage: str
    words: str

    @property
    def settled(self) -> bool:
        """True when there is nothing left to wait for."""
        return self.stage in ("ready", "failed")


class ModelHost:
    """Loads a pair with `load`, then plans a first tree, so that the first run need not wait for
    it.

    `version` counts the pairs that were ready; whoever holds something of a pair beyond its turn
    asks to be told in `before_unload`, which is called when a pair is to go.
    """

    def __init__(self, load: Load, waiting: int) -> None:
        self.queue = FairQueue(waiting)
        self.before_unload: list[Callable[[], None]] = []
        self.version = 0
        self._log = printer()
        self._load = load
        self._pair = None
        self._settled = threading.Event()
        self.status = Status("loading", "loading the models")

    def open(self) -> None:
        """Begin to load, in a thread of its own."""
        threading.Thread(target=self._fill, name="engine-room", daemon=True).start()

    def on_progress(self, news: LoadNews) -> None:
        """What `load` tells while it is at it; the newest is shown, and downloads are logged."""
        self._log(news)
        if not self.settled and not isinstance(news, PassedCheck):
            self.status = Status(self.status.stage, str(news))

    def status_json(self) -> str:
        """Where loading stands, as the page's header takes it."""
        status = self.status
        return json.dumps({"stage": status.stage, "words": status.words, "version": self.version})

    @property
    def settled(self) -> bool:
        return self.status.settled

    def pair(self, should_stop: Callable[[], bool]) -> Pair:
        """The pair, as soon as it is loaded. Raises NotLoaded, or Cancelled once
        `should_stop` says so."""
        self._wait(should_stop)
        if (pair := self._pair) is None:
            raise NotLoaded(f"the models could not be loaded: {self.status.words}")
        return pair

    @contextmanager
    def turn(
        self, should_stop: Callable[[], bool], on_position: Callable[[int], None]
    ) -> Iterator[Pair]:
        """The pair that is there when it is the caller's turn, for as long as the turn lasts;
        `on_position` hears the place in line. Raises NotLoaded, Busy or Cancelled."""
        self.pair(should_stop)
        with self._engine(should_stop, on_position):
            yield self.pair(should_stop)

    def change(
        self, load: Load, should_stop: Callable[[], bool], on_position: Callable[[int], None]
    ) -> Pair:
        """In turn, load another pair and serve it from then on. Whatever goes wrong, the pair that
        was there stays; where there is no room for both, it is given up first and loaded again.
        Raises what `load` raises, NotLoaded, Busy or Cancelled."""
        self._wait(should_stop)
        with self._engine(should_stop, on_position):
            before = self.status
            self._settled.clear()
            self.status = Status("loading", "loading other models")
            try:
                pair = self._beside_or_instead(load)
            except BaseException:
                self.status = before if self._pair else Status("failed", "no models are loaded")
                raise
            else:
                self._load = load
                self._serve(pair)
            finally:
                self._settled.set()
        return pair

    def _wait(self, should_stop: Callable[[], bool]) -> None:
        while not self._settled.wait(0.1):
            if should_stop():
                raise Cancelled

    @contextmanager
    def _engine(
        self, should_stop: Callable[[], bool], on_position: Callable[[int], None]
    ) -> Iterator[None]:
        with self.queue.turn(should_stop, on_position):
            # the count set for the process holds in this thread too
            torch.set_num_threads(torch.get_num_threads())
            yield

    def _beside_or_instead(self, load: Load) -> Pair:
        try:
            return self._prepared(load)
        except OutOfMemory:
            if self._pair is None:
                raise
        self._unload()
        try:
            return self._prepared(load)
        except BaseException as problem:
            self.status = Status("loading", "loading the former models again")
            try:
                self._pair = self._prepared(self._load)
            except Exception as second:
                raise NotLoaded(
                    f"{problem}; and the former models, given up to make room, could not be "
                    f"loaded again: {second}"
                ) from problem
            self.version += 1
            raise

    def _prepared(self, load: Load) -> Pair:
        """A pair with its first tree planned; a run that ran at the same time would
        disturb the times."""
        pair = load()
        self.status = Status("measuring", "timing the models on this machine")
        machine(pair)
        default_plan(
            pair.as_chat() if pair.template else pair, SamplingParams()
        )  # kept by the pair
        return pair

    def _serve(self, pair: Pair) -> None:
        self._unload()
        status = Status("ready", words_for(pair))
        self._pair = pair
        self.status = status
        self.version += 1

    def _unload(self) -> None:
        """Give the present pair up, if there is one, and with it whatever is held of
        it and its memory."""
        if self._pair is None:
            return
        self._pair = None
        for callback in self.before_unload:
            callback()
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _fill(self) -> None:
        start = time.perf_counter()
        try:
            self._serve(self._prepared(self._load))
            _log.info("models ready after %.1f s", time.perf_counter() - start)
        except SequoiaError as problem:
            self.status = Status("failed", str(problem))
        except Exception:
            _log.exception("loading failed")
            self.status = Status("failed", "an unexpected error; the server's log has the details")
        finally:
            self._settled.set()


def words_for(pair: Pair) -> str:
    """The pair in one line."""
    sizes = " + ".join(_millions(model.hf.num_parameters()) for model in (pair.target, pair.draft))
    name = " + ".join(part.rsplit("/", 1)[-1] for part in pair.name.split(" + "))
    return " · ".join(
        filter(None, (f"{name} pair", sizes, pair.target.device.type, pair.target.placement))
    )


def named(pair: Pair, role: str) -> str:
    """The model's name with its size; the folders of the bundled pair are called by their role."""
    model = getattr(pair, role)
    name = f"{pair.name} {role}" if model.name == role else model.name
    return f"{name}, {_millions(model.hf.num_parameters())}"


def made_with(meta: Mapping[str, Any], pair: Pair) -> bool:
    """Whether a run of which `meta` tells was made with the models of `pair`."""
    return all(meta.get(role) == named(pair, role) for role in ("target", "draft"))


def _millions(parameters: int) -> str:
    return f"{parameters / 1e9:.2g} B" if parameters >= 1e9 else f"{parameters / 1e6:.3g} M"
