"""The models: loaded in the background while the page is already up, and one line of visitors before them. Knows no page."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from sequoia import Pair, Policy, SequoiaError, default_plan

from .line import Left, Line

_log = logging.getLogger(__name__)


class NotLoaded(SequoiaError):
    """The models could not be loaded; the text says why."""


@dataclass(frozen=True)
class Status:
    """Where loading stands: "loading", "measuring", "ready" or "failed", and one line of words for it."""

    stage: str
    words: str


class EngineRoom:
    """Loads a pair once with `load`, then plans a first tree, so that the first run need not wait for it."""

    def __init__(self, load: Callable[[], Pair], waiting: int) -> None:
        self.line = Line(waiting)
        self._load, self._pair = load, None
        self._settled = threading.Event()
        self.status = Status("loading", "loading the models")

    def open(self) -> None:
        """Begin to load, in a thread of its own."""
        threading.Thread(target=self._fill, name="engine-room", daemon=True).start()

    @property
    def settled(self) -> bool:
        """True when there is nothing left to wait for."""
        return self.status.stage in ("ready", "failed")

    def pair(self, gone: Callable[[], bool]) -> Pair:
        """The pair, as soon as it is loaded. Raises NotLoaded, or Left once `gone` says so."""
        while not self._settled.wait(0.1):
            if gone():
                raise Left
        if self._pair is None:
            raise NotLoaded(f"the models could not be loaded: {self.status.words}")
        return self._pair

    def _fill(self) -> None:
        start = time.perf_counter()
        try:
            pair = self._load()
            self.status = Status("measuring", "timing the models on this machine")
            default_plan(pair, Policy())  # kept by the pair; a run that ran at the same time would disturb it
            self._pair, self.status = pair, Status("ready", words_for(pair))
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
    return f"{pair.name} pair · {sizes} · {pair.target.device.type}"


def named(pair: Pair, role: str) -> str:
    """The model's name with its size; the folders of the bundled pair are called by their role."""
    model = getattr(pair, role)
    name = f"{pair.name} {role}" if model.name == role else model.name
    return f"{name}, {_millions(model.hf.num_parameters())}"


def _millions(parameters: int) -> str:
    return f"{parameters / 1e9:.2g} B" if parameters >= 1e9 else f"{parameters / 1e6:.3g} M"
