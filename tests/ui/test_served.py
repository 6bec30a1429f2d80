"""The page as it is served: none of its handlers is public, and all its templates except one are
static."""

from __future__ import annotations

import json

import gradio as gr
import pytest

import app
from sequoia import Pair, SequoiaError
from sequoia.errors import BadPair
from sequoia.loading import download_worker
from ui import page
from ui.serving.limits import LOCAL, PUBLIC, Limits
from ui.serving.model_host import ModelHost
from ui.shared import markup as show

PROGRAMS = {"plan", "expected_tokens", "verify", "pair_report"}


@pytest.fixture
def blocks(model_host: ModelHost) -> gr.Blocks:
    return page.page(model_host, LOCAL)


def test_programs_are_offered_these_functions_alone(blocks: gr.Blocks) -> None:
    """Not the handlers of the page, and `decode` only where the server allows it."""
    offered = {fn.api_name for fn in blocks.fns.values() if fn.api_visibility != "private"}
    assert offered == PROGRAMS
    assert blocks.api_open is False


def test_the_page_calls_only_these_functions_without_the_queue(blocks: gr.Blocks) -> None:
    """Guards against a function that becomes reachable unnoticed."""
    blocks_with_functions = [getattr(one, "server_fns", None) for one in blocks.blocks.values()]
    names = {fn.__name__ for found in blocks_with_functions for fn in found or []}
    assert names == {
        "get_recorded_experiment",
        "get_recorded_run",
        "get_paper_figures",
        "get_status",
        "get_tree",
        "read_tree",
    }


def test_all_model_work_shares_one_queue(blocks: gr.Blocks) -> None:
    found = sorted(str(fn.api_name) for fn in blocks.fns.values() if fn.concurrency_id == "engine")
    wanted = {
        "experiments": ["run_experiment"],
        "hardware": ["measure"],
        "lab": ["count", "run"],
        "lossless": ["test_losslessness", "test_losslessness"],  # by Run, and by a press on a bug
        "models": ["change"],
        "run": ["check", "check", "more", "run", "step"],  # a check after Run and after Step
        "tour": ["test_preset"],
    }
    assert found == [f"{tab}_{name}" for tab, names in wanted.items() for name in names]


@pytest.mark.parametrize("limits", [LOCAL, PUBLIC])
def test_the_server_hides_errors_and_limits_sizes(model_host: ModelHost, limits: Limits) -> None:
    """It shows no errors, no earlier runs and no links of Gradio's, and it limits sizes."""
    options = page.launch_options(model_host, limits)
    assert (options["show_error"], options["run_history"], options["footer_links"]) == (
        False,
        False,
        [],
    )
    assert options["max_file_size"] == limits.upload
    assert options["state_session_capacity"] <= 128
    assert len(options["app_kwargs"]["middleware"]) >= 6


def test_gradios_queue_is_bounded(blocks: gr.Blocks) -> None:
    """It has room for several requests for each run that may wait."""
    assert blocks._queue.max_size == LOCAL.requests
    assert LOCAL.waiting < LOCAL.requests <= 100 * LOCAL.waiting


def test_temporary_files_are_deleted(blocks: gr.Blocks) -> None:
    every, age = blocks.delete_cache
    assert every <= 600
    assert age <= 3600


def test_a_public_page_cannot_measure_the_machine(pair: Pair) -> None:
    """Guards against measurements: each makes other visitors wait for half a minute, and replaces
    the profile with which all visitors' trees are planned."""
    made = page.page(ModelHost(lambda: pair, 4), PUBLIC)
    names = [str(fn.api_name) for fn in made.fns.values()]
    assert "run_run" in names
    assert not [name for name in names if "measur" in name]


# their values are escaped in Python
ESCAPED = ("md-problem", "en-view")


def test_templates_take_no_values(blocks: gr.Blocks) -> None:
    """Guards against a template that would insert a value, such as a token's text, as code."""
    templates = [
        block.html_template
        for block in blocks.blocks.values()
        if isinstance(block, gr.HTML) and block.elem_id not in ESCAPED
    ]
    assert len(templates) >= 12
    for template in templates:
        assert not any(mark in template for mark in ("${", "{{", "@children"))


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ("<b>&\"'", "&lt;b&gt;&amp;&quot;&#x27;"),
        ("a\u202eb\x00", "a\\u202eb\\u0000"),
        ("${x}{{y}}`", "&#36;&#123;x&#125;&#123;&#123;y&#125;&#125;&#96;"),
        ("a\nb", "a<br>b"),
    ],
)
def test_pop_ups_show_exactly_the_text(text: str, markup: str) -> None:
    assert show.toast(text) == markup


def test_a_literal_does_not_end_its_script() -> None:
    """Guards against a text with "</script>", which would end the script it is written into."""
    assert "</script>" not in show.literal("</script><script>alert(1)")
    assert json.loads(show.literal("</script>\u2028")) == "</script>\u2028"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--port", "70000"],
        ["--offload", "-1"],
        ["--trusted-proxy", "x"],
        ["--visitors-may", "measure", "skip"],
    ],
)
def test_a_wrong_value_is_refused_at_its_flag(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        app.parser().parse_args(arguments)
    assert caught.value.code == 2
    assert f"error: argument {arguments[0]}: " in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--public", "--target", "a", "--draft", "b"],
        ["--public", "--draft", "int8"],
        ["--per-address", "4", "--share"],
        ["--visitors-may", "load", "--public"],
    ],
)
def test_flags_that_contradict_are_refused(arguments: list[str]) -> None:
    assert app.contradiction(app.parser().parse_args(arguments)).startswith("--")


def test_strangers_are_served_only_models_that_never_change() -> None:
    for name in ("bundled", "smollm2-135m"):
        asked = app.parser().parse_args(["--public", "--pair", name])
        assert app.requested(asked).name == name
    with pytest.raises(BadPair, match="bundled, smollm2-135m, not qwen3-8b"):
        app.requested(app.parser().parse_args(["--public", "--pair", "qwen3-8b"]))


@pytest.mark.parametrize(
    "arguments",
    [
        ["--draft", "x"],
        ["--offload", "--device", "spread"],
        ["--pair", "nope"],
        ["--pair", "qwen3-8b", "--target", "a", "--draft", "b"],
    ],
)
def test_a_pair_that_cannot_be_is_refused(arguments: list[str]) -> None:
    with pytest.raises(SequoiaError):
        app.requested(app.parser().parse_args(arguments))


@pytest.mark.parametrize("before", [[], ["--pair", "qwen3-8b"], ["--target", "a/b"]])
@pytest.mark.parametrize("draft", ["int8", "ngram"])
def test_a_draft_without_files_may_be_given_alone(before: list[str], draft: str) -> None:
    request = app.requested(app.parser().parse_args([*before, "--draft", draft]))
    assert request.derived == draft


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ([], True),
        (["--host", "::1"], True),
        (["--trusted-proxy", "127.0.0.1"], True),
        (["--host", "0.0.0.0"], False),
        (["--share"], False),
        (["--public"], False),
    ],
)
def test_a_server_that_others_can_reach_has_an_owner(flags: list[str], expected: bool) -> None:
    assert app.is_alone(app.parser().parse_args(flags)) is expected


def test_only_the_download_process_gets_the_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """`set_up` hides the proxy variables from this process. It also turns off Gradio's analytics
    and, in this process, access to the Hub."""
    environment = {"ALL_PROXY": "socks5://127.0.0.1:9", "no_proxy": "::1", "HF_HUB_OFFLINE": ""}
    monkeypatch.setattr(app.os, "environ", environment)
    assert app.set_up()
    assert app.os.environ["HF_HUB_OFFLINE"] == "1"
    assert not app.set_up(), "HF_HUB_OFFLINE=1 allows no downloads"
    assert app.os.environ["GRADIO_ANALYTICS_ENABLED"] == "False"
    assert not [name for name in environment if name.lower() in ("all_proxy", "no_proxy")]
    download_worker.use_proxies()
    assert environment["ALL_PROXY"] == "socks5://127.0.0.1:9"
    assert environment["no_proxy"] == "::1"
