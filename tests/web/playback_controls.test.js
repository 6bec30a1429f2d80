// The controls around a picture: the playback bar, the phase bar and the zoom. Also, when a chart
// can be saved.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { FakeNode, made } from "./fake_page.js";
import { Chart } from "../../ui/shared/web/chart.js";
import { PanAndZoom } from "../../ui/shared/web/pan_and_zoom.js";
import { PhaseBar } from "../../ui/shared/web/phase_bar.js";
import { Scrubber } from "../../ui/run/web/scrubber.js";

afterEach(() => {
  for (const name of ["window", "location", "getComputedStyle"]) delete globalThis[name];
});

test("the tooltip of the play button says what the button does now", () => {
  const store = { playing: true, rate: "x1" };
  const nodes = { playing: new FakeNode(), live: new FakeNode(), speed: {}, head: new FakeNode() };
  const bar = made(Scrubber, { store, ...nodes });
  const title = () => {
    bar.paintControls(true);
    return bar.playing.getAttribute("title");
  };
  assert.equal(title(), "Pause (space)");
  store.playing = false;
  assert.equal(title(), "Play (space)");
});

test("without a step, no time of an earlier step is shown", () => {
  const nodes = { root: new FakeNode(), caption: new FakeNode(), time: new FakeNode() };
  const bar = made(PhaseBar, { motion: { step: null, shown: null }, ...nodes });
  bar.paint("measured");
  assert.ok(bar.time.hidden);
});

/** The zoom after each of three presses of the fit button. The picture is 100 px wide and `height`
 * px high, in a box of 100 × 100 px. */
function fitted(height) {
  const box = { left: 0, top: 0 };
  const scroller = Object.assign(new FakeNode(), {
    getBoundingClientRect: () => box,
    clientWidth: 100,
    clientHeight: 100,
    scrollLeft: 0,
    scrollTop: 0,
  });
  const frame = { width: 100, height };
  const view = { scroller, size: { w: 100, h: 100 }, frame, zoom: 1, scale() {} };
  const pan = new PanAndZoom(/** @type {any} */ (view), () => {});
  return [1, 2, 3].map(() => {
    pan.zoomFit();
    return view.zoom;
  });
}

test("the fit button, pressed again, returns to the readable size, for any size of picture", () => {
  assert.deepEqual(fitted(200), [0.5, 1, 0.5]);
  assert.deepEqual(fitted(4000), [0.25, 1, 0.25]);
});

test("a figure can be saved once Plotly has drawn it", async () => {
  const node = new FakeNode();
  const chart = made(Chart, { node, path: "plotly.js", size: { w: 300, h: 90 }, waiting: false });
  let fails = false;
  const react = async () => {
    if (fails) throw new Error("not drawn");
  };
  Object.assign(globalThis, {
    window: { Plotly: { react } },
    location: { origin: "http://localhost", pathname: "/" },
    getComputedStyle: () => ({ getPropertyValue: () => "" }),
  });
  chart.figure = { data: [], layout: {} };
  assert.equal(chart.drawn, null);
  await chart.draw();
  assert.equal(chart.drawn, node);
  fails = true;
  await chart.draw();
  assert.equal(chart.drawn, null);
});
