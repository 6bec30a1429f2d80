"""No script or style of a saved page can end its element, and its title fills no gap."""

from __future__ import annotations

import re

from ui.shared.saved_pages import in_script, in_style, page


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
