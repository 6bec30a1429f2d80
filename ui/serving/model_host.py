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

from sequoia import Pair, Policy, SequoiaError, default_plan, machine
from sequoia.errors import OutOfMemory
from sequoia.loading.find_pair import Told, printer
from sequoia.loading.pair_checks import Passed
from ui.serving.fair_queue import Left, Line

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


class EngineRoom:
    """Loads a pair with `load`, then plans a first tree, so that the first run need not wait for
    it.

    `version` counts the pairs that were ready; whoever holds something of a pair beyond its turn
    asks to be told in `leaving`, which is called when a pair is to go.
    """

    def __init__(self, load: Load, waiting: int) -> None:
        self.line = Line(waiting)
        self.leaving: list[Callable[[], None]] = []
        self.version = 0
        self._log = printer()
        self._load = load
        self._pair = None
        self._settled = threading.Event()
        self.status = Status("loading", "loading the models")

    def open(self) -> None:
        """Begin to load, in a thread of its own."""
        threading.Thread(target=self._fill, name="engine-room", daemon=True).start()

    def hear(self, news: Told) -> None:
        """What `load` tells while it is at it; the newest is shown, and downloads are logged."""
        self._log(news)
        if not self.settled and not isinstance(news, Passed):
            self.status = Status(self.status.stage, str(news))

    def told(self) -> str:
        """Where loading stands, as the page's header takes it."""
        status = self.status
        return json.dumps({"stage": status.stage, "words": status.words, "version": self.version})

    @property
    def settled(self) -> bool:
        return self.status.settled

    def pair(self, gone: Callable[[], bool]) -> Pair:
        """The pair, as soon as it is loaded. Raises NotLoaded, or Left once `gone` says so."""
        self._wait(gone)
        if (pair := self._pair) is None:
            raise NotLoaded(f"the models could not be loaded: {self.status.words}")
        return pair

    @contextmanager
    def turn(self, gone: Callable[[], bool], tell: Callable[[int], None]) -> Iterator[Pair]:
        """The pair that is there when it is the caller's turn, for as long as the turn lasts;
        `tell` hears the place in line. Raises NotLoaded, Busy or Left."""
        self.pair(gone)
        with self._engine(gone, tell):
            yield self.pair(gone)

    def change(self, load: Load, gone: Callable[[], bool], tell: Callable[[int], None]) -> Pair:
        """In turn, load another pair and serve it from then on. Whatever goes wrong, the pair that
        was there stays; where there is no room for both, it is given up first and loaded again.
        Raises what `load` raises, NotLoaded, Busy or Left."""
        self._wait(gone)
        with self._engine(gone, tell):
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

    def _wait(self, gone: Callable[[], bool]) -> None:
        while not self._settled.wait(0.1):
            if gone():
                raise Left

    @contextmanager
    def _engine(self, gone: Callable[[], bool], tell: Callable[[int], None]) -> Iterator[None]:
        with self.line.turn(gone, tell):
            # the count set for the process holds in this thread too
            torch.set_num_threads(torch.get_num_threads())
            yield

    def _beside_or_instead(self, load: Load) -> Pair:
        try:
            return self._prepared(load)
        except OutOfMemory:
            if self._pair is None:
                raise
        self._let_go()
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
        default_plan(pair.as_chat() if pair.template else pair, Policy())  # kept by the pair
        return pair

    def _serve(self, pair: Pair) -> None:
        self._let_go()
        status = Status("ready", words_for(pair))
        self._pair = pair
        self.status = status
        self.version += 1

    def _let_go(self) -> None:
        """Give the present pair up, if there is one, and with it whatever is held of
        it and its memory."""
        if self._pair is None:
            return
        self._pair = None
        for leave in self.leaving:
            leave()
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
