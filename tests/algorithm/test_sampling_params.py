"""A setting from outside is a SamplingParams or a BadSamplingParams whose message names the field,
the value and the bound."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from sequoia.algorithm.sampling_params import BOUNDS, SamplingParams
from sequoia.errors import BadSamplingParams

NAN = float("nan")
INF = float("inf")
DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]  # its text would exceed the recursion limit

# Values are built by name in the test: a runner that prints 10**5000 as a test's id would fail
# itself.
NEVER: dict[str, tuple[Any, str]] = {
    "nan": (NAN, "nan"),
    "inf": (INF, "inf"),
    "-inf": (-INF, "-inf"),
    "negative": (-1, "-1"),
    "true": (True, "True"),
    "false": (False, "False"),
    "digit": ("1", "'1'"),
    "long text": ("x" * 99, "'" + "x" * 40 + "'"),
    "none": (None, "None"),
    "no float": (10**400, "1329 bits"),
    "negative huge": (-(10**400), "1329 bits"),
    "no decimal text": (10**5000, "16610 bits"),
    "list": ([1], "a list"),
    "complex": (1j, "a complex"),
    "dict": ({}, "a dict"),
    "deep list": (DEEP, "a list"),
}


@pytest.mark.parametrize("name", list(BOUNDS))
@pytest.mark.parametrize("what", list(NEVER))
def test_what_no_field_may_be(name: str, what: str) -> None:
    """10**400 has no float and 10**5000 no decimal text in Python: both once escaped as other
    errors."""
    value, shown = NEVER[what]
    _, low, high = BOUNDS[name]
    with pytest.raises(BadSamplingParams) as caught:
        SamplingParams(**{name: value})
    message = str(caught.value)
    assert name in message
    assert shown in message
    assert f"{low} to {high}" in message
    assert len(message) < 150


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", 5.001),
        ("temperature", -1e-9),
        ("top_p", 0),
        ("top_p", 0.009),
        ("top_p", 1.0000001),
        ("max_new_tokens", 0),
        ("max_new_tokens", 4097),
        ("max_new_tokens", 4.5),
        ("seed", 4.5),
        ("seed", 2**63),
        ("seed", 9.3e18),
    ],
)
def test_outside_its_own_bound(name: str, value: float) -> None:
    _, low, high = BOUNDS[name]
    with pytest.raises(
        BadSamplingParams,
        match=f"^{name}: .*{value} is not a .*number from {low} to {high}$".replace("+", r"\+"),
    ):
        SamplingParams(**{name: value})


def test_ignore_eos_is_a_bool() -> None:
    for value in (0, 1, "true", None, 10**5000):
        with pytest.raises(BadSamplingParams, match=r"^ignore_eos: .* is neither true nor false$"):
            SamplingParams(ignore_eos=value)


@pytest.mark.parametrize("name", list(BOUNDS))
def test_bounds_themselves_are_allowed(name: str) -> None:
    _, low, high = BOUNDS[name]
    assert getattr(SamplingParams(**{name: low}), name) == low
    assert getattr(SamplingParams(**{name: high}), name) == high


def test_whole_numbers_for_floats_become_floats() -> None:
    params = SamplingParams(temperature=1, top_p=1, max_new_tokens=7, seed=2**63 - 1)
    assert [type(getattr(params, name)) for name in BOUNDS] == [float, float, int, int]


def test_parse_reads_names_and_values() -> None:
    assert SamplingParams.parse({}) == SamplingParams()
    assert SamplingParams.parse({"temperature": 0.5, "ignore_eos": True}) == SamplingParams(
        temperature=0.5, ignore_eos=True
    )


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"temprature": 1}, "'temprature'"),
        ({1: 1}, "1;"),
        ({("seed",): 1}, "a tuple"),
        ({"x" * 9999: 1}, "x" * 40),
        (dict.fromkeys(range(9999)), "0, 1, 2, 3;"),
        ({"seed": 1, None: 2}, "None"),
        ([("seed", 1)], "a list"),
        (None, "None"),
        ("seed", "'seed'"),
    ],
)
def test_parse_refuses_unknown_names_shortly(values: Any, words: str) -> None:
    with pytest.raises(BadSamplingParams) as caught:
        SamplingParams.parse(values)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 200


def test_parse_holds_the_bounds() -> None:
    with pytest.raises(BadSamplingParams, match=r"^temperature: nan is not"):
        SamplingParams.parse({"temperature": NAN})


def test_after_the_greatest_seed_comes_the_first() -> None:
    params = SamplingParams(0.6, 0.9, 7, seed=2**63 - 3, ignore_eos=True)
    assert [params.further(by).seed for by in (0, 2, 3, 1003)] == [2**63 - 3, 2**63 - 1, 0, 1000]
    assert params.further(3) == SamplingParams(0.6, 0.9, 7, seed=0, ignore_eos=True)


def test_a_policy_is_frozen_and_picklable() -> None:
    params = SamplingParams(seed=3)
    assert pickle.loads(pickle.dumps(params)) == params
    with pytest.raises(AttributeError):
        params.seed = 4
