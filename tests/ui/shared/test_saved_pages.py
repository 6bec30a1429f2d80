"""The template of a saved page: its gaps, and that no script or style can end its element."""

from __future__ import annotations

import re

import pytest

from ui.shared.join_modules import saved_pages
from ui.shared.saved_pages import in_script, in_style, page, template


@pytest.mark.parametrize("view", saved_pages())
def test_a_template_has_one_script_and_its_gaps(view: str) -> None:
    source = template(view)
    gaps = re.findall("@@([a-z]+)@@", source)
    assert sorted(gaps) == ["data", "nonce", "nonce", "title", "title"]
    assert f'modules["{view}/saved_page"].openPage();' in source
    assert source.lower().count("<script") - source.lower().count("<\\script") == 2
    assert source.lower().count("</script") == 2
    assert source.count("</style") == 1


def test_a_script_or_a_style_cannot_end_its_element() -> None:
    script = 'const a = "</script>", b = "</SCRIPT>", c = "<!--", d = /<\\/script/;'
    assert in_script(script) == script.replace("</s", "<\\/s").replace("</S", "<\\/S").replace(
        "<!", "<\\!"
    )
    assert "</style" not in in_style('p::after { content: "</style><script>"; }')


def test_a_title_is_escaped_and_fills_no_gap() -> None:
    made = page("run", "</title><script>@@nonce@@ & \"'", {})
    titles = re.findall("<title>(.*)</title>", made)
    assert titles == ["&lt;/title&gt;&lt;script&gt;@@nonce@@ &amp; &quot;&#x27;"]
    assert len(set(re.findall(r"nonce[-=]\W?(\w{32})", made))) == 1
