"""The command that makes a draft, with a tiny target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

from sequoia.assets_folder import BUNDLED_PAIR
from sequoia.distill import command, lessons
from sequoia.distill.feed import Feed
from sequoia.distill.lessons import is_held_out, texts_by_kind
from sequoia.distill.shards import Shard, shard_path, write
from sequoia.distill.teacher import read
from sequoia.distill.train import Training, batch_of, compared
from sequoia.models.layer_draft import cut_config, cut_layers, layer_draft
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
    monkeypatch.setattr(lessons, "_TEXTS", 4)
    monkeypatch.setattr(lessons, "_TOKENS", 24)
    monkeypatch.setattr(command, "_STEPS", 2)


def run(folder: Path, out: Path, *more: str) -> int:
    return command.main(["--target", str(folder), "--out", str(out), "--batch", "4", *more])


def shards(out: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in out.rglob("shards/**/*.safetensors")}


def test_a_second_run_goes_on_where_the_first_stopped(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("One two three. " * 50)
    assert run(folder, tmp_path, "--texts", str(text), "--minutes", "0.02") == 0
    state = torch.load(tmp_path / "state.pt")
    before = shards(tmp_path)
    assert run(folder, tmp_path, "--texts", str(text), "--minutes", "0.04") == 0
    assert torch.load(tmp_path / "state.pt")["progress"][0] > state["progress"][0]
    assert shards(tmp_path).items() >= before.items()
    printed = capsys.readouterr().out
    assert "step 2," in printed
    assert printed.count("sum of min(p, q) on held-out texts") == 2
    assert run(folder, tmp_path, "--measure") == 0
    assert "chat    T=0: " in capsys.readouterr().out


def test_the_whole_model_is_an_ordinary_one(folder: Path, tmp_path: Path) -> None:
    assert run(folder, tmp_path, "--minutes", "0.02", "--whole", "--layers", "0,3") == 0
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    assert loaded.config.num_hidden_layers == 2
    assert AutoTokenizer.from_pretrained(tmp_path).vocab_size == 4096
    draft = small_draft(small_target())
    state = torch.load(tmp_path / "state.pt")
    draft.model.layers.load_state_dict(state["layers"])
    ids = torch.tensor([[5, 6, 7]])
    assert torch.allclose(loaded(ids).logits, rounded(draft)(ids).logits, atol=1e-3)


def test_layers_that_the_target_lacks_are_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, tmp_path, "--layers", "0,4") == 2
    assert "--layers: the target has the layers 0 to 3" in capsys.readouterr().err


def taught(target: Any, count: int, seed: int = 0) -> list[Any]:
    torch.manual_seed(seed)
    return read(target, torch.randint(4096, (count, 24)))


def test_training_makes_the_draft_more_like_the_target(tmp_path: Path) -> None:
    target = small_target()
    write(shard_path(tmp_path, "chat", 0), taught(target, 4))
    feed = Feed(tmp_path, 0, 4)
    training = Training(small_draft(target), tmp_path / "state.pt")
    found = [training.step(feed(step), 0) for step in range(60)]
    assert found[-1][0] < found[0][0] / 2
    assert found[-1][1] > found[0][1] + 0.1


def test_a_resumed_training_takes_the_same_steps(tmp_path: Path) -> None:
    target = small_target()
    write(shard_path(tmp_path, "chat", 0), taught(target, 8))

    def losses(training: Training, count: int) -> list[float]:
        feed = Feed(tmp_path, 0, 2)
        return [training.step(feed(training.steps), 0.9)[0] for _ in range(count)]

    straight = Training(small_draft(target), tmp_path / "none.pt")
    losses(straight, 40)
    first = Training(small_draft(target), tmp_path / "state.pt")
    losses(first, 40)
    first.save()
    resumed = Training(small_draft(target), tmp_path / "state.pt")
    assert (resumed.steps, resumed.tokens) == (40, straight.tokens)
    assert losses(resumed, 1) == losses(straight, 1)


@torch.no_grad()
def test_the_divergence_is_that_of_the_whole_distributions() -> None:
    """Except that all tokens that the teacher does not list count as one. The random tokens that
    stand for them give nearly what all of them give."""
    target = small_target()
    draft = small_draft(target)
    batch = batch_of(taught(target, 8), 1000, torch.Generator())
    p, q = (
        model(batch.tokens).logits[batch.where.unbind(1)].softmax(-1).gather(1, batch.ids)
        for model in (target, draft)
    )
    expected = (p * (p / q).log()).sum(-1) + (1 - p.sum(-1)) * (
        (1 - p.sum(-1)) / (1 - q.sum(-1))
    ).log()
    for others in (torch.arange(4096), torch.randint(4096, (1000,))):
        found, overlap = compared(draft, batch, others)
        assert found == pytest.approx(float(expected.mean()), rel=0.05)
        assert overlap == pytest.approx(float(torch.minimum(p, q).sum(-1).mean()), rel=0.05)


def test_shards_give_back_their_texts(tmp_path: Path) -> None:
    texts = taught(small_target(), 3)
    write(shard_path(tmp_path, "prose", 7), texts)
    shard = Shard(shard_path(tmp_path, "prose", 7))
    assert len(shard) == 3
    for index, text in enumerate(texts):
        assert torch.equal(shard[index].tokens.long(), text.tokens)
        assert torch.equal(shard[index].logs, text.logs)


def test_files_are_held_out_by_their_content(tmp_path: Path) -> None:
    rows = [f"text {number}" for number in range(400)]
    file = tmp_path / "texts.jsonl"
    file.write_text("".join(f'{{"text": "{row}", "kind": "code"}}\n' for row in rows))
    used, held_out = texts_by_kind([file])["code"]
    assert sorted(used + held_out) == sorted(rows)
    assert held_out == [row for row in rows if is_held_out(row)]
    assert 2 < len(held_out) < 25
