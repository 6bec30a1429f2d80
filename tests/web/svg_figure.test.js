// Figures drawn as SVG without Plotly, as in a saved page.
import "./fake_page.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeNode } from "./fake_page.js";
import { drawFigure } from "../../ui/shared/web/svg_figure.js";

class SvgNode extends FakeNode {
  children = [];
  appendChild(node) {
    this.children.push(node);
  }
}

Object.assign(document, { createElementNS: () => new SvgNode() });

/** The figure's elements as drawn into 400 × 300 px. */
function drawn(figure) {
  let frame;
  const host = /** @type {any} */ ({ replaceChildren: (node) => (frame = node) });
  drawFigure(host, figure, { w: 400, h: 300 });
  return frame.children;
}

const styled = (nodes, colour) =>
  nodes.find((node) => node.attributes.style?.includes(`stroke: ${colour}`));

const line = (y) => ({ x: [0, 1, 2], y, mode: "lines", line: { color: "blue" } });

test("a line outside the range is cut off at the edge of its plot", () => {
  const layout = { xaxis: { range: [0, 2] }, yaxis: { range: [0, 1] } };
  const nodes = drawn({ data: [line([9, 1, 1])], layout });
  const box = nodes.find((node) => styled(node.children, "blue"));
  const { x, y, width, height, viewBox, overflow } = box.attributes;
  assert.deepEqual([x, y, width, height], ["52", "10", "330", "250"]);
  assert.deepEqual([viewBox, overflow], ["52 10 330 250", "hidden"]);
});

test("a horizontal limit above all values is drawn inside the plot", () => {
  const limit = { xref: "paper", x0: 0, x1: 1, y0: 5, y1: 5, line: { color: "red" } };
  const layout = { yaxis: { rangemode: "tozero" }, shapes: [limit] };
  const { d } = styled(drawn({ data: [line([1, 2, 4])], layout }), "red").attributes;
  const [, height] = /^M52 ([\d.-]+)L382 \1$/.exec(d);
  assert.ok(Number(height) > 10 && Number(height) < 60, d);
});
