"""A visitor has at most one job that is waiting or running, so nobody can fill the queue from
several views. The jobs of one address can be limited too."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ui.serving.one_each import OneEach
from ui.serving.sessions import Busy


class Stub:
    name = "race"

    def __init__(self) -> None:
        self.in_line = True


def sent_from(address: str) -> SimpleNamespace:
    """A request of Gradio that comes from `address`."""
    return SimpleNamespace(request=SimpleNamespace(scope={"client": (address, 1234)}))


def enter(one_each: OneEach, who: str, request: Any = None) -> Stub:
    job = Stub()
    with one_each.entering(who, request, job):
        pass
    return job


def test_a_second_job_is_refused_until_the_first_has_ended() -> None:
    one_each = OneEach()
    first = enter(one_each, "a")
    with pytest.raises(Busy, match="your race has not ended yet: stop it first"):
        enter(one_each, "a")
    enter(one_each, "b")
    first.in_line = False
    enter(one_each, "a")


def test_an_address_has_a_limited_number_of_jobs() -> None:
    """At most two, the limit given to `OneEach`."""
    one_each = OneEach(2)
    jobs = [enter(one_each, who, sent_from("10.0.0.1")) for who in "ab"]
    with pytest.raises(Busy, match="2 runs waiting or running"):
        enter(one_each, "c", sent_from("10.0.0.1"))
    enter(one_each, "d", sent_from("10.0.0.2"))
    jobs[0].in_line = False
    enter(one_each, "c", sent_from("10.0.0.1"))


def test_the_addresses_of_one_household_count_as_one() -> None:
    """IPv6 addresses with the same first 64 bits count as one address. An IPv4 address counts as
    the same address when it is written as IPv6."""
    one_each = OneEach(1)
    enter(one_each, "a", sent_from("2001:db8:1:2::1"))
    with pytest.raises(Busy):
        enter(one_each, "b", sent_from("2001:db8:1:2:ffff::9"))
    enter(one_each, "c", sent_from("2001:db8:1:3::1"))
    enter(one_each, "d", sent_from("::ffff:10.0.0.1"))
    enter(one_each, "e", sent_from("::ffff:10.0.0.2"))
    with pytest.raises(Busy):
        enter(one_each, "f", sent_from("10.0.0.2"))
