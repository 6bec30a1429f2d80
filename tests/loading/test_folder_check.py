"""Tests the checks of a model's folder that run before any library opens it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from transformers import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from sequoia.errors import BadModel
from sequoia.loading import model_checks
from sequoia.loading.folder_check import check_config
from sequoia.loading.model_checks import check_source
from sequoia.loading.model_files import object_of


@pytest.mark.parametrize(
    "changes",
    [
        {"num_hidden_layers": 10**6},
        {"text_config": {"num_hidden_layers": 10**6}},
        {"model_type": "gpt2", "n_layer": 10**6},
        {"rope_scaling": {"long_factor": [1.0] * 70_000}},
    ],
)
def test_a_config_out_of_bounds_is_refused_before_a_library_reads_it(
    changes: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_checks, "read_config", lambda *_: pytest.fail("it was read"))
    config = json.loads((folder / "config.json").read_text()) | changes
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(BadModel, match=r"^m: \w+ in its config "):
        check_source("m", folder)


def test_the_bounds_allow_every_model_that_transformers_describes() -> None:
    """The default sizes of a type are usually those of a published model."""
    for kind in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        if kind == "gemma4_assistant":  # cannot be made without its target's config
            continue
        written = CONFIG_MAPPING[kind]().to_json_string(use_diff=False)
        check_config(object_of(written.encode(), kind), kind)
