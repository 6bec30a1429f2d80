"""A message appears where the visitor looks, however far down the page is scrolled."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

STAGE = "document.querySelector('#{view}-view .sq-stage').view"
# the view's address, its id, and how it is made to show a message
VIEWS = {
    "run": ("pg", "store.set({ error: 'Not opened: no run.' })", "error"),
    "design/machine": ("hw", "say('Link copied.', false)", "banner"),
    "evidence/lossless": ("ls", "say('Link copied.', false)", "banner"),
}


def test_the_page_scrolls_to_why_a_file_was_refused(visit: Callable[..., Page]) -> None:
    """In Tree the reason stands beside the fields that the file would have filled."""
    page = visit(has_form=False)
    page.evaluate("location.hash = 'design/tree'")
    page.wait_for_selector("#lab-view [data-part=acceptance]")
    page.evaluate("scrollTo(0, 1e6)")
    file = {"name": "a.json", "mimeType": "application/json", "buffer": b"{}"}
    page.locator("#lab-view input[type=file]").set_input_files(file)
    message = page.locator("#lab-view [data-part=problem]")
    expect(message).to_contain_text("Not used")
    expect(message).to_be_in_viewport(ratio=1)


def test_a_message_is_in_view_at_the_end_of_the_page(visit: Callable[..., Page]) -> None:
    page = visit(has_form=False)
    page.set_viewport_size({"width": 1280, "height": 700})
    for address, (view, say, part) in VIEWS.items():
        page.evaluate(f"location.hash = '{address}'")
        stage = STAGE.format(view=view)
        page.wait_for_function(f"document.querySelector('#{view}-view .sq-stage')?.view")
        page.wait_for_selector(f"#{view}-view", state="visible")
        # what these show at first is sent when they are opened, and would replace the message
        if view == "pg":
            page.wait_for_function(f"{stage}.store.steps.length")
        if view == "hw":
            page.wait_for_selector("#hw-view [data-nodes]")
        page.evaluate(f"{stage}.{say}")
        message = page.locator(f"#{view}-view [data-part={part}]")
        expect(message).to_be_visible()
        page.mouse.move(640, 400)
        page.evaluate("scrollTo(0, 1e6)")
        box = message.bounding_box()
        assert box, address
        assert 0 <= box["y"] < 700, address
