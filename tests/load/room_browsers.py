"""What visitors with real browsers do in the load test room.py."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable

from playwright.async_api import Browser, Error, Page, TimeoutError, async_playwright
from room_findings import Findings
from room_visitors import RUNS
from running_app import CHROMIUM, FLAGS

PATIENCE = 180_000  # milliseconds to wait for an element to appear or a button to be enabled
BACK = "#{}:not([disabled])"


async def browse(url: str, findings: Findings, end: float, browsers: int) -> None:
    """Run `browsers` visitors at once until the time `end`, as of `time.monotonic`. Each uses
    windows of its own."""
    if not browsers:
        return
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        people = [
            Person(browser, url, findings, random.Random(seed)).stay(end)
            for seed in range(browsers)
        ]
        await asyncio.gather(*people)
        await browser.close()


class Person:
    """A visitor who uses one browser window after another."""

    def __init__(
        self, browser: Browser, url: str, findings: Findings, choice: random.Random
    ) -> None:
        self._browser = browser
        self._url = url
        self._findings = findings
        self._choice = choice

    async def stay(self, end: float) -> None:
        while time.monotonic() < end:
            context = await self._browser.new_context(viewport={"width": 1280, "height": 800})
            page = await context.new_page()
            page.on("console", lambda message: self._note(message.type, message.text))
            page.on("pageerror", lambda error: self._note("error", str(error)))
            try:
                await self._look_around(page, end)
            except (Error, TimeoutError) as problem:
                self._findings.without_buttons.append(f"browser: {str(problem)[:300]}")
            await context.close()

    def _note(self, kind: str, words: str) -> None:
        if kind == "error":
            self._findings.console[words[:120]] += 1

    async def _look_around(self, page: Page, end: float) -> None:
        """Do a few random things in one window. Then press Run and return at once, so that the
        window may be closed while the run still waits for its turn. Return earlier if `end` has
        passed."""
        await self._arrive(page)
        actions: list[tuple[str, Callable[[Page], Awaitable[None]]]] = [
            ("run", self._run),
            ("step", self._step),
            ("race", self._race),
            ("open", self._open),
            ("reload", self._reload),
        ]
        for _ in range(self._choice.randint(3, 8)):
            if time.monotonic() > end:
                return
            name, action = self._choice.choice(actions)
            self._findings.pressed[f"browser {name}"] += 1
            await action(page)
            await asyncio.sleep(self._choice.uniform(2, 6))
        await page.evaluate("document.querySelector('#pg-run').click()")

    async def _arrive(self, page: Page) -> None:
        self._findings.loads += 1
        answer = await page.goto(self._url)
        if answer is None or answer.status != 200:
            self._findings.refused_loads.append(f"browser: {answer and answer.status}")
        await self._see_page(page)

    async def _see_page(self, page: Page) -> None:
        """Wait until the page has built its view and a run can be started."""
        await page.wait_for_selector("[data-part=own]", state="attached", timeout=PATIENCE)
        await page.wait_for_selector(BACK.format("pg-run"), state="attached", timeout=PATIENCE)

    async def _press(self, page: Page, button: str) -> None:
        """Press a button, and wait until it is enabled again."""
        await page.evaluate(f"document.querySelector('#{button}').click()")
        await asyncio.sleep(0.5)
        await page.wait_for_selector(BACK.format(button), state="attached", timeout=PATIENCE)

    async def _run(self, page: Page) -> None:
        await self._press(page, "pg-run")

    async def _step(self, page: Page) -> None:
        await self._press(page, "pg-step")

    async def _race(self, page: Page) -> None:
        if await page.query_selector("#rc-run") is None:
            await page.get_by_role("tab", name="Race").locator("visible=true").click()
            await page.wait_for_selector("#rc-run", state="attached", timeout=PATIENCE)
        await self._press(page, "rc-run")

    async def _open(self, page: Page) -> None:
        file = str(self._choice.choice(RUNS))
        await page.set_input_files("input[type=file] >> nth=0", file)
        await self._see_page(page)

    async def _reload(self, page: Page) -> None:
        self._findings.loads += 1
        await page.reload()
        await self._see_page(page)
