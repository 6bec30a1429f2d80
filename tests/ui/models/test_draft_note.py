"""What the Models view says about the draft of the loaded pair."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fakes import save, tiny_model

from sequoia import HardwareProfile, Pair
from sequoia.loading.load import load_pair
from ui.models.view import loaded


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


def note(pair: Pair) -> str:
    """The note on the draft; "" if there is none."""
    return dict(loaded(pair)["notes"]).get("The small model", "")


@pytest.mark.parametrize(("draft_seconds", "is_faster"), [(0.1, True), (1.2, False)])
def test_a_speed_up_is_predicted_for_a_copy(
    draft_seconds: float, is_faster: bool, folders: tuple[str, str]
) -> None:
    words = note(timed(draft_seconds, folders[0], "int8", dtype="float32"))
    assert "a copy of the large model in int8 is predicted to be" in words
    assert ("faster than plain decoding" in words) is is_faster


def test_only_a_copy_has_a_note(tmp_path: Path) -> None:
    draft = save(tiny_model(seed=1), tmp_path / "small")
    target = save(tiny_model(), tmp_path / "big")
    pair = load_pair(target=target, draft=draft, device="cpu", online=False)
    assert note(pair) == ""
    copied = load_pair(target=target, draft="int8", device="cpu", online=False)
    assert "a copy of the large model in int8" in note(copied)
