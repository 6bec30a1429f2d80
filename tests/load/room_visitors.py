"""What one simulated visitor without a browser does in the load test room.py."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
from page_visitor import PageVisitor
from room_findings import Findings

RUNS = sorted((Path(__file__).resolve().parents[1] / "saved" / "runs").glob("*.json"))
STATE = "decode_watch"  # the handler whose first message is the page's first state
THINK = (5.0, 20.0)  # seconds between two presses
BUTTONS = ("pg-run", "pg-step", "rc-run")
CHOICES = {"run": 4, "step": 3, "race": 2, "open": 2, "reload": 2, "leave": 1}


async def visit(
    http: httpx.AsyncClient, config: Mapping[str, Any], findings: Findings, end: float, seed: int
) -> None:
    """Do one thing after another until the time `end`, as of `time.monotonic`. The last one may
    finish later."""
    visitor = Visitor(http, config, findings, random.Random(seed))
    await asyncio.sleep(visitor.choice.uniform(0, 10))
    await visitor.arrive()
    while time.monotonic() < end:
        await asyncio.sleep(min(visitor.choice.uniform(*THINK), max(end - time.monotonic(), 0)))
        if time.monotonic() < end:  # otherwise all visitors would press something at `end`
            await visitor.do_something()
    if visitor.page:
        await visitor.page.leave()


class Visitor:
    """One person: the page that is open, if any, and what they do next."""

    def __init__(
        self,
        http: httpx.AsyncClient,
        config: Mapping[str, Any],
        findings: Findings,
        choice: random.Random,
    ) -> None:
        self._http = http
        self._config = config
        self._findings = findings
        self.choice = choice
        self.page: PageVisitor | None = None

    async def arrive(self) -> None:
        """Open the page."""
        self._findings.loads += 1
        page = PageVisitor(self._http, self._config)
        started = time.monotonic()
        try:
            status, text, calls = await page.open()
        except httpx.HTTPError as problem:
            return self._findings.refused_loads.append(repr(problem))
        refused = [call for call in calls if call.status != 200]
        if status != 200 or refused:
            self._findings.refused_loads.append(f"{status} {refused[:1] or text[:80]}")
        if status != 200:
            return
        states = [call.messages[0][0] for call in calls if call.name == STATE and call.messages]
        self._findings.first_states += [state - started for state in states]
        if not all(f'"{name}"' in text for name in BUTTONS):
            self._findings.without_buttons.append("a button is missing in the page")
        self.page = page

    async def do_something(self) -> None:
        """Open the page if it is not open; otherwise press one button, open a file, reload or
        leave."""
        if self.page is None:
            return await self.arrive()
        (what,) = self.choice.choices([*CHOICES], [*CHOICES.values()])
        self._findings.pressed[what] += 1
        if what in ("reload", "leave"):
            await self._go(self.page, what)
        elif what == "open":
            file = self.choice.choice(RUNS)
            self._findings.add_calls(await self.page.upload("pg-open", file))
        else:
            await self._run(self.page, what)

    async def _go(self, page: PageVisitor, what: str) -> None:
        """Reload or leave. Half the time, first start a run and do not wait for its end."""
        if self.choice.random() < 0.5:
            running = asyncio.create_task(page.press("pg-run"))
            await asyncio.sleep(self.choice.uniform(0.2, 3))
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        await page.leave()
        self.page = None
        if what == "reload":
            await self.arrive()

    async def _run(self, page: PageVisitor, what: str) -> None:
        """Press a button that starts a run, and check that it is enabled again after the run."""
        button = {"run": "pg-run", "step": "pg-step", "race": "rc-run"}[what]
        page.set("pg-tokens", self.choice.choice([16, 32, 64]))
        page.set("pg-seed", self.choice.randrange(1000))
        page.set("rc-tokens", 32)
        calls = await page.press(button)
        self._findings.add_calls(calls)
        if page.prop(button, "interactive") is False:
            ended = [(call.name, call.status, call.ended is not None) for call in calls]
            self._findings.without_buttons.append(f"{button} stays off after {ended}")
