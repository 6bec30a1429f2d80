"""The catalog of named pairs: its figures are consistent."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from safetensors.torch import load_file

from sequoia.loading.model_files import is_hub_id
from sequoia.loading.pair_request import Model, Preset, presets
from sequoia.this_machine.memory import ROOM

MODELS = {model.id: model for one in presets() for model in one.models}


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda model: model.id)
def test_a_models_figures_fit_together(model: Model) -> None:
    """2 or 4 bytes for each parameter; 2-byte files may also hold buffers, or the tied output
    matrix a second time."""
    assert (
        1.99 < model.bytes / model.parameters < 2.6 or 3.99 < model.bytes / model.parameters < 4.01
    )
    assert model.bundled or is_hub_id(model.id)
    assert model.source
    assert model.licence


@pytest.mark.parametrize(
    "one",
    [one for one in presets() if "GPU" in one.needs and not one.offload],
    ids=lambda one: one.name,
)
def test_a_pair_fits_the_card_that_its_row_states(one: Preset) -> None:
    """The free memory is taken as 97% of the stated size, because a card never has all of it
    free."""
    found = re.match(r"a GPU with (\d+) GB", one.needs)
    assert found is not None
    free = int(found[1]) * 2**30 * 0.97
    assert ROOM * 2 * sum(model.parameters for model in one.models) < free


@pytest.mark.parametrize(
    "one", [one for one in presets() if one.draft.bundled], ids=lambda one: one.name
)
def test_a_draft_that_comes_with_the_program_is_of_its_target(one: Preset) -> None:
    folder = Path(one.draft.ref)
    identity = json.loads((folder / "draft_of.json").read_text(encoding="utf-8"))
    assert identity["target"] == one.target.id
    files = [*folder.glob("*.safetensors")]
    assert sum(file.stat().st_size for file in files) == one.draft.bytes
    tensors = [load_file(file) for file in files]
    parameters = sum(w.numel() for some in tensors for w in some.values() if w.is_floating_point())
    assert parameters == one.draft.parameters
