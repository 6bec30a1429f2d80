"""Allows each visitor one job at a time, waiting or running. The option --per-address also limits
the number of jobs from each network address. Independent of the page and of the kind of job.

A visitor is one opened page. A person who opens many pages has a single address, but so does a
whole room of people behind one router. Therefore there is no limit per address by default.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from ui.serving.sender import client_of, household
from ui.serving.sessions import Busy


class InLine(Protocol):
    """A job. in_line: whether it keeps its visitor from starting another."""

    name: str

    @property
    def in_line(self) -> bool: ...


@dataclass(frozen=True)
class _Entry:
    address: str
    job: InLine


class OneEach:
    """The waiting or running job of each visitor. per_address: the most such jobs of one address,
    or None for no limit."""

    def __init__(self, per_address: int | None = None) -> None:
        self._per_address = per_address
        self._lock = threading.Lock()
        self._entries: dict[str, _Entry] = {}

    @contextmanager
    def entering(self, who: str, request: Any, job: InLine) -> Iterator[None]:
        """The caller starts `job` of the visitor `who` inside this context. Only one visitor at a
        time can enter. Raises Busy if the visitor has a job that is `in_line`, or if their address
        has too many such jobs."""
        with self._lock:
            self._entries = {
                key: entry for key, entry in self._entries.items() if entry.job.in_line
            }
            if mine := self._entries.get(who):
                raise Busy(
                    f"one run at a time; your {mine.job.name} has not ended yet: stop it first"
                )
            address = self._address(request)
            self._require_room(address)
            yield
            self._entries[who] = _Entry(address, job)

    def _require_room(self, address: str) -> None:
        most = self._per_address
        if most is None:
            return
        if sum(entry.address == address for entry in self._entries.values()) >= most:
            runs = f"{most} run{'s' * (most != 1)}"
            raise Busy(
                f"your network address already has {runs} waiting or running, the most allowed; "
                "wait until one has ended"
            )

    def _address(self, request: Any) -> str:
        """The address that a Gradio request comes from, shortened by `household`; "" for all
        requests if there is no limit."""
        if self._per_address is None:
            return ""
        return household(client_of(request.request.scope))
