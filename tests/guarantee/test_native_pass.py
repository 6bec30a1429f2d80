"""The native pass on a CPU: the logits of `transformers`, and the same bits however a text is split
into passes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from doors import Tree, bare_logits, faster, layout, model, native, rounded, three_passes

TEXT = [5 * i % 288 for i in range(90)]
TREE = Tree((-1, 0, 0, 0, 1, 1, 2, 4, 4, 7, 9))


@pytest.fixture(params=[1, 2, 3], ids=lambda n: f"{n} threads")
def _threads(request: pytest.FixtureRequest) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("head_dim", [16, 32, 64, 80, 96, 128])
@pytest.mark.parametrize("kv_heads", [1, 4])
@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3"])
def test_same_logits_as_transformers(kind: str, kv_heads: int, head_dim: int) -> None:
    tiny = model(kind, kv_heads=kv_heads, head_dim=head_dim, vocab=275)
    torch.testing.assert_close(three_passes(native(tiny)), three_passes(tiny), atol=1e-4, rtol=1e-4)


def test_bfloat16_is_as_near_to_float32_as_transformers() -> None:
    exact = three_passes(model(head_dim=16))
    half = model(head_dim=16, dtype=torch.bfloat16)
    errors = [(three_passes(one).float() - exact).abs().mean() for one in (native(half), half)]
    assert errors[0] <= 1.2 * errors[1]


@pytest.mark.parametrize(("dtype", "far"), [(torch.float32, 1e-5), (torch.bfloat16, 0.03)])
def test_rounded_weights_are_those_of_seven_bits(dtype: torch.dtype, far: float) -> None:
    found = three_passes(rounded(model(head_dim=32, vocab=275, dtype=dtype))).float()
    tiny = model(head_dim=32, vocab=275)
    for layer in tiny.hf.modules():
        if isinstance(layer, torch.nn.Linear):
            weight = layer.weight.to(dtype).float()
            step = weight.abs().amax(1, keepdim=True) / 63
            layer.weight.data = (weight / step).round() * step
    assert (found - three_passes(tiny)).abs().mean() < far


def test_it_is_used_if_the_machine_can_compile_it() -> None:
    tiny = model(head_dim=16)
    native(tiny)  # skips without a compiler
    assert faster(tiny).forward_name == "native"


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_node_gets_the_bits_that_its_text_gets_in_plain_decoding(dtype: torch.dtype) -> None:
    tiny = native(model(head_dim=16, dtype=dtype))
    context = tiny.open(200)
    context.extend(TEXT)
    tokens = [7 + 3 * i for i in range(len(TREE))]
    rows = context.forward(tokens, layout(context, TREE))
    for node, row in enumerate(rows):
        plain = tiny.open(200)
        found = [plain.extend([one]) for one in (*TEXT, *(tokens[one] for one in TREE.path(node)))]
        assert torch.equal(row, found[-1]), node


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_prompt_gets_the_same_bits_in_passes_of_any_size(dtype: torch.dtype) -> None:
    tiny = native(model(head_dim=32, dtype=dtype))
    whole = tiny.open(200).extend(TEXT)
    for size in (1, 2, 5, 7, 16, 61):
        context = tiny.open(200)
        found = [context.extend(TEXT[i : i + size]) for i in range(0, len(TEXT), size)]
        assert torch.equal(found[-1], whole), size


@pytest.mark.usefixtures("_threads")
def test_passes_of_several_runs_at_once_do_not_disturb_each_other() -> None:
    tiny = native(model(head_dim=16))
    whole = tiny.open(200).extend(TEXT)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: tiny.open(200).extend(TEXT), range(40)))
    assert all(torch.equal(one, whole) for one in found)


def test_tokens_and_slots_that_do_not_exist_are_refused() -> None:
    """The native call reads and writes memory by address, so Python checks what it gets."""
    tiny = native(model(head_dim=16))
    with pytest.raises(IndexError):
        tiny.open(20).extend([288])
    context = tiny.open(8)
    context.extend([1, 2, 3, 4])
    with pytest.raises((IndexError, RuntimeError)):
        context.forward([1] * len(TREE), layout(context, TREE))


def test_long_texts_have_the_positions_of_transformers() -> None:
    tiny = model(head_dim=16, context=2048)
    tokens = [i % 200 for i in range(1100)]
    found = native(tiny).open(1200).extend(tokens)
    torch.testing.assert_close(found, bare_logits(tiny, tokens)[-1], atol=1e-4, rtol=1e-4)
