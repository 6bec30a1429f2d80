/* The figure of an experiment: where its plots are, how a method looks in them, and the ticks. */
import { test } from "node:test";
import assert from "node:assert/strict";
import { experimentFigure, logTicks } from "../../ui/experiments/web/experiment_figure.js";
import { laneStyles } from "../../ui/race/web/lane_style.js";

const point = (x, mean, half = 0.1) => ({
  x,
  mean,
  low: half === null ? null : mean - half,
  high: half === null ? null : mean + half,
  prompts: 8,
});
const series = (name, method, panel, points = [point(16, 3), point(64, 4)]) => ({
  name,
  method,
  panel,
  points,
});
const made = (all, changes = {}) =>
  /** @type {any} */ ({
    x: { name: "nodes", label: "nodes", scale: "log" },
    y: { name: "tokens", label: "tokens per step", scale: "linear" },
    series: all,
    ...changes,
  });
const panels = ["code, T = 0", "code, T = 0.6", "prose, T = 0", "prose, T = 0.6"];
const four = made(
  panels.flatMap((panel) => [series("Sequoia", "sequoia", panel), series("chain", "chain", panel)]),
);

test("each panel has its own plot; on a narrow page the plots are below each other", () => {
  const narrow = experimentFigure(four, 340);
  const wide = experimentFigure(four, 1200);
  const axesOf = ({ layout }) => Object.keys(layout).filter((name) => /^yaxis/.test(name));
  assert.deepEqual(axesOf(narrow), ["yaxis", "yaxis2", "yaxis3", "yaxis4"]);
  assert.deepEqual(narrow.layout.xaxis.domain, [0, 1]);
  assert.deepEqual(narrow.layout.xaxis4.domain, [0, 1]);
  assert.ok(wide.layout.xaxis2.domain[0] > wide.layout.xaxis.domain[1]);
  assert.deepEqual(wide.layout.xaxis3.domain, wide.layout.xaxis.domain);
  assert.ok(narrow.height > 1.5 * wide.height);
  assert.deepEqual(
    wide.layout.annotations.map(({ text }) => text),
    panels,
  );
});

test("every plot names its horizontal axis, and the name has room above the next plot", () => {
  const { layout, height } = experimentFigure(four, 340);
  for (const i of ["", "2", "3", "4"]) assert.equal(layout["xaxis" + i].title.text, "nodes");
  const inner = height - layout.margin.t - layout.margin.b;
  const gap = (layout.yaxis.domain[0] - layout.yaxis2.domain[1]) * inner;
  assert.ok(gap > layout.margin.b + 24);
});

test("plots lie inside the area and do not overlap", () => {
  for (const width of [300, 600, 1300]) {
    const { layout } = experimentFigure(four, width);
    const boxes = [1, 2, 3, 4].map((i) => {
      const end = i === 1 ? "" : String(i);
      return [layout["xaxis" + end].domain, layout["yaxis" + end].domain];
    });
    for (const [x, y] of boxes)
      for (const [low, high] of [x, y]) assert.ok(low >= 0 && high <= 1.000001 && low < high);
    for (const [i, [x, y]] of boxes.entries())
      for (const [ox, oy] of boxes.slice(i + 1)) {
        const apart = (a, b) => a[1] < b[0] || b[1] < a[0];
        assert.ok(apart(x, ox) || apart(y, oy), `plots overlap at ${width}`);
      }
  }
});

test("a method looks the same in every panel and in Race, and appears once in the legend", () => {
  const { data } = experimentFigure(four, 900);
  const [lane] = laneStyles(/** @type {any} */ ([{ plain: false, kind: "planned" }]));
  const ours = data.filter(({ name }) => name === "Sequoia");
  assert.equal(ours.length, 4);
  for (const { line, marker } of ours) {
    assert.equal(line.color, lane.colour);
    assert.equal(marker.symbol, lane.symbol);
  }
  assert.deepEqual(
    ours.map(({ showlegend }) => showlegend),
    [true, false, false, false],
  );
});

test("two lines of one method differ in dash and marker; an unknown method is drawn too", () => {
  const all = [
    series("dynamic", "dynamic", "a"),
    series("dynamic, Traversal", "dynamic", "a"),
    series("?", "constructor", "a"),
  ];
  const { data } = experimentFigure(made(all), 500);
  assert.equal(data[0].line.color, data[1].line.color);
  assert.notEqual(data[0].line.dash, data[1].line.dash);
  assert.equal(data[1].marker.symbol, data[0].marker.symbol + "-open");
  assert.equal(data[2].line.color, "var(--race-other)");
});

test("error bars reach to the ends of the interval; without an interval there are no bars", () => {
  const [bar] = experimentFigure(made([series("a", "chain", "p")]), 500).data;
  assert.ok(Math.abs(bar.error_y.array[0] - 0.1) < 1e-9);
  assert.ok(Math.abs(bar.error_y.arrayminus[1] - 0.1) < 1e-9);
  assert.match(bar.text[0], /95% CI 2.90 to 3.10/);
  const [none] = experimentFigure(made([series("a", "chain", "p", [point(1, 2, null)])]), 500).data;
  assert.equal(none.error_y, undefined);
  assert.deepEqual(none.text, [""]);
});

test("tags in names from a file are escaped, so they are shown as text", () => {
  const { data, layout } = experimentFigure(made([series("<b>", "chain", "<i>")]), 500);
  assert.equal(data[0].name, "&lt;b&gt;");
  assert.equal(layout.annotations[0].text, "&lt;i&gt;");
});

test("a linear vertical axis starts at 0; a logarithmic one cannot", () => {
  const mode = (scale) => {
    const y = { name: "tokens", label: "tokens per step", scale };
    const { layout } = experimentFigure(made(four.series, { y }), 900);
    return [layout.yaxis.rangemode, layout.yaxis4.rangemode, layout.xaxis.rangemode];
  };
  assert.deepEqual(mode("linear"), ["tozero", "tozero", undefined]);
  assert.deepEqual(mode("log"), [undefined, undefined, undefined]);
});

test("ticks of a logarithmic axis", () => {
  assert.deepEqual(logTicks([16, 64, 512]), [16, 32, 64, 128, 256, 512]);
  assert.deepEqual(logTicks([0.02, 0.6]), [0.02, 0.05, 0.1, 0.2, 0.5]);
  assert.deepEqual(logTicks([0.00001, 0.9]), [0.00001, 0.0001, 0.001, 0.01, 0.1]);
  assert.deepEqual(logTicks([0, -1]), []);
  assert.ok(logTicks([1, 1024]).length <= 8);
});

test("a result without series gives an empty figure", () => {
  const { data, height } = experimentFigure(made([]), 500);
  assert.deepEqual(data, []);
  assert.ok(height > 0);
});
