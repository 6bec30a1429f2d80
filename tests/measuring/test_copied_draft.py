"""Predictions about a copy of the target as the draft."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fakes import same_pair, save, tiny_model

from sequoia import HardwareProfile, Pair
from sequoia.loading.load import load_pair
from sequoia.measuring import copied_draft
from sequoia.measuring.copied_draft import draft_note


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    base = tmp_path_factory.mktemp("models")
    return save(tiny_model(), base / "big"), save(tiny_model(seed=1), base / "other")


def timed(draft_seconds: float, target: str, draft: str, **options: Any) -> Pair:
    """A pair with a profile: a target pass takes a second, whatever its size."""
    pair = load_pair(target=target, draft=draft, device="cpu", online=False, **options)
    pair.measured.profile = HardwareProfile(
        device="a machine",
        dtype="float32",
        target="big",
        draft="small",
        prefix_length=8,
        target_seconds=((1, 1.0, 0.0), (128, 1.0, 0.0)),
        draft_seconds=((1, draft_seconds, 0.0),),
        source="measured",
        date="2026-11-28",
    )
    return pair


@pytest.mark.parametrize(("draft_seconds", "is_faster"), [(0.1, True), (1.2, False)])
def test_a_speed_up_is_predicted_for_a_copy(
    draft_seconds: float, is_faster: bool, folders: tuple[str, str]
) -> None:
    note = draft_note(timed(draft_seconds, folders[0], "int8", dtype="float32"))
    assert (note.code, note.numbers) == ("copy", "int8")
    assert (note.speedup > 1) is is_faster


@pytest.mark.parametrize(("draft_seconds", "better"), [(0.001, True), (8.0, False)])
def test_a_copy_is_advised_where_a_gain_is_predicted(
    draft_seconds: float, better: bool, folders: tuple[str, str]
) -> None:
    """The target is streamed, and a draft of other weights is seldom accepted."""
    note = draft_note(timed(draft_seconds, *folders, offload=0, dtype="float32"))
    assert (note is not None) is better
    if note:
        assert note.code == "better_copy"
        assert note.speedup > note.now


def test_no_copy_is_advised_that_does_not_fit(
    folders: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = timed(0.001, *folders, offload=0, dtype="float32")
    monkeypatch.setattr(copied_draft, "total_bytes", lambda _: 1000)
    assert draft_note(pair) is None


def test_a_draft_that_is_the_target_is_named() -> None:
    assert draft_note(same_pair()).code == "same"


def test_a_copy_of_the_bundled_target_is_told_from_a_draft_in_int8(tmp_path: Path) -> None:
    """A small draft may run in int8, too, because that was measured as the fastest."""
    draft = save(tiny_model(seed=1), tmp_path / "small")
    target = save(tiny_model(), tmp_path / "big")
    pair = load_pair(target=target, draft=draft, device="cpu", online=False)
    assert not copied_draft.is_copy(pair)
    copied = load_pair(target=target, draft="int8", device="cpu", online=False)
    assert copied_draft.is_copy(copied)
