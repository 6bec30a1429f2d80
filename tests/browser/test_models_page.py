"""The models view in a real browser: other models are downloaded from a hub on this machine. The
download is stopped and continued, and then every open page uses the models. These tests have an app
of their own, because they change its models."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_hub import FakeHub, served
from fakes import EOS, noisy, save, tiny_model, tiny_tokenizer
from playwright.sync_api import Browser, Page, TimeoutError, expect
from run_form import enter, run
from running_app import App, Visit, models_ready, open_view
from tokenizers.processors import TemplateProcessing

CHAT = (
    "{% for m in messages %}<|begin|>{{ m.role }}\n{{ m.content }}<|endoftext|>\n{% endfor "
    "%}<|begin|>assistant\n"
)
STAGE = "#md-view .md-stage"

pytestmark = pytest.mark.nightly  # it starts an app of its own


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeHub]:
    base = tmp_path_factory.mktemp("hub")
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = CHAT
    ends_with_eos = TemplateProcessing(single=f"$A {EOS}", special_tokens=[(EOS, 0)])
    tokenizer.backend_tokenizer.post_processor = ends_with_eos
    # the large vocabulary makes the files large, so that a download can be stopped before it ends
    target = tiny_model("qwen3", vocab=30_000)
    target.generation_config.repetition_penalty = 1.1
    with served() as found:
        for name, model in (("big", target), ("small", noisy(target, 0.05))):
            found.models[f"owner/{name}"] = Path(save(model, base / name, tokenizer))
        found.gated["owner/gated"] = 401
        found.models["owner/gated"] = found.models["owner/big"]
        yield found


@pytest.fixture(scope="module")
def models_app(hub: FakeHub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    cache = tmp_path_factory.mktemp("cache")
    app = App(
        HF_ENDPOINT=hub.url,
        NO_PROXY="127.0.0.1",  # the hub is on this machine
        HF_HUB_CACHE=str(cache),
        HF_HUB_OFFLINE="0",
        HF_TOKEN_PATH=str(cache / "none"),
    )
    app.answer()
    yield app
    printed = app.stop()
    assert "Traceback" not in printed, printed


@pytest.fixture
def opened(browser: Browser, models_app: App) -> Iterator[Callable[..., Page]]:
    """A function that opens a page and waits until the models are ready. At the end, the page's
    console must be empty, and the page must have requested nothing from other machines."""
    visits: list[Visit] = []

    def show(query: str = "", **options: Any) -> Page:
        visits.append(Visit(browser, models_app.url + query, **options))
        page = visits[-1].page
        models_ready(page)
        return page

    yield show
    for one in visits:
        one.check(models_app.url)


def comes(page: Page) -> Page:
    open_view(page, "Models")
    page.wait_for_selector(".md-table tr[data-pair]")
    return page


def names(page: Page, target: str, draft: str) -> None:
    if page.locator("#md-pair input").input_value() != "two models of your own":
        page.click("#md-pair input")
        page.get_by_role("option", name="two models of your own").click()
    for role, name in (("target", target), ("draft", draft)):
        page.locator(f"#md-{role} :is(input, textarea)").fill(name)


def ended(page: Page, how: str, seconds: float = 90) -> None:
    try:
        page.wait_for_selector(f"{STAGE}[data-load={how}]", timeout=seconds * 1000)
    except TimeoutError:
        raise AssertionError(page.inner_text("#md-view")) from None


def test_a_download_is_stopped_and_continued_and_every_page_uses_its_models(
    opened: Callable[..., Page], hub: FakeHub
) -> None:
    page = comes(opened())
    page.get_by_role("button", name="Choose qwen3-8b").click()
    expect(page.locator("#md-pair input")).to_have_value("qwen3-8b")
    other = opened()
    names(page, "owner/big", "owner/small")
    hub.slow = 0.03
    page.click("#md-load")
    page.wait_for_function(
        "document.querySelector('.md-load progress').value > 0.3", timeout=60_000
    )
    assert re.search(r"of .*[kM]B · .*/s", page.locator(".md-amount").inner_text())
    page.click("#md-stop")
    ended(page, "stopped")
    assert page.locator(".pg-status").inner_text().startswith("bundled pair")
    hub.slow = 0
    hub.asked.clear()
    page.click("#md-load")
    ended(page, "done")
    assert [path for path in hub.asked if "bytes=" in path], "the download did not continue"
    checks = page.locator(".md-checks").inner_text()
    assert all(
        what in checks for what in ("tokenizer", "target", "draft", "vocabulary", "chat template")
    )
    assert "left out of prompts" in checks  # the tokenizer's end of text
    assert "repetition_penalty = 1.1" in checks  # generate() would obey it
    for one in (page, other):
        expect(one.locator(".pg-status")).to_contain_text("big + small pair", timeout=15_000)
    expect(other.locator("#pg-chat")).to_be_visible()
    for page in (other, opened()):  # no recorded success of the bundled pair is shown any more
        expect(page.locator("#pg-view [data-part=empty]")).to_be_visible()
        expect(page.locator("#pg-run")).to_be_visible()
    enter(other, tokens=24)
    run(other)
    expect(other.locator("#pg-view .sq-model-name").first).to_have_text(re.compile("^owner/big, "))
    expect(other.locator("#pg-view .sq-special").first).to_have_text("<|begin|>")
    expect(other.locator("#pg-view [data-part=prompt]")).to_contain_text("as a chat message")
