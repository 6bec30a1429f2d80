"""Attacks one app with request bodies of up to 1 GB, a thousand uploads, five hundred damaged files
and twelve large files.

    python tests/load/hostile_requests.py [--bodies 100] [--uploads 1000] [--files 500] [--large 30]

--large is the size of a large file in MB. Prints how much memory the app took meanwhile and how
long another visitor waited, each beside its goal. The exit status is 0 only if all goals are
reached.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from damaged_files import Damaged, damaged_files, large_files
from goals import Goal, percentile, report
from measured_app import MB, MeasuredApp
from others import others
from page_visitor import API, PageVisitor

GROWTH = 300  # MB that the app may take above what it takes at rest
WAIT = 0.3  # seconds that another visitor may wait
AT_REST = 10.0  # seconds measured without hostile requests, for comparison
TOGETHER = 8  # requests at once
PIECE = 64 * 1024
OPENERS = {"runs": "pg-open", "races": "rc-open", "profiles": "hw-open", "trees": "pg-open"}
FILLS = {"lists": b"[],", "objects": b'{"a":1},', "deep": b"[", "spaces": b" ", "digits": b"9"}
ROUTES = ("queue/join", "run/predict", "upload", "component_server", "call/run", "cancel")


@contextmanager
def phase(app: MeasuredApp, name: str, goals: list[Goal]) -> Iterator[None]:
    """While the context lasts, watches the app's memory and how long other visitors wait. Then adds
    to `goals` one goal for the memory and one for the wait."""
    rest = app.taken().memory
    with app.watched() as points, others(app.url) as waits:
        yield
    most = max(memory for _, memory in points)
    note = f"{rest / MB:.0f} MB at rest; {(app.taken().memory - rest) / MB:+.0f} MB left behind"
    goals.append(Goal(f"{name}: MB above rest", (most - rest) / MB, GROWTH, note=note))
    p50, p95 = (percentile(waits, part) for part in (0.5, 0.95))
    note = f"median {p50:.3f}, 95 % {p95:.3f}, {len(waits)} calls"
    goals.append(Goal(f"{name}: others' longest wait in s", max(waits), WAIT, note=note))


async def together(jobs: list[Callable[[], Awaitable[str]]], most: int = TOGETHER) -> Counter[str]:
    """Run all jobs, at most `most` at a time. Returns how often each answer came."""
    free = asyncio.Semaphore(most)

    async def one(job: Callable[[], Awaitable[str]]) -> str:
        async with free:
            try:
                return await job()
            except httpx.HTTPError as problem:
                return type(problem).__name__

    return Counter(await asyncio.gather(*map(one, jobs)))


def is_failure(answer: str) -> bool:
    """Whether `answer` (an HTTP status, words, or the name of an exception) means that the server
    failed or did not answer."""
    return answer.startswith(("5", "FAILED")) or answer.endswith(("Error", "Timeout"))


# -- bodies ----------------------------------------------------------------------------------------


async def pieces(fill: bytes, size: int) -> AsyncIterator[bytes]:
    piece = fill * (PIECE // len(fill))
    for start in range(0, size, len(piece)):
        yield piece[: size - start]


async def send_bodies(http: httpx.AsyncClient, count: int) -> Counter[str]:
    """Bodies of 10 kB to 1 GB; half of them do not declare their size."""

    def send(number: int) -> Callable[[], Awaitable[str]]:
        size = int(10_000 * 100_000 ** (number / max(count - 1, 1)))
        fill = [*FILLS.values()][number % len(FILLS)]
        headers = {"content-type": "application/json"}
        if number % 2:
            headers["content-length"] = str(size)

        async def job() -> str:
            address = API + ROUTES[number % len(ROUTES)]
            try:
                answer = await http.post(address, content=pieces(fill, size), headers=headers)
            except (httpx.ReadError, httpx.WriteError):
                return "cut off"  # a body that is too large is refused before its end
            return str(answer.status_code)

        return job

    return await together([send(number) for number in range(count)])


# -- uploads ---------------------------------------------------------------------------------------


async def send_uploads(http: httpx.AsyncClient, count: int) -> Counter[str]:
    """Files of 1 kB to 2 MB from fifty addresses."""

    def send(number: int) -> Callable[[], Awaitable[str]]:
        choice = random.Random(number)
        data = choice.randbytes(int(1000 * 2000 ** choice.random()))
        headers = {"x-forwarded-for": f"198.51.100.{number % 50}"}

        async def job() -> str:
            files = {"files": (f"{number}.json", data, "application/json")}
            answer = await http.post(f"{API}upload", files=files, headers=headers)
            return str(answer.status_code)

        return job

    return await together([send(number) for number in range(count)])


# -- files -----------------------------------------------------------------------------------------


async def open_files(http: httpx.AsyncClient, files: list[Damaged], most: int) -> Counter[str]:
    """Open each file in the view of its kind. Returns how often each outcome occurred."""
    config = (await http.get("config")).json()

    def send(file: Damaged) -> Callable[[], Awaitable[str]]:
        async def job() -> str:
            with tempfile.NamedTemporaryFile(suffix=".json") as named:
                await asyncio.to_thread(named.write, file.data)
                named.flush()
                page = PageVisitor(http, config)
                start = time.monotonic()
                calls = await page.upload(OPENERS[file.kind], Path(named.name))
                await page.leave()
            call = calls[0]
            seconds = time.monotonic() - start
            if not 0 < call.status < 500:  # 0: no answer came
                return f"FAILED with {call.status}"
            if call.status != 200:
                return f"upload refused with {call.status}"
            if call.ended is None or not call.stage:
                return f"FAILED: {file.kind}, {file.how}"
            error = call.stage[-1][1].get("error")
            if "large" in file.how:
                print(f"  {file.how}, {len(file.data) / MB:.0f} MB: {seconds:.1f} s, {error}")
            return "refused in words" if error else "opened"

        return job

    return await together([send(file) for file in files], most)


# -- all -------------------------------------------------------------------------------------------


async def attack(app: MeasuredApp, arguments: argparse.Namespace) -> list[Goal]:
    """Send all requests, one kind after another."""
    goals: list[Goal] = []
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    async with httpx.AsyncClient(
        base_url=app.url, timeout=300, trust_env=False, limits=limits
    ) as http:
        warm = await open_files(http, [*damaged_files(20)], 4)
        print("warm-up:", dict(warm))
        with phase(app, "at rest", goals):
            await asyncio.sleep(AT_REST)
        for name, job in (
            ("bodies", lambda: send_bodies(http, arguments.bodies)),
            ("uploads", lambda: send_uploads(http, arguments.uploads)),
            ("files", lambda: open_files(http, [*damaged_files(arguments.files)], TOGETHER)),
            ("large files", lambda: open_files(http, [*large_files(arguments.large)], 1)),
        ):
            start = time.monotonic()
            with phase(app, name, goals):
                answers = await job()
            failed = sum(count for answer, count in answers.items() if is_failure(answer))
            print(f"{name}: {time.monotonic() - start:.0f} s, {dict(answers)}", flush=True)
            goals.append(Goal(f"{name}: failed or not answered", failed, 0))
    return goals


def main() -> int:
    made = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    for name, number in (("bodies", 100), ("uploads", 1000), ("files", 500), ("large", 30)):
        made.add_argument(f"--{name}", type=int, default=number)
    arguments = made.parse_args()
    app = MeasuredApp("--trusted-proxy", "127.0.0.1")
    try:
        app.answer(600)
        app.await_models()
        goals = asyncio.run(attack(app, arguments))
        failures = [line for line in app.lines if "Traceback" in line or "handler failed" in line]
        print(*failures[:10], sep="")
        return report([*goals, Goal("unexpected errors in the log", len(failures), 0)])
    finally:
        app.stop()


if __name__ == "__main__":
    sys.exit(main())
