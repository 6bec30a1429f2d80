"""The training of a toy pair: hidden size 32, a few steps, on an array of tokens or on text from a
temporary file. All random numbers are seeded."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from sequoia.errors import BadTraining, SequoiaError
from sequoia.pretrain import corpus, encoded, sample, stage, steps
from sequoia.pretrain.__main__ import STOPPED, device_of, main
from sequoia.pretrain.feed import BLOCK, Blocks, Mixture, Samples
from sequoia.pretrain.flags import parser
from sequoia.pretrain.model import distillation, next_token, overlap
from sequoia.pretrain.prepare import Prepared, Text
from sequoia.pretrain.recipe import WARMUP_STEPS, Recipe, Schedule, Size
from sequoia.pretrain.steps import _write_kept_out
from sequoia.pretrain.tokenizer import (
    END,
    MAX_VOCAB,
    encode,
    fingerprint,
    load_tokenizer,
    train_tokenizer,
)
from sequoia.pretrain.train import fit, fresh, held_windows, previous, restore, save

RECIPE = Recipe(Size(32, 2, 2, 64), peak=0.02, batch=4, context=16)
STEP = RECIPE.batch * RECIPE.context  # tokens
TEXT = np.tile(np.arange(40, dtype=np.uint16), 50)
FLAGS = [
    "--target-size",
    "32,2,2,64",
    "--draft-size",
    "32,1,2,64",
    "--batch",
    "4",
    "--context",
    "16",
    "--vocab",
    "300",
    "--device",
    "cpu",
    "--quiet",
]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def text_file(tmp_path: Path) -> Path:
    """About 62,000 characters of numbered lines: several passages, all of them different."""
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"    total = add(item_{i}, {i * i})\n" for i in range(1800)))
    return path


def losses(steps: int, state: object, objective: object = next_token) -> list[float]:
    """Losses of the steps up to number `steps`, at a constant learning rate without warm-up."""
    schedule = FlatSchedule(steps * STEP)
    return list(fit(state, objective, Blocks(TEXT, 0), RECIPE, schedule))


class FlatSchedule(Schedule):
    def share(self, step: int, tokens: int) -> float:
        return 1.0


# -- corpus ----------------------------------------------------------------------------------------


def test_split_is_disjoint_complete_and_depends_on_content_alone() -> None:
    """Guards against a split by position or by Python's salted hash. Guards also against training
    on a duplicate of a held-out text."""
    texts = [f"text number {i}\n" * 3 for i in range(2000)]
    first = corpus.split([*texts, *texts[:100]])
    again = corpus.split(texts[::-1])
    assert set(first.train).isdisjoint(first.held)
    assert sorted(first.train + first.held) == sorted(texts)
    assert set(first.held) == set(again.held)
    held = [i for i, text in enumerate(texts) if text in set(first.held)]
    assert held[:4] == [5, 23, 133, 179]  # computed without `split`; the same on every machine
    assert len(held) == 29


def test_added_texts_do_not_change_the_side_of_others() -> None:
    """With a threshold that depends on the corpus, added texts could move a text to the other side
    of the split."""
    few = corpus.split(f"text number {i}\n" * 3 for i in range(1000))
    more = corpus.split(f"text number {i}\n" * 3 for i in range(2000))
    assert set(few.held) <= set(more.held)
    assert set(few.train) <= set(more.train)


def test_one_text_of_a_small_corpus_is_held_out() -> None:
    parts = corpus.split(["a", "b", "c"])
    assert (len(parts.train), len(parts.held)) == (2, 1)


def test_one_text_of_a_small_corpus_is_trained_on() -> None:
    """Even if all hashes are below the threshold for held-out texts."""
    parts = corpus.split(["a", "b", "c"], share=1.0)
    assert (len(parts.train), len(parts.held)) == (1, 2)


def test_passages_join_to_the_text_and_end_at_lines() -> None:
    text = "".join(f"line {i}\n" for i in range(500)) + "x" * 300
    pieces = corpus.passages(text, 100)
    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= 100
    assert all(piece.endswith("\n") for piece in pieces[:30])


# -- tokenizer -------------------------------------------------------------------------------------


def test_the_tokenizer_restores_any_text_and_needs_one_token_for_a_new_line() -> None:
    """Guards against a pre-tokenizer that loses characters, or that separates a newline from the
    indentation after it."""
    tokenizer = train_tokenizer(["def f(x):\n    return x\n" * 50], 300)
    text = "def g(é):\n    return '\t\x00漢' + 12\r\n"
    assert tokenizer.decode(tokenizer(text).input_ids) == text
    assert "Ċ" + "Ġ" * 4 in tokenizer.get_vocab()
    assert tokenizer.convert_tokens_to_ids(END) == 0
    assert (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id) == (0, 0, 0)


def test_encode_puts_the_end_of_text_before_each_text() -> None:
    tokenizer = train_tokenizer(["abc abc"], 257)
    ids = encode(tokenizer, ["abc", "de"])
    assert ids.dtype == np.uint16
    assert [int(i) for i in np.flatnonzero(ids == 0)] == [0, 4]
    assert tokenizer.decode(ids[1:4].tolist()) == "abc"


# -- recipe ----------------------------------------------------------------------------------------


def test_the_rate_rises_then_stays_constant_for_any_length_of_run() -> None:
    """Guards against a rate that depends on the length of the run. A longer run would then differ
    from a shorter one in their common steps."""
    for end in (10**6, 10**9):
        shares = [
            Schedule(end).share(step, 64 * step)
            for step in (1, WARMUP_STEPS // 2, WARMUP_STEPS, 10_000)
        ]
        assert shares == [1 / WARMUP_STEPS, 0.5, 1.0, 1.0]


def test_a_decay_goes_from_the_peak_to_zero_by_tokens() -> None:
    schedule = Schedule(end=500, decay_from=100)
    assert [schedule.share(1, tokens) for tokens in (100, 200, 325, 500)] == [1.0, 0.5, 0.25, 0.0]
    assert not schedule.is_done(499)
    assert schedule.is_done(500)


def test_a_decay_has_the_same_tokens_per_step_in_longer_rows() -> None:
    assert (RECIPE.longer().batch, RECIPE.longer().context) == (2, 32)
    alone = Recipe(RECIPE.size, peak=0.02, batch=1, context=16)
    assert alone.longer() is alone
    longest = Recipe(RECIPE.size, peak=0.02, batch=4, context=BLOCK)
    assert longest.longer() is longest


# -- training --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_loss_falls_on_a_repeated_text() -> None:
    """Guards against a loop that does not train: windows off by one, gradients lost, a rate of
    zero."""
    state = fresh(RECIPE, 64, 0)
    seen = losses(60, state)
    assert seen[0] == pytest.approx(
        np.log(64), rel=0.1
    )  # an untrained network predicts all tokens equally
    assert seen[-1] < 0.5
    assert (state.step, state.tokens) == (60, 60 * STEP)


def test_parts_of_a_step_give_the_gradient_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks that the losses of the parts are averaged, not added. Compares two parts of two rows
    with one part of four rows."""
    whole = losses(3, fresh(RECIPE, 64, 0))
    monkeypatch.setattr("sequoia.pretrain.train.CPU_TOKENS", 32)
    assert losses(3, fresh(RECIPE, 64, 0)) == pytest.approx(whole, rel=2e-3)


@pytest.mark.nightly
@pytest.mark.slow
def test_a_compiled_network_trains_the_same_weights() -> None:
    """Guards against `network or state.model`, because a compiled network raises an error if used
    as a condition. Guards also against updating weights other than the network's."""
    state = fresh(RECIPE, 64, 0)
    plain = fresh(RECIPE, 64, 0)
    network = torch.compile(state.model, backend="eager")
    compiled = list(
        fit(state, next_token, Blocks(TEXT, 0), RECIPE, FlatSchedule(8 * STEP), network)
    )
    assert compiled == pytest.approx(losses(8, plain), rel=1e-3)
    assert compiled[7] < 0.98 * compiled[0]


@pytest.mark.slow
def test_a_resumed_run_is_identical(tmp_path: Path) -> None:
    """Guards against a checkpoint without the optimiser state, the position in the text or the
    counters: all later losses and weights must be the same."""
    whole = fresh(RECIPE, 64, 0)
    expected = losses(12, whole)
    first = fresh(RECIPE, 64, 0)
    steps = fit(first, next_token, Blocks(TEXT, 0), RECIPE, FlatSchedule(12 * STEP))
    begun = [next(steps) for _ in range(5)]
    save(first, tmp_path / "run.ckpt", {"a": 1})
    second = fresh(RECIPE, 64, 0)
    restore(second, tmp_path / "run.ckpt", {"a": 1})
    assert begun + losses(12, second) == expected
    assert second.seconds > first.seconds
    for ours, theirs in zip(second.model.parameters(), whole.model.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_a_failed_write_leaves_the_old_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.ckpt"
    state = fresh(RECIPE, 64, 0)
    save(state, path, {})
    before = path.read_bytes()

    def full(_data: object, file: object) -> None:
        file.write(b"half")
        raise OSError("no space left on device")

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(OSError, match="no space"):
        save(state, path, {})
    assert path.read_bytes() == before


def test_distillation_pulls_q_to_p() -> None:
    """Guards against a soft cross-entropy with p and q swapped, or with q detached instead of p.
    The gradient of the draft's logits is (q - p) / positions. The teacher's logits have none."""
    p = torch.tensor([[[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]]])
    logits = torch.zeros(1, 2, 3, requires_grad=True)
    teacher = p.log().requires_grad_()
    objective = distillation(_says(teacher))
    loss = objective(_says(logits), torch.zeros(1, 3, dtype=torch.long))
    loss.backward()
    assert loss.item() == pytest.approx(np.log(3), rel=1e-6)
    torch.testing.assert_close(logits.grad, (torch.full_like(p, 1 / 3) - p) / 2)
    assert teacher.grad is None


@pytest.mark.slow
def test_a_draft_learns_to_agree_with_its_target() -> None:
    target = fresh(RECIPE, 64, 0)
    losses(60, target)
    target.model.eval()
    windows = held_windows(TEXT, 16)
    draft = fresh(Recipe(Size(32, 1, 2, 64), peak=0.02, batch=4, context=16), 64, 0)
    before, _ = overlap(target.model, draft.model, windows)
    losses(60, draft, distillation(target.model))
    after, same = overlap(target.model, draft.model, windows)
    assert before < 0.2
    assert after > 0.6
    assert same > 0.6


def _says(logits: torch.Tensor) -> object:
    """A network that returns `logits`, (rows, context, vocab), for any input."""
    return lambda **_: type("Out", (), {"logits": logits})()


# -- the tokens of each step -----------------------------------------------------------------------


def test_a_pass_uses_every_block_once() -> None:
    """Guards against blocks drawn with replacement."""
    text = np.arange(10 * BLOCK + 1, dtype=np.uint16)
    rows = Blocks(text, 0).take(0, 9, BLOCK)
    starts = sorted(rows[:, 0].tolist())
    assert [start - starts[0] for start in starts] == [number * BLOCK for number in range(9)]
    assert 0 <= starts[0] < BLOCK
    assert torch.equal(rows[:, 1:] - rows[:, :-1], torch.ones(9, BLOCK, dtype=torch.long))


def test_each_pass_has_its_own_order_and_cut() -> None:
    text = np.arange(10 * BLOCK + 1, dtype=np.uint16)
    feed = Blocks(text, 0)
    first = feed.take(0, 9, BLOCK)[:, 0]
    second = feed.take(9 * BLOCK, 9, BLOCK)[:, 0]
    assert first.sort().values[0] != second.sort().values[0]
    assert first.argsort().tolist() != second.argsort().tolist()
    # the second pass is the same if the first was never taken
    assert torch.equal(Blocks(text, 0).take(9 * BLOCK, 9, BLOCK)[:, 0], second)


def test_shorter_rows_are_parts_of_the_blocks_of_long_ones() -> None:
    """Guards against using text twice if the context changes in the middle of a pass."""
    text = np.arange(10 * BLOCK + 1, dtype=np.uint16)
    long = Blocks(text, 0).take(0, 4, BLOCK)[:, :-1]
    short = Blocks(text, 0).take(0, 8, BLOCK // 2)[:, :-1]
    assert torch.equal(long.flatten(), short.flatten())
    with pytest.raises(BadTraining, match="context 24: it must divide 512"):
        Blocks(text, 0).take(0, 1, 24)


def test_a_mixture_takes_a_quarter_from_the_samples_and_skips_nothing() -> None:
    text = np.arange(30 * BLOCK + 1, dtype=np.uint16)
    written = np.full((3, BLOCK + 1), 60_000, np.uint16) + np.arange(3, dtype=np.uint16)[:, None]
    feed = Mixture(Blocks(text, 0), Samples(written, 0))
    steps = torch.cat([feed.take(step * 8 * BLOCK, 8, BLOCK) for step in range(3)])
    from_samples = steps[steps[:, 0] >= 60_000]
    assert sorted(from_samples[:, 0].tolist()) == [60_000, 60_000, 60_001, 60_001, 60_002, 60_002]
    plain = Blocks(text, 0).take(0, 18, BLOCK)
    assert torch.equal(steps[steps[:, 0] < 60_000], plain)


@pytest.mark.parametrize("rows", [1, 2, 3, 6, 7])
def test_a_mixture_repeats_and_skips_nothing_with_any_number_of_rows(rows: int) -> None:
    text = np.arange(60 * BLOCK + 1, dtype=np.uint16)
    written = np.full((9, BLOCK + 1), 60_000, np.uint16) + np.arange(9, dtype=np.uint16)[:, None]
    feed = Mixture(Blocks(text, 0), Samples(written, 0))
    count = 36 // rows
    steps = torch.cat([feed.take(step * rows * BLOCK, rows, BLOCK) for step in range(count)])
    from_samples = steps[steps[:, 0] >= 60_000, 0]
    assert len(from_samples) == len(from_samples.unique()) == count * rows // 4
    plain = Blocks(text, 0).take(0, count * rows - len(from_samples), BLOCK)
    assert torch.equal(steps[steps[:, 0] < 60_000], plain)


def test_a_step_across_the_end_of_the_samples_begins_their_next_order() -> None:
    samples = Samples(np.arange(5, dtype=np.uint16)[:, None].repeat(9, axis=1), 0)
    steps = torch.cat([samples.take(step * 3 * 8, 3, 8) for step in range(5)])[:, 0]
    assert [sorted(turn.tolist()) for turn in steps.split(5)] == [[0, 1, 2, 3, 4]] * 3


def test_resumed_samples_equal_those_written_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards against batches that depend on earlier ones, and against an incomplete batch that
    shifts all later rows."""
    monkeypatch.setattr(sample, "ROWS", 8)
    model = fresh(RECIPE, 64, 0).model.eval()
    feed = Blocks(np.tile(np.arange(64, dtype=np.uint16), 40), 0)
    width = 70
    batch = 70 * sample.ROWS
    whole = tmp_path / "whole"
    parts = tmp_path / "parts"
    assert list(sample.extend(whole, model, feed, width, 2 * batch, 0)) == [batch, 2 * batch]
    next(sample.extend(parts, model, feed, width, 2 * batch, 0))
    with parts.open("ab") as file:
        file.write(b"half a batch")
    list(sample.extend(parts, model, feed, width, 2 * batch, 0))
    assert parts.read_bytes() == whole.read_bytes()
    rows = sample.read(whole, width)
    assert rows is not None
    assert rows.shape == (2 * sample.ROWS, width)
    prompts = Blocks(np.tile(np.arange(64, dtype=np.uint16), 40), 0).take(0, sample.ROWS, BLOCK)[
        :, : sample.PROMPT
    ]
    assert np.array_equal(rows[: sample.ROWS, : sample.PROMPT], prompts.numpy())


# -- command line ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_pair_is_trained_saved_and_resumed(
    tmp_path: Path, text_file: Path, capsys: pytest.CaptureFixture
) -> None:
    """The whole command. Both models load with the Auto classes, in bfloat16, and share a
    tokenizer. The target has a log."""
    out = tmp_path / "run"
    command = ["all", "--text", str(text_file), "--out", str(out), *FLAGS]
    assert main([*command, "--tokens", str(60 * STEP)]) == 0
    for name, layers in (("target", 2), ("draft", 1)):
        model = AutoModelForCausalLM.from_pretrained(out / name)
        assert (model.dtype, model.config.num_hidden_layers) == (torch.bfloat16, layers)
        assert (out / name / "model.safetensors").exists()
        assert model.generation_config.eos_token_id == model.generation_config.pad_token_id == 0
        assert model.config.vocab_size == len(AutoTokenizer.from_pretrained(out / name))
    lines = lines_of(out, "target")
    assert [line.split()[0] for line in lines] == ["20", "40", "60", "VAL", "#", "VAL"]
    assert float(lines[2].split()[3]) < float(lines[0].split()[3])
    assert fingerprint(load_tokenizer(out / "target")) == fingerprint(load_tokenizer(out / "draft"))
    before = torch.load(out / "target.ckpt", weights_only=True)
    assert main(["target", "--out", str(out), "--tokens", str(80 * STEP), *FLAGS, "--resume"]) == 0
    after = torch.load(out / "target.ckpt", weights_only=True)
    assert (before["step"], after["step"], after["decay_from"]) == (60, 80, None)
    capsys.readouterr()


@pytest.mark.nightly
@pytest.mark.slow
def test_a_decay_starts_from_the_constant_run_and_does_not_change_it(
    tmp_path: Path, text_file: Path
) -> None:
    """Guards against a decay that starts at step 0, ends at a rate above zero, or overwrites the
    checkpoint that a longer run needs."""
    out = tmp_path / "run"
    assert main(["text", "--text", str(text_file), "--out", str(out), *FLAGS]) == 0
    assert main(["target", "--out", str(out), "--tokens", str(120 * STEP), *FLAGS]) == 0
    kept = (out / "target.ckpt").read_bytes()
    assert main(["target-decay", "--out", str(out), "--tokens", str(40 * STEP), *FLAGS]) == 0
    assert (out / "target.ckpt").read_bytes() == kept
    state = torch.load(out / "target-decay.ckpt", weights_only=True)
    assert (state["step"], state["decay_from"]) == (160, 120 * STEP)
    assert state["optimisers"][0]["param_groups"][0]["lr"] < 0.02 * 3e-3
    assert "VAL" in lines_of(out, "target")[-1]


def test_an_earlier_run_is_not_overwritten(
    tmp_path: Path, text_file: Path, capsys: pytest.CaptureFixture
) -> None:
    """A checkpoint may contain hours of training; without --resume it must not be overwritten."""
    out = tmp_path / "run"
    assert main(["text", "--text", str(text_file), "--out", str(out), *FLAGS]) == 0
    command = ["target", "--out", str(out), "--tokens", str(2 * STEP), *FLAGS]
    assert main(command) == 0
    assert main(command) == 2
    assert "continue that run with --resume" in capsys.readouterr().err


@pytest.mark.nightly
@pytest.mark.slow
def test_a_run_starts_from_given_weights(
    tmp_path: Path, text_file: Path, capsys: pytest.CaptureFixture
) -> None:
    out = tmp_path / "run"
    other = tmp_path / "other"
    assert (
        main(
            ["all", "--text", str(text_file), "--out", str(out), "--tokens", str(60 * STEP), *FLAGS]
        )
        == 0
    )
    text = ["--text", str(text_file), "--tokenizer", str(out / "target")]
    assert main(["text", *text, "--out", str(other), *FLAGS]) == 0
    command = ["target", "--out", str(other), "--tokens", str(20 * STEP), *FLAGS]
    assert main([*command, "--warm", str(out / "draft")]) == 2
    assert "other shapes" in capsys.readouterr().err
    assert main([*command, "--warm", str(out / "target")]) == 0
    first = float(lines_of(other, "target")[0].split()[3])
    assert first < float(lines_of(out, "target")[0].split()[3]) - 0.5


def test_with_all_only_the_target_starts_from_given_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The draft has another size, so those weights do not fit it."""
    text = SimpleNamespace(train=TEXT, fingerprint="", held={})
    monkeypatch.setattr(steps, "_text", lambda _: text)
    monkeypatch.setattr(steps, "_tokenizer", lambda _: None)
    monkeypatch.setattr(steps, "_teacher", lambda _: None)
    for step, draft in (("all", None), ("draft", tmp_path)):
        args = parser(steps.STEPS).parse_args([step, "--warm", str(tmp_path)])
        warm = [steps._stage(args, name, 1, False).warm for name in ("target", "draft")]
        assert warm == [tmp_path, draft]


KILLED = """
import sys
from sequoia.pretrain import stage
from sequoia.pretrain.__main__ import main
stage.SAVE_SECONDS = 0.0
stage.LOG_EVERY = 1
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.nightly
def test_a_killed_run_is_resumed_with_the_same_losses(
    tmp_path: Path, text_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real SIGKILL at an arbitrary moment. The resumed run has the same losses as a run that was
    never killed."""
    monkeypatch.setattr(stage, "LOG_EVERY", 1)
    for name in ("whole", "killed"):
        assert main(["text", "--text", str(text_file), "--out", str(tmp_path / name), *FLAGS]) == 0
    command = ["target", "--tokens", str(40 * STEP), "--threads", "1", *FLAGS, "--out"]
    assert main([*command, str(tmp_path / "whole")]) == 0
    long = [*command[:2], str(10**6 * STEP), *command[3:], str(tmp_path / "killed")]
    process = subprocess.Popen([sys.executable, "-c", KILLED, *long])
    while not previous(tmp_path / "killed" / "target.ckpt").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    step = torch.load(tmp_path / "killed" / "target.ckpt", weights_only=True)["step"]
    assert step >= 1
    assert main([*command, str(tmp_path / "killed"), "--resume"]) == 0
    assert curve(tmp_path / "killed") == {**curve(tmp_path / "killed"), **curve(tmp_path / "whole")}


@pytest.mark.nightly
def test_a_run_is_resumed_by_a_package_of_another_name(
    tmp_path: Path, text_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stopped run can be resumed after its code was moved to another package. So a checkpoint
    must not contain names of modules. Besides `pretrain`, the training may need only `errors` and
    `validate_input` of its package."""
    monkeypatch.setattr(stage, "LOG_EVERY", 1)
    source = Path(stage.__file__).parent.parent
    shutil.copytree(source / "pretrain", tmp_path / "moved" / "pretrain")
    for name in ("errors.py", "validate_input.py"):
        shutil.copy(source / name, tmp_path / "moved" / name)
    command = ["target", "--threads", "1", *FLAGS, "--out"]
    for name, tokens in (("whole", 8), ("parted", 5)):
        assert main(["text", "--text", str(text_file), "--out", str(tmp_path / name), *FLAGS]) == 0
        assert main([*command, str(tmp_path / name), "--tokens", str(tokens * STEP)]) == 0
    run = [*command, str(tmp_path / "parted"), "--tokens", str(8 * STEP), "--resume"]
    program = MOVED.format(package="moved")
    subprocess.run([sys.executable, "-c", program, *run], cwd=tmp_path, check=True)
    assert curve(tmp_path / "parted") == curve(tmp_path / "whole")


MOVED = """
import sys
from {package}.pretrain import stage
from {package}.pretrain.__main__ import main
stage.LOG_EVERY = 1
status = main(sys.argv[1:])
assert "sequoia" not in sys.modules
sys.exit(status)
"""


def curve(out: Path) -> dict[int, str]:
    """The logged loss of each step. If a step was run twice, the last one."""
    rows = [line.split() for line in lines_of(out, "target") if line[0].isdigit()]
    return {int(row[0]): row[3] for row in rows}


def lines_of(out: Path, name: str) -> list[str]:
    return (out / f"{name}-training.log").read_text().splitlines()


@pytest.mark.slow
def test_ctrl_c_writes_a_checkpoint_to_resume_from(
    tmp_path: Path, text_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real SIGINT in the middle of step 7 stops the run after that step, and --resume starts at
    step 8."""
    out = tmp_path / "run"
    seen = []

    def interrupting(network: object, windows: torch.Tensor) -> torch.Tensor:
        seen.append(None)
        if len(seen) == 7:
            os.kill(os.getpid(), signal.SIGINT)
        return next_token(network, windows)

    monkeypatch.setattr(stage, "next_token", interrupting)
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    assert main(["text", "--text", str(text_file), "--out", str(out), *FLAGS]) == 0
    command = ["target", "--out", str(out), "--tokens", str(20 * STEP), *FLAGS]
    assert main(command) == STOPPED
    assert torch.load(out / "target.ckpt", weights_only=True)["step"] == 7
    assert not (out / "target-constant").exists()
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
    assert main([*command, "--resume"]) == 0
    assert torch.load(out / "target.ckpt", weights_only=True)["step"] == 20
    assert (out / "target-constant" / "model.safetensors").exists()


def test_no_signal_handlers_are_set_outside_the_main_thread() -> None:
    """Guards against `signal.signal` in a worker thread, which raises."""
    raised: list[BaseException] = []

    def work() -> None:
        try:
            with stage.stop_on_signals() as stop:
                assert not stop.requested
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert raised == []


# -- refusals, text and device ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "value", "bound"),
    [
        (["--target-size", "32,2"], "'32,2'", "four whole numbers"),
        (["--target-size", "33,2,2,64"], "33", "multiple of 4"),
        (["--target-size", "32,0,2,64"], "0", "1 to 128"),
        (["--batch", "0"], "0", "1 to 65536"),
        (["--context", "2049"], "2049", "8 to 2048"),
        (["--context", "24"], "24", "it must divide 512"),
        (["--vocab", "256"], "256", "257 to 65536"),
        (["--vocab", "65537"], "65537", f"257 to {MAX_VOCAB}"),
        (["--tokens", "0"], "0", "1 to"),
        (["--target-peak", "inf"], "inf", "1e-12 to 1"),
        (["--loops-weight", "-1"], "-1", "0 to 1000"),
        (["--device", "tpu"], "'tpu'", "auto, cpu, cuda"),
        (["--threads", "0"], "0", "1 to 1024"),
        (["--tokenizer", "no/such/folder"], "no/such/folder", "no tokenizer"),
        (["--text", "no/such/file"], "no/such/file", "UTF-8 text file"),
        (["--out", "/dev/null/run"], "/dev/null/run", "cannot be written"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_refusals_name_value_and_bound(
    flags: list[str],
    value: str,
    bound: str,
    tmp_path: Path,
    text_file: Path,
    capsys: pytest.CaptureFixture,
) -> None:
    assert (
        main(["all", "--text", str(text_file), "--out", str(tmp_path / "run"), *FLAGS, *flags]) == 2
    )
    message = capsys.readouterr().err
    assert message.startswith("error: ")
    assert value in message
    assert bound in message
    assert len(message.splitlines()) == 1


def test_a_size_with_more_digits_than_python_converts_is_refused() -> None:
    with pytest.raises(BadTraining, match=r"size '9+' is not four whole numbers"):
        Size.parse("9" * 5000 + ",2,2,64")


def test_text_that_exists_is_kept_by_resume(tmp_path: Path, text_file: Path) -> None:
    command = ["text", "--text", str(text_file), "--out", str(tmp_path), *FLAGS]
    assert main(command) == 0
    written = (tmp_path / encoded.MANIFEST).stat().st_mtime_ns
    assert main([*command, "--resume"]) == 0
    assert (tmp_path / encoded.MANIFEST).stat().st_mtime_ns == written


def test_kept_out_texts_of_an_earlier_run_are_removed(
    tmp_path: Path, text_file: Path, capsys: pytest.CaptureFixture
) -> None:
    """Guards against leaving the files of an earlier run in place. The pair may have been trained
    on their texts since."""
    kept = tmp_path / "kept-out"
    first = Prepared([Text(name, "a/b.py", "code", "kept", "x = 1\n") for name in ("one", "two")])
    (tmp_path / encoded.MANIFEST).write_text("{}")
    _write_kept_out(tmp_path, first)
    assert not (tmp_path / encoded.MANIFEST).exists()
    _write_kept_out(tmp_path, Prepared([Text("two", "c.py", "code", "kept", "y = 2\n")]))
    assert [path.relative_to(kept).as_posix() for path in kept.rglob("*.py")] == [
        "code/two/0000-c.py"
    ]
    own = ["--text", str(text_file), "--out", str(tmp_path), *FLAGS]
    assert main(["text", *own]) == 0
    assert not list(kept.rglob("*.py"))
    assert main(["excerpts", *own]) == 2
    assert "no code to keep out" in capsys.readouterr().err


def test_text_is_read_with_the_tokenizer_that_encoded_it(tmp_path: Path) -> None:
    first, other = (train_tokenizer([text * 50], 300) for text in ("one two ", "three four "))
    with pytest.raises(BadTraining, match=r"no prepared text .*run the step `text`"):
        encoded.read(tmp_path, first)
    encoded.write(tmp_path, first, ["one two " * 50], {"text": ["two one " * 9]}, {})
    assert len(encoded.read(tmp_path, first).train)
    with pytest.raises(BadTraining, match="another tokenizer; run the step `text` again"):
        encoded.read(tmp_path, other)


@pytest.mark.parametrize("name", [encoded.TRAIN, "held-text.u16"])
def test_a_text_of_an_odd_number_of_bytes_is_refused(tmp_path: Path, name: str) -> None:
    tokenizer = train_tokenizer(["one two " * 50], 300)
    encoded.write(tmp_path, tokenizer, ["one two " * 50], {"text": ["two one " * 9]}, {})
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:-1])
    with pytest.raises(BadTraining, match=r"no prepared text .*run the step `text`"):
        encoded.read(tmp_path, tokenizer)


def test_the_device_is_the_card_if_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for found, chosen in ((True, "cuda"), (False, "cpu")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda found=found: found)
        assert device_of("auto") == torch.device(chosen)
    with pytest.raises(BadTraining, match="does not exist on this machine; use --device cpu"):
        device_of("cuda")


def test_a_checkpoint_of_another_version_is_refused(tmp_path: Path) -> None:
    torch.save({"version": 1}, tmp_path / "old.ckpt")
    with pytest.raises(BadTraining, match="not a checkpoint of version 2"):
        restore(fresh(RECIPE, 64, 0), tmp_path / "old.ckpt", {})


def test_samples_are_too_short_for_a_longer_context() -> None:
    samples = Samples(np.zeros((8, 20), np.uint16), 0)
    assert samples.take(0, 2, 19).shape == (2, 20)
    with pytest.raises(BadTraining, match="context 20: it must be less than 20"):
        samples.take(0, 2, 20)


def test_a_draft_without_a_target_is_refused(
    tmp_path: Path, text_file: Path, capsys: pytest.CaptureFixture
) -> None:
    assert main(["text", "--text", str(text_file), "--out", str(tmp_path), *FLAGS]) == 0
    assert main(["draft", "--out", str(tmp_path), *FLAGS]) == 2
    assert str(tmp_path / "target") in capsys.readouterr().err


def test_damaged_checkpoints_and_those_of_another_run_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    state = fresh(RECIPE, 64, 0)
    save(state, path, {"seed": 1})
    with pytest.raises(BadTraining, match="seed 1, but this run has 2"):
        restore(state, path, {"seed": 2})
    for damaged in (path.read_bytes()[:1000], b"", b"not a checkpoint"):
        path.write_bytes(damaged)
        with pytest.raises(BadTraining, match="not a readable checkpoint"):
            restore(state, path, {"seed": 1})


def test_truncated_weights_are_refused(tmp_path: Path) -> None:
    model = fresh(RECIPE, 64, 0).model
    model.save_pretrained(tmp_path)
    weights = tmp_path / "model.safetensors"
    whole = weights.read_bytes()
    for truncated in (whole[:-1], whole[:1000], b""):
        weights.write_bytes(truncated)
        with pytest.raises(BadTraining, match="no trained model in"):
            stage.load_teacher(tmp_path, torch.device("cpu"))
        with pytest.raises(BadTraining, match="no trained model in"):
            stage.warm(model, tmp_path)


def test_small_texts_and_losses_that_are_not_finite_are_refused() -> None:
    with pytest.raises(BadTraining, match=r"2 different passages .*; the files contain 1$"):
        corpus.split(["a", "a", " "])
    with pytest.raises(BadTraining, match="held-out text has 1 tokens; at least 2"):
        held_windows(np.zeros(1, np.uint16), 16)
    with pytest.raises(SequoiaError, match="loss of step 1 is nan"):
        losses(
            2,
            fresh(RECIPE, 64, 0),
            lambda network, windows: next_token(network, windows) * torch.nan,
        )
    with pytest.raises(BadTraining, match="too few for blocks of 512"):
        Blocks(np.zeros(1000, np.uint16), 0)
