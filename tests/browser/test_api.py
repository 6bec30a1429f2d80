"""The public functions of the running app, called as the README does."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError
from running_app import App

from sequoia.algorithm.step_trace import emitted_tokens
from sequoia.saved_files.race_file import RaceLog
from ui.serving.limits import LOCAL, PUBLIC

README = Path(__file__).parents[2] / "README.md"
JUNK: list[Any] = [None, "", "x" * 10_000, -1, 0, 2.5, 10**30, True, [], [[]], {}, [None], "../a"]
JUNK += [[0.5, "x"], [[0.5, 0.5], [1]], [-1, 5], [-1] * 2000, [[1e308, 1e308]], {"a": [1]}]
GOOD: dict[str, list[Any]] = {
    "/plan": [[0.6, 0.2], "rtx-4090-qwen3-8b", 16],
    "/expected_tokens": [[-1, 0, 0], [0.6, 0.2]],
    "/verify": [[[0.5, 0.3, 0.2]] * 2, [[0.2, 0.5, 0.3]] * 2, [-1, 0, 0], "sequoia"],
}


@pytest.fixture(scope="module")
def client(app: App) -> Client:
    return Client(app.url, verbose=False)


def test_the_readmes_example_runs(app: App) -> None:
    text = README.read_text(encoding="utf-8")
    found = re.search(r"```python\n(from gradio_client.*?)```", text, re.DOTALL)
    assert found is not None
    example = found[1].replace("http://127.0.0.1:7860/", app.url)
    names: dict[str, Any] = {}
    exec(example, names)
    assert names["found"]["nodes"] > 1


def test_a_step_of_each_rule_is_lossless(client: Client) -> None:
    p, q, tree, _ = GOOD["/verify"]
    for rule in ("sequoia", "specinfer", "topk", "traversal"):
        found = client.predict(p, q, tree, rule, api_name="/verify")
        assert sum(one["probability"] for one in found["outcomes"]) == pytest.approx(1)
        assert found["first"] == pytest.approx(p[0])
        assert found["error"] < 1e-12
        assert 1 < found["tokens"] < 2


def test_the_report_has_the_pairs_acceptance_and_the_machines_times(client: Client) -> None:
    found = client.predict(api_name="/pair_report")
    assert found["profile"]["source"] == "measured"
    for one in found["texts"]:
        assert 0 < sum(one["acceptance"]) <= 1
        assert one["plan"]["speedup"] >= 1
    here = client.predict(found["texts"][0]["acceptance"], api_name="/plan")
    assert here["times"] == "measured"


def test_a_run_of_a_program_gives_the_file_that_the_page_saves(client: Client) -> None:
    given = {"prompt": "def mean(values):\n", "temperature": 0.0, "max_new_tokens": 24}
    texts = []
    for nodes in (0, 1, 12):
        found = client.predict(**given, nodes=nodes, api_name="/decode")
        (lane,) = RaceLog.from_json(json.dumps(found)).lanes
        run = lane.run
        texts.append(emitted_tokens(run.steps))
        assert nodes in (0, max(len(step.tree) for step in run.steps))
    assert texts[0] == texts[1] == texts[2]


def test_a_run_is_refused_with_the_value_and_the_bound(client: Client) -> None:
    for name, value, words in (
        ("prompt", "", "empty"),
        ("temperature", -1, "-1"),
        ("max_new_tokens", 10**6, "4096"),
        ("nodes", 5000, "1024"),
    ):
        given = {"prompt": "text", name: value}
        assert words in refusal(lambda given=given: client.predict(**given, api_name="/decode"))


def test_strangers_may_decode_only_if_the_server_says_so() -> None:
    import app

    def seconds(*options: str) -> float:
        arguments = app.parser().parse_args(options)
        limits = app.api_limits(arguments, PUBLIC if arguments.public else LOCAL)
        return limits.seconds if limits else 0.0

    assert seconds("--public") == 0
    assert seconds("--public", "--api", "decode") == 10
    assert seconds() == LOCAL.seconds


@pytest.mark.parametrize("name", GOOD)
def test_junk_is_refused_in_a_sentence(name: str, client: Client) -> None:
    for place in range(len(GOOD[name])):
        for junk in JUNK:
            given = [*GOOD[name]]
            given[place] = junk
            assert 0 < len(refusal(lambda given=given: client.predict(*given, api_name=name))) < 400
    assert client.predict(*GOOD[name], api_name=name)


def refusal(call: Callable[[], Any]) -> str:
    """Why a call was refused; "accepted" if it was not."""
    try:
        call()
    except AppError as problem:
        return str(problem)
    return "accepted"
