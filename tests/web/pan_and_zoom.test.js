// The point under the pointer stays where it is when the picture is zoomed.
import "./fake_page.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { PanAndZoom } from "../../ui/shared/web/pan_and_zoom.js";

for (const head of [0, 22])
  test(`zoom stays at the pointer with a row of ${head} px above the picture`, () => {
    const scroller = {
      scrollLeft: 0,
      scrollTop: 400,
      clientWidth: 600,
      clientHeight: 400,
      addEventListener() {},
      getBoundingClientRect: () => ({ left: 0, top: 0 }),
    };
    const view = /** @type {any} */ ({
      scroller,
      frame: { width: 2000, height: 3000 },
      zoom: 1,
      scale() {},
    });
    const pan = new PanAndZoom(view, () => {}, head);
    const shown = () => (scroller.scrollTop + 211 - head) / view.zoom;
    const before = shown();
    pan.zoomTo(2, { x: 300, y: 211 });
    assert.equal(shown(), before);
  });
