"""A forward pass runs without cuDNN's attention. torch has only a process-wide setting for this, so
the pass restores it afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from fakes import tiny_model

from sequoia.models.compare_logits import own_logits
from sequoia.models.tree_forward import TreeModel, without_cudnn_attention

cuda = torch.backends.cuda
PASSES: dict[str, Callable[[TreeModel], object]] = {
    "in a tree": lambda model: model.open(16).extend([1, 2, 3]),
    "bare": lambda model: own_logits(model, [1, 2, 3]),
}


@pytest.fixture(params=[True, False], autouse=True)
def usual(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Whether the process allows cuDNN's attention."""
    before = cuda.cudnn_sdp_enabled()
    cuda.enable_cudnn_sdp(request.param)
    yield request.param
    cuda.enable_cudnn_sdp(before)


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_switches_cudnn_attention_off_and_restores_it(name: str, usual: bool) -> None:
    model = TreeModel(tiny_model("qwen3"), "one")
    seen = list[bool]()
    model.hf.register_forward_pre_hook(lambda *_: seen.append(cuda.cudnn_sdp_enabled()))
    PASSES[name](model)
    assert seen == [False]
    assert cuda.cudnn_sdp_enabled() is usual


def test_a_pass_that_fails_restores_the_setting_too(usual: bool) -> None:
    with pytest.raises(RuntimeError, match="broken"), without_cudnn_attention():
        raise RuntimeError("broken")
    assert cuda.cudnn_sdp_enabled() is usual
