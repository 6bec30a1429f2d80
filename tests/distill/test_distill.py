"""The command that makes a draft, with a tiny target."""

from __future__ import annotations

import shutil
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

from sequoia.assets_folder import BUNDLED_PAIR
from sequoia.distill import __main__ as command
from sequoia.distill import teach
from sequoia.distill.shards import Taught, batches, most_frequent, read_shard, write_shard
from sequoia.distill.teach import Teacher, held_out_topics, read, texts_by_kind
from sequoia.distill.train import TEMPERATURES, Training, compared
from sequoia.loading.layer_drafts import cut_config, cut_layers, layer_draft
from sequoia.loading.prompt_setup import with_prompts
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel
from sequoia.this_machine.dtypes import narrowest_dtype


def small_target() -> Any:
    torch.manual_seed(0)
    config = LlamaConfig(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        vocab_size=4096,
        tie_word_embeddings=True,
        initializer_range=0.6,
        bos_token_id=0,
        eos_token_id=0,
    )
    return LlamaForCausalLM(config).eval()


def small_draft(target: Any) -> Any:
    return layer_draft(target, cut_config(target.config, [0, 3]), cut_layers(target, [0, 3]))


STATE = "training/state.pt"


def rounded(model: Any) -> Any:
    """`model` in float32, with weights rounded as in its files."""
    for weight in model.parameters():
        weight.data = weight.data.to(narrowest_dtype(weight.device)).float()
    return model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny target's folder."""
    path = tmp_path_factory.mktemp("target")
    small_target().save_pretrained(path)
    AutoTokenizer.from_pretrained(BUNDLED_PAIR / "target").save_pretrained(path)
    return path


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teach, "_TEXTS", 4)
    monkeypatch.setattr(teach, "_TOKENS", 24)
    monkeypatch.setattr(teach, "_DRAWN", 50)


def run(folder: Path, out: Path, *more: str) -> int:
    return command.main(["--target", str(folder), "--out", str(out), "--batch", "4", *more])


def shards(out: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in out.glob("training/shards/**/*.pt")}


def test_a_second_run_goes_on_where_the_first_stopped(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("One two three. " * 50)
    assert run(folder, tmp_path, "--texts", str(text), "--minutes", "0.02") == 0
    state = torch.load(tmp_path / STATE)
    before = shards(tmp_path)
    assert run(folder, tmp_path, "--texts", str(text), "--minutes", "0.04") == 0
    assert torch.load(tmp_path / STATE)["progress"][0] > state["progress"][0]
    assert shards(tmp_path).items() >= before.items()
    printed = capsys.readouterr().out
    assert printed.count("held out: sum of min(p, q) of chat, T=0.6: ") == 2
    assert run(folder, tmp_path, "--measure") == 0
    measured = capsys.readouterr().out
    assert measured.count("chat, T=") == 3
    assert "taught" not in measured


@pytest.mark.nightly
def test_without_its_state_a_run_goes_on_from_the_drafts_layers(
    folder: Path, tmp_path: Path
) -> None:
    assert run(folder, tmp_path, "--minutes", "0.001", "--frequent", "100") == 0
    shutil.rmtree(tmp_path / "training")
    file = tmp_path / "model.safetensors"
    tensors = load_file(file)
    tensors["model.layers.0.mlp.up_proj.weight"] += 1
    save_file(tensors, file, {"format": "pt"})
    assert run(folder, tmp_path, "--minutes", "0.001", "--frequent", "100") == 0
    found = load_file(file)
    assert len(found.pop("frequent_tokens")) == 100
    for name, weight in found.items():
        assert torch.allclose(weight.float(), tensors[name].float(), atol=0.05)


def test_the_whole_model_is_an_ordinary_one(folder: Path, tmp_path: Path) -> None:
    assert run(folder, tmp_path, "--minutes", "0.02", "--whole", "--layers", "0", "3") == 0
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    assert loaded.config.num_hidden_layers == 2
    assert AutoTokenizer.from_pretrained(tmp_path).vocab_size == 4096
    draft = small_draft(small_target())
    state = torch.load(tmp_path / STATE)
    draft.model.layers.load_state_dict(state["layers"])
    ids = torch.tensor([[5, 6, 7]])
    assert torch.allclose(loaded(ids).logits, rounded(draft)(ids).logits, atol=1e-3)


def test_layers_that_the_target_lacks_are_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, tmp_path, "--layers", "0", "4") == 2
    assert "--layers: the target has the layers 0 to 3" in capsys.readouterr().err


def test_the_target_writes_chats_with_their_questions(tmp_path: Path) -> None:
    """They begin as the template begins, have distributions from there on, and name no topic that
    is held out."""
    target = small_target()
    tokenizer = AutoTokenizer.from_pretrained(BUNDLED_PAIR / "target")
    tokenizer.chat_template = "User: {{ messages[0].content }} Answer:"
    model = TreeModel(target, "tiny")
    pair = with_prompts(Pair("", model, model, tokenizer), lambda _: None)
    chats = Teacher(pair, tmp_path, []).taught("chat", held_out=False, number=2)
    assert chats
    for chat in chats:
        text = tokenizer.decode(chat.tokens)
        assert text.startswith("User:")
        assert len(chat.tokens) == chat.begin + 1 + 24
        assert not held_out_topics().search(text)
    assert held_out_topics().search("Is THE SEA deep?")
    assert not held_out_topics().search("the seaside")


def taught(target: Any, count: int, seed: int = 0) -> list[Any]:
    torch.manual_seed(seed)
    return read(target, torch.randint(4096, (count, 24)))


def shard(folder: Path, target: Any, count: int) -> None:
    write_shard(folder / "chat-00000.pt", taught(target, count))


def test_training_makes_the_draft_more_like_the_target(tmp_path: Path) -> None:
    target = small_target()
    shard(tmp_path, target, 4)
    training = Training(small_draft(target), tmp_path / "states/one")
    target.lm_head.weight.requires_grad_()  # as after teaching; it is the embedding too
    texts = batches(tmp_path, 4, 0)
    found = [training.step(next(texts), 0) for _ in range(60)]
    assert all(weight.grad is None for weight in target.parameters())
    assert found[-1][0] < found[0][0] * 0.75
    assert found[-1][1] > found[0][1] + 0.1


def test_a_resumed_training_takes_the_same_steps(tmp_path: Path) -> None:
    target = small_target()
    shard(tmp_path, target, 8)

    def losses(training: Training, count: int) -> list[float]:
        texts = batches(tmp_path, 2, training.steps)
        return [training.step(next(texts), 0.9)[0] for _ in range(count)]

    straight = Training(small_draft(target), tmp_path / "states/none")
    losses(straight, 37)
    first = Training(small_draft(target), tmp_path / "states/one")
    losses(first, 37)
    first.save()
    resumed = Training(small_draft(target), tmp_path / "states/one")
    assert (resumed.steps, resumed.tokens) == (37, straight.tokens)
    assert losses(resumed, 1) == losses(straight, 1)


@torch.no_grad()
def test_divergence_and_overlap_are_those_of_the_whole_distributions() -> None:
    """Except that all tokens that the teacher does not list count as one. The random tokens that
    stand for them give nearly what all of them give."""
    target = small_target()
    draft = small_draft(target)
    texts = taught(target, 8)
    tokens = torch.stack([text.tokens for text in texts])
    ids = torch.stack([text.ids for text in texts]).long()
    logits = [model(tokens).logits for model in (target, draft)]
    p, q = (one.softmax(-1).gather(2, ids) for one in logits)
    sums = []
    for heat in TEMPERATURES:
        heated = [(one / heat).softmax(-1).gather(2, ids) for one in logits]
        if heat != 1:
            heated[0] = heated[0] / heated[0].sum(-1, keepdim=True)
        sums.append(float(torch.minimum(*heated).sum(-1).mean()))
    rest_p, rest_q = 1 - p.sum(-1), 1 - q.sum(-1)
    expected = (p * (p / q).log()).sum(-1) + rest_p * (rest_p / rest_q).log()
    for others in (1000, 100_000):
        found, overlap = compared(draft, texts, torch.Generator(), others)
        assert float(found.mean()) == pytest.approx(float(expected.mean()), rel=0.05)
        assert overlap.mean(1).tolist() == pytest.approx(sums, rel=0.05)


def test_shards_give_back_their_texts(tmp_path: Path) -> None:
    target = small_target()
    shard(tmp_path, target, 3)
    for text, found in zip(taught(target, 3), read_shard(tmp_path / "chat-00000.pt"), strict=True):
        assert found.tokens.tolist() == text.tokens.tolist()
        assert torch.equal(found.ids, text.ids)
        assert torch.equal(found.logs, text.logs)
        assert found.begin == text.begin


def test_batches_have_the_shares_of_the_kinds(tmp_path: Path) -> None:
    nothing = torch.zeros(1)
    for kind, token in (("chat", 5), ("code", 50)):
        text = Taught(torch.tensor([token]), nothing, nothing, 0)
        write_shard(tmp_path / f"{kind}-00000.pt", [text])
    texts = [text for batch in islice(batches(tmp_path, 8, 0), 80) for text in batch]
    assert len(texts) == 640
    assert 0.8 < fmean(int(text.tokens[0]) == 5 for text in texts) < 0.92


def test_the_most_frequent_tokens_come_from_the_shards(tmp_path: Path) -> None:
    nothing = torch.zeros(1)
    texts = [Taught(torch.tensor([9, 9, 7, 7, 7, 5]), nothing, nothing, 0)]
    write_shard(tmp_path / "chat-00000.pt", texts)
    assert most_frequent(tmp_path, 4, 12).tolist() == [0, 5, 7, 9]


def test_files_are_held_out_by_their_content(tmp_path: Path) -> None:
    rows = [f"text {number}" for number in range(400)]
    file = tmp_path / "texts.jsonl"
    file.write_text("".join(f'{{"text": "{row}", "kind": "code"}}\n' for row in rows))
    used, held_out = texts_by_kind([file])["code"]
    assert sorted(used + held_out) == sorted(rows)
    assert 2 < len(held_out) < 25
    file.write_text("".join(f'{{"text": "{row}", "kind": "code"}}\n' for row in rows[200:]))
    assert {*texts_by_kind([file])["code"][1]} <= {*held_out}
