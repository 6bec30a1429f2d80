"""A path in a message keeps its end, which tells similar paths apart."""

from __future__ import annotations

import pytest

from sequoia import load_pair
from sequoia.errors import SequoiaError
from sequoia.validate_input import MAX_PATH_SHOWN, shown

LONG = "/srv/models/of our group/checkpoints/2026-11/run-7/step-120000/final-of-seven"
VERY_LONG = "/srv/" + "models/" * 60 + "final-of-seven"


@pytest.mark.parametrize("path", [LONG, LONG.replace("/", "\\")])
def test_a_long_path_is_shown_whole(path: str) -> None:
    assert shown(path) == repr(path)


def test_a_very_long_path_keeps_its_end() -> None:
    assert shown(VERY_LONG).endswith("final-of-seven'")
    assert len(shown(VERY_LONG)) <= MAX_PATH_SHOWN + 3


@pytest.mark.parametrize("path", [LONG, VERY_LONG])
@pytest.mark.parametrize("models", [("target",), ("target", "draft")])
def test_a_model_that_is_not_there_is_named_by_the_end_of_its_path(
    path: str, models: tuple[str, ...]
) -> None:
    with pytest.raises(SequoiaError, match="final-of-seven"):
        load_pair(**dict.fromkeys(models, path), online=False)
