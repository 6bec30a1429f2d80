"""Settings from outside become SamplingParams or raise BadSamplingParams, whose message names the
field, the value and the bound."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from sequoia.algorithm.sampling_params import BOUNDS, SamplingParams
from sequoia.errors import BadSamplingParams

NAN = float("nan")


@pytest.mark.parametrize("value", [NAN, True, "1", -1])
@pytest.mark.parametrize("name", list(BOUNDS))
def test_values_invalid_for_every_field(name: str, value: Any) -> None:
    _, low, high = BOUNDS[name]
    with pytest.raises(
        BadSamplingParams, match=rf"^{name}: .* from {low} to {high}$".replace("+", r"\+")
    ):
        SamplingParams(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", -1e-9),
        ("top_p", 0),
        ("max_new_tokens", 4097),
        ("max_new_tokens", 4.5),
        ("seed", 2**63),
    ],
)
def test_values_outside_the_bounds_of_a_field(name: str, value: float) -> None:
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
def test_the_bounds_themselves_are_valid(name: str) -> None:
    _, low, high = BOUNDS[name]
    assert getattr(SamplingParams(**{name: low}), name) == low
    assert getattr(SamplingParams(**{name: high}), name) == high


def test_parse_reads_names_and_values() -> None:
    assert SamplingParams.parse({}) == SamplingParams()
    assert SamplingParams.parse({"temperature": 0.5, "ignore_eos": True}) == SamplingParams(
        temperature=0.5, ignore_eos=True
    )


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"temprature": 1}, "'temprature'"),
        ({"x" * 9999: 1}, "x" * 40),
        ([("seed", 1)], "a list"),
    ],
)
def test_parse_rejects_invalid_settings_with_a_short_message(values: Any, words: str) -> None:
    with pytest.raises(BadSamplingParams) as caught:
        SamplingParams.parse(values)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 200


def test_the_largest_seed_is_followed_by_the_first() -> None:
    params = SamplingParams(0.6, 0.9, 7, seed=2**63 - 3, ignore_eos=True)
    assert [params.further(by).seed for by in (0, 2, 3, 1003)] == [2**63 - 3, 2**63 - 1, 0, 1000]
    assert params.further(3) == SamplingParams(0.6, 0.9, 7, seed=0, ignore_eos=True)


def test_params_are_frozen_and_can_be_pickled() -> None:
    params = SamplingParams(seed=3)
    assert pickle.loads(pickle.dumps(params)) == params
    with pytest.raises(AttributeError):
        params.seed = 4
