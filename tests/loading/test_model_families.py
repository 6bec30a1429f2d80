"""Which model classes of `transformers` can verify a token tree. For each class that can, a tiny
random model is saved and loaded with `load_pair`. Its text must be the same with trees as with
plain decoding. Classes that cannot must be refused with the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from fakes import WIDTH, _draw, noisy, save
from transformers import AutoModelForCausalLM

from sequoia import SamplingParams, Tree, load_pair, plain, speculate
from sequoia.errors import BadModel
from sequoia.loading.find_pair import LoadNews
from sequoia.loading.model_checks import PassedCheck

VOCAB = 288
CONTEXT = 256
TOKENS = 16
TOKEN_IDS = {"vocab_size": VOCAB, "eos_token_id": 0, "bos_token_id": 1, "pad_token_id": None}
USUAL = {
    **TOKEN_IDS,
    "hidden_size": WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 2 * WIDTH,
    "max_position_embeddings": CONTEXT,
}
SHARED = {**USUAL, "num_key_value_heads": 2}  # query heads share keys and values
GPT = {**TOKEN_IDS, "n_embd": WIDTH, "n_layer": 2, "n_head": 4, "n_positions": CONTEXT}
EXPERTS = {**SHARED, "num_experts_per_tok": 2}

RUN = {  # config class: its arguments
    "LlamaConfig": SHARED,
    "MistralConfig": {**SHARED, "sliding_window": None},
    "Qwen2Config": SHARED,
    "Qwen3Config": {**SHARED, "head_dim": 8},
    "GPTNeoXConfig": {**USUAL, "rotary_pct": 0.25},
    "GPT2Config": GPT,
    "PhiConfig": USUAL,
    "Phi3Config": {**SHARED, "sliding_window": None},
    "SmolLM3Config": SHARED,
    "GemmaConfig": {**SHARED, "head_dim": 8},
    "Olmo2Config": SHARED,
    "StableLmConfig": SHARED,
    "Starcoder2Config": {**SHARED, "sliding_window": None},
    "GraniteConfig": SHARED,
    "CohereConfig": SHARED,
    "Glm4Config": {**SHARED, "head_dim": 8},
    "FalconConfig": {**USUAL},
    "GPTBigCodeConfig": GPT,
    "OPTConfig": {**USUAL, "ffn_dim": 2 * WIDTH, "word_embed_proj_dim": WIDTH},
    "MixtralConfig": {**EXPERTS, "num_local_experts": 4, "sliding_window": None},
    "Qwen3MoeConfig": {**EXPERTS, "num_experts": 4, "moe_intermediate_size": WIDTH, "head_dim": 8},
}
# classes whose own code computes attention, without PyTorch's function for it
WRITTEN_OUT = {"GPTJConfig": {**GPT, "rotary_dim": 4}, "CodeGenConfig": {**GPT, "rotary_dim": 4}}
HYBRID = {"num_hidden_layers": 4, "hidden_size": WIDTH, "vocab_size": VOCAB}
REFUSED = {
    "Qwen3_5TextConfig": (HYBRID, "type “linear_attention”"),
    "GraniteMoeHybridConfig": (
        {**HYBRID, "mamba_n_heads": 8, "layer_types": ["mamba", "attention"] * 2},
        "; a tree works only with full",
    ),
    "Lfm2Config": (
        {**HYBRID, "layer_types": ["conv", "conv", "full_attention", "conv"]},
        "type “conv”",
    ),
    "GptOssConfig": (HYBRID, "type “sliding_attention”"),
    "GPTNeoConfig": ({"attention_types": [[["global", "local"], 12]]}, "layers of local attention"),
    "BloomConfig": ({}, r"order of tokens \(ALiBi\)"),
    "FalconConfig": ({"alibi": True}, r"order of tokens \(ALiBi\)"),
    "MambaConfig": ({}, "mamba.*linear_attention|recurrent"),
    "T5Config": ({}, "t5.*encoder-decoder"),
    "MusicgenConfig": ({}, "musicgen.*generates audio"),
    "BertConfig": ({}, "bert.*is an encoder"),
    "RobertaConfig": ({}, "roberta.*is an encoder"),
    "OpenAIGPTConfig": ({}, r"\(openai-gpt\) has no KV cache"),
    "ViTConfig": ({}, "vit.*no causal language model"),
}


def tiny(name: str, shape: dict[str, Any], folder: Path) -> tuple[str, str]:
    """Folders of a random target with the config class `name`, and of a draft that is nearly the
    same."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        model = AutoModelForCausalLM.from_config(getattr(transformers, name)(**shape)).eval()
        for key, weight in model.named_parameters():
            _draw(key, weight)
    return save(model, folder / "target"), save(noisy(model, 0.05), folder / "draft")


@pytest.mark.parametrize("name", [*RUN, *WRITTEN_OUT])
def test_a_tiny_model_of_each_class_decodes_losslessly(name: str, tmp_path: Path) -> None:
    """A class with a wrong mask, position or cache layout would change the greedy text within a few
    steps."""
    reported: list[LoadNews] = []
    target, draft = tiny(name, {**RUN, **WRITTEN_OUT}[name], tmp_path)
    pair = load_pair(
        target=target, draft=draft, device="cpu", dtype="float32", on_progress=reported.append
    )
    params = SamplingParams(max_new_tokens=TOKENS, ignore_eos=True)
    steps = list(speculate(pair, "def f(x):", params, Tree.kary(2, 3)))
    assert sum((step.emitted for step in steps), ()) == sum(
        (step.emitted for step in plain(pair, "def f(x):", params)), ()
    )
    assert len(steps) < TOKENS, "nothing was ever accepted"
    words = next(
        news.words for news in reported if isinstance(news, PassedCheck) and news.what == "target"
    )
    assert ("this program's own forward pass" in words) or (
        ("eager attention" in words) == (name in WRITTEN_OUT)
    )


@pytest.mark.parametrize("name", REFUSED)
def test_a_class_that_cannot_verify_trees_is_refused_with_the_reason(
    name: str, tmp_path: Path
) -> None:
    shape, reason = REFUSED[name]
    getattr(transformers, name)(**shape).save_pretrained(tmp_path / "model")
    with pytest.raises(BadModel, match=reason):
        load_pair(target=str(tmp_path / "model"), draft=str(tmp_path / "model"), device="cpu")
