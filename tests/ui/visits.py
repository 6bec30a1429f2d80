"""What the tests of the page share: orders, requests, and waiting for a thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from sequoia import Policy
from ui.order import Order
from ui.trees import Wish


def order(prompt: str = "def add(a, b):\n    return", tokens: int = 24, wish: Wish | None = None, compare: bool = False,
          temperature: float = 1.0, seed: int = 1, verifier: str = "sequoia", chat: bool = False) -> Order:
    policy = Policy(temperature=temperature, max_new_tokens=tokens, seed=seed, ignore_eos=True)
    return Order(prompt, policy, wish or Wish("kary", (2, 4)), verifier, compare, chat)


def wait(true: Callable[[], Any], seconds: float = 10) -> None:
    """Until `true()`; fails after `seconds`."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.005)


def request(who: str = "one", **query: str) -> SimpleNamespace:
    """What a handler looks at of a request."""
    return SimpleNamespace(session_hash=who, query_params=query)
