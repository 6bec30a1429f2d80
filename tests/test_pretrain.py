"""The training of a pair at toy size: hidden 32, a few dozen steps, text from a temporary file. Every draw is seeded."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from sequoia.errors import BadTraining, SequoiaError
from sequoia.pretrain import corpus, stage
from sequoia.pretrain.__main__ import STOPPED, main
from sequoia.pretrain.model import distillation, next_token, overlap
from sequoia.pretrain.recipe import Bound, Recipe, Size
from sequoia.pretrain.tokenizer import END, MAX_VOCAB, encode, fingerprint, load_tokenizer, train_tokenizer
from sequoia.pretrain.train import crop, fit, fresh, held_windows, restore, save

RECIPE = Recipe(Size(32, 2, 2, 64), peak=0.02, long_from=0.75, batch=4, context=16)
STEP = RECIPE.batch * RECIPE.context  # tokens
TEXT = np.tile(np.arange(40, dtype=np.uint16), 50)
FLAGS = ["--target-size", "32,2,2,64", "--draft-size", "32,1,2,64", "--batch", "4", "--context", "16", "--vocab", "300",
         "--device", "cpu", "--quiet"]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def text_file(tmp_path: Path) -> Path:
    """60,000 characters of numbered lines: several passages, all different."""
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"    total = add(item_{i}, {i * i})\n" for i in range(1800)))
    return path


def losses(steps: int, state: object, objective: object = next_token) -> list[float]:
    return list(fit(state, objective, TEXT, RECIPE, Bound(tokens=steps * STEP)))


# -- corpus ------------------------------------------------------------------------------------------------------


def test_split_is_disjoint_complete_and_depends_on_content_alone() -> None:
    """Guards a split by position or by Python's salted hash, and duplicates that leak held-out text into training."""
    texts = [f"text number {i}\n" * 3 for i in range(2000)]
    first = corpus.split([*texts, *texts[:100]])
    again = corpus.split(texts[::-1])
    assert set(first.train).isdisjoint(first.held)
    assert sorted(first.train + first.held) == sorted(texts)
    assert set(first.held) == set(again.held)
    held = [i for i, text in enumerate(texts) if text in set(first.held)]
    assert held[:4] == [5, 23, 133, 179]  # computed apart, so that every process and machine agrees
    assert len(held) == 29


def test_split_keeps_sides_when_texts_are_added() -> None:
    """Guards a threshold taken from the corpus, which would move files from one side to the other."""
    few = corpus.split(f"text number {i}\n" * 3 for i in range(1000))
    more = corpus.split(f"text number {i}\n" * 3 for i in range(2000))
    assert set(few.held) <= set(more.held)
    assert set(few.train) <= set(more.train)


def test_a_small_corpus_still_holds_one_text_out() -> None:
    parts = corpus.split(["a", "b", "c"])
    assert (len(parts.train), len(parts.held)) == (2, 1)


@pytest.mark.parametrize(("text", "wanted"), [
    ("x = 1\n" * 40, True),
    ("x = 1\n" * 30, False),  # 180 characters
    ("x = 1\n" * 70_000, False),
    ("x = 1\n" * 40 + "y" * 401, False),
    ("x = 1\n" * 40 + "y" * 400, True),
    ("é = 1\n" * 40, False),
    ("x = 1\n" * 98 + "éé", True),
], ids=["plain", "short", "huge", "long line", "longest line", "not ascii", "nearly ascii"])
def test_filters(text: str, wanted: bool) -> None:
    assert corpus.is_wanted(text) is wanted


def test_python_files_are_found_sorted_and_without_the_skipped() -> None:
    """Guards hard-coded paths and the folders that must stay out; reads names only."""
    files = list(corpus.python_files())
    names = {path.name for path in files}
    assert {"argparse.py", "tqdm.py", "sgd.py"} <= names  # standard library, a package, a part of a package
    assert len(files) == len(set(files))
    stdlib = Path(os.__file__).parent
    own = [path for path in files if path.is_relative_to(stdlib) and "site-packages" not in path.parts]
    assert own == sorted(own)
    assert not any(corpus.SKIPPED_FOLDERS & set(path.relative_to(stdlib).parts) for path in own)
    assert not any(name.startswith("bad") and name.startswith(corpus.SKIPPED_NAMES) for name in names)


def test_passages_join_to_the_text_and_end_at_lines() -> None:
    text = "".join(f"line {i}\n" for i in range(500)) + "x" * 300
    pieces = corpus.passages(text, 100)
    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= 100
    assert all(piece.endswith("\n") for piece in pieces[:30])


# -- tokenizer ---------------------------------------------------------------------------------------------------


def test_tokenizer_gives_any_text_back_and_one_token_to_a_new_line() -> None:
    """Guards a split that loses characters, and one that parts a newline from its indentation."""
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


# -- recipe ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("step", "progress", "rate"), [
    (20, 79 / 4300, 0.00060), (360, 905 / 4300, 0.003), (1400, 2711 / 4300, 0.00277), (2280, 4216 / 4300, 0.00015),
    (3000, 1.1, 0.0),
])
def test_rates_are_those_of_the_recorded_log(step: int, progress: float, rate: float) -> None:
    recipe = Recipe(Size(384, 8, 6, 1024), peak=3e-3, long_from=0.75)
    assert recipe.rate(step, progress) == pytest.approx(rate, abs=6e-6)


def test_the_last_quarter_has_the_same_tokens_in_longer_sequences() -> None:
    assert RECIPE.shape(0.74) == (4, 16)
    assert RECIPE.shape(0.75) == (2, 32)


# -- training ----------------------------------------------------------------------------------------------------


def test_loss_falls_on_a_repeated_text() -> None:
    """Guards a loop that trains nothing: windows off by one, gradients dropped, a rate of zero."""
    state = fresh(RECIPE, 64, 0)
    seen = losses(60, state)
    assert seen[0] == pytest.approx(np.log(64), rel=0.1)  # an untrained network knows nothing
    assert seen[-1] < 0.5
    assert (state.step, state.tokens) == (60, 60 * STEP)


def test_parts_of_a_step_give_the_gradient_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards the weight of the parts: their losses are averaged, not added. Two parts of two rows against one of four."""
    whole = losses(3, fresh(RECIPE, 64, 0))
    monkeypatch.setattr("sequoia.pretrain.train.CPU_TOKENS", 32)
    assert losses(3, fresh(RECIPE, 64, 0)) == pytest.approx(whole, rel=2e-3)


def test_a_compiled_network_trains_the_same_weights() -> None:
    """Guards a loop that asks a compiled network for its truth value (it has none) or updates weights it does not hold."""
    state, plain = fresh(RECIPE, 64, 0), fresh(RECIPE, 64, 0)
    network = torch.compile(state.model, backend="eager")
    compiled = list(fit(state, next_token, TEXT, RECIPE, Bound(tokens=8 * STEP), network))
    assert compiled == pytest.approx(losses(8, plain), rel=1e-3)
    assert compiled[7] < 0.98 * compiled[0]


def test_resume_is_bit_for_bit(tmp_path: Path) -> None:
    """Guards a checkpoint without optimiser state, crops or counters: every later loss and weight must be the same."""
    whole = fresh(RECIPE, 64, 0)
    expected = losses(12, whole)
    first = fresh(RECIPE, 64, 0)
    steps = fit(first, next_token, TEXT, RECIPE, Bound(tokens=12 * STEP))
    begun = [next(steps) for _ in range(5)]
    save(first, tmp_path / "run.ckpt", {"a": 1})
    second = fresh(RECIPE, 64, 0)
    restore(second, tmp_path / "run.ckpt", {"a": 1})
    assert begun + losses(12, second) == expected
    assert second.seconds > first.seconds
    for ours, theirs in zip(second.model.parameters(), whole.model.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_a_failed_write_leaves_the_old_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, state = tmp_path / "run.ckpt", fresh(RECIPE, 64, 0)
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
    """Guards a soft cross-entropy with p and q exchanged or detached: the gradient in the draft's logits is (q - p) / rows,
    the teacher gets none, and a few steps raise sum min(p, q)."""
    p = torch.tensor([[[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]]])
    logits = torch.zeros(1, 2, 3, requires_grad=True)
    teacher = p.log().requires_grad_()
    objective = distillation(_says(teacher))
    loss = objective(_says(logits), torch.zeros(1, 3, dtype=torch.long))
    loss.backward()
    assert loss.item() == pytest.approx(np.log(3), rel=1e-6)
    torch.testing.assert_close(logits.grad, (torch.full_like(p, 1 / 3) - p) / 2)
    assert teacher.grad is None


def test_a_draft_comes_closer_to_its_target() -> None:
    target = fresh(RECIPE, 64, 0)
    losses(60, target)
    target.model.eval()
    windows = held_windows(TEXT, 16)
    draft = fresh(Recipe(Size(32, 1, 2, 64), peak=0.02, long_from=1.0, batch=4, context=16), 64, 0)
    before, _ = overlap(target.model, draft.model, windows)
    losses(60, draft, distillation(target.model))
    after, same = overlap(target.model, draft.model, windows)
    assert before < 0.2
    assert after > 0.6
    assert same > 0.6


def _says(logits: torch.Tensor) -> object:
    """A network that answers `logits` (rows, context, vocab) whatever it reads."""
    return lambda **_: type("Out", (), {"logits": logits})()


def test_crops_reach_the_first_and_the_last_token() -> None:
    """Guards an off-by-one at the end of the text. 6 places, 200 draws: missing one has chance 6 (5/6)^200 < 1e-15."""
    windows = crop(np.arange(10, dtype=np.uint16), 200, 4, torch.Generator().manual_seed(0))
    assert windows.shape == (200, 5)
    assert set(windows[:, 0].tolist()) == set(range(6))
    assert torch.equal(windows[:, 1:] - windows[:, :-1], torch.ones(200, 4, dtype=torch.long))


# -- command line ------------------------------------------------------------------------------------------------


def test_a_pair_is_trained_saved_and_resumed(tmp_path: Path, text_file: Path, capsys: pytest.CaptureFixture) -> None:
    """The whole command: both models load with the Auto classes in bfloat16, share one tokenizer, and left logs."""
    out = tmp_path / "run"
    command = ["all", "--text", str(text_file), "--out", str(out), "--tokens", str(40 * STEP), *FLAGS]
    assert main(command) == 0
    for name, layers in (("target", 2), ("draft", 1)):
        model = AutoModelForCausalLM.from_pretrained(out / name)
        assert (model.dtype, model.config.num_hidden_layers) == (torch.bfloat16, layers)
        assert (out / name / "model.safetensors").exists()
        assert model.generation_config.eos_token_id == model.generation_config.pad_token_id == 0
        assert model.config.vocab_size == len(AutoTokenizer.from_pretrained(out / name))
        lines = lines_of(out, name)
        assert [line.split()[0] for line in lines] == ["20", "40", "VAL"]
        assert float(lines[1].split()[3]) < float(lines[0].split()[3])
    assert fingerprint(load_tokenizer(out / "target")) == fingerprint(load_tokenizer(out / "draft"))
    assert main([*command[:-len(FLAGS) - 1], str(60 * STEP), *FLAGS, "--resume"]) == 0
    assert [line.split()[0] for line in lines_of(out, "target")] == ["20", "40", "VAL", "60", "VAL"]
    capsys.readouterr()


def lines_of(out: Path, name: str) -> list[str]:
    return (out / f"{name}-training.log").read_text().splitlines()


def test_ctrl_c_writes_a_checkpoint_that_goes_on(tmp_path: Path, text_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real SIGINT in the middle of step 7 ends the run after that step, and --resume starts at step 8."""
    out, seen = tmp_path / "run", []

    def interrupting(network: object, windows: torch.Tensor) -> torch.Tensor:
        seen.append(None)
        if len(seen) == 7:
            os.kill(os.getpid(), signal.SIGINT)
        return next_token(network, windows)

    monkeypatch.setattr(stage, "next_token", interrupting)
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    command = ["target", "--text", str(text_file), "--out", str(out), "--tokens", str(20 * STEP), *FLAGS]
    assert main(command) == STOPPED
    assert torch.load(out / "target.ckpt", weights_only=True)["step"] == 7
    assert not (out / "target").exists()
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
    assert main([*command, "--resume"]) == 0
    assert torch.load(out / "target.ckpt", weights_only=True)["step"] == 20
    assert (out / "target" / "model.safetensors").exists()


def test_signals_are_left_alone_outside_the_main_thread() -> None:
    """Guards `signal.signal` in a worker thread, which raises."""
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


# -- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("flags", "value", "bound"), [
    (["--target-size", "32,2"], "'32,2'", "four whole numbers"),
    (["--target-size", "33,2,2,64"], "33", "multiple of 4"),
    (["--target-size", "32,0,2,64"], "0", "1 to 128"),
    (["--batch", "0"], "0", "1 to 65536"),
    (["--batch", "4096"], "tokens to train on", "4096 x 16 + 1 = 65537"),
    (["--context", "1025"], "1025", "8 to 1024"),
    (["--vocab", "256"], "256", "257 to 65536"),
    (["--vocab", "65537"], "65537", f"257 to {MAX_VOCAB}"),
    (["--tokens", "0"], "0", "1 to"),
    (["--minutes", "nan"], "nan", "above 0"),
    (["--minutes", "-1"], "-1", "above 0"),
    (["--target-peak", "inf"], "inf", "at most 1"),
    (["--device", "tpu"], "'tpu'", "auto, cpu, cuda"),
    (["--threads", "0"], "0", "1 to 1024"),
    (["--tokenizer", "no/such/folder"], "no/such/folder", "no tokenizer"),
    (["--text", "no/such/file"], "no/such/file", "UTF-8 text file"),
], ids=lambda value: value if isinstance(value, str) else " ".join(value))
def test_refusals_name_value_and_bound(flags: list[str], value: str, bound: str, tmp_path: Path, text_file: Path,
                                       capsys: pytest.CaptureFixture) -> None:
    assert main(["target", "--text", str(text_file), "--out", str(tmp_path / "run"), *FLAGS, *flags]) == 2
    message = capsys.readouterr().err
    assert message.startswith("error: ")
    assert value in message
    assert bound in message
    assert len(message.splitlines()) == 1


def test_a_draft_without_a_target_is_refused(tmp_path: Path, text_file: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["draft", "--text", str(text_file), "--out", str(tmp_path), *FLAGS]) == 2
    assert str(tmp_path / "target") in capsys.readouterr().err


def test_checkpoints_of_another_run_or_no_checkpoint_are_refused(tmp_path: Path) -> None:
    path, state = tmp_path / "run.ckpt", fresh(RECIPE, 64, 0)
    save(state, path, {"seed": 1})
    with pytest.raises(BadTraining, match="seed 1, this run has 2"):
        restore(state, path, {"seed": 2})
    for damaged in (path.read_bytes()[:1000], b"", b"not a checkpoint"):
        path.write_bytes(damaged)
        with pytest.raises(BadTraining, match="no readable checkpoint"):
            restore(state, path, {"seed": 1})


def test_small_texts_and_blown_up_losses_are_refused() -> None:
    with pytest.raises(BadTraining, match="1 different texts; at least 2"):
        corpus.split(["a", "a", " "])
    with pytest.raises(BadTraining, match="held-out text of 1 tokens; at least 2"):
        held_windows(np.zeros(1, np.uint16), 16)
    with pytest.raises(SequoiaError, match="loss of step 1 is nan"):
        losses(2, fresh(RECIPE, 64, 0), lambda network, windows: next_token(network, windows) * torch.nan)
    with pytest.raises(BadTraining, match="bounded by seconds or by tokens"):
        Bound()
