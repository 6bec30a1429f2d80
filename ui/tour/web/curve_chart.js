/* A chart of curves over the number of tokens in a pass. One number of tokens is marked. */
import { el, sized, svg } from "../../shared/web/dom.js";
import { figure } from "./filled.js";

const HEIGHT = 190;
const LEFT = 30;
const BOTTOM = 34;
const TOP = 10;
const RIGHT = 14;
const LABEL = 8; // px between a curve and its name above it

/**
 * @typedef {{name: string, cls: string, points: number[][]}} Line `points`: [x, y] for each
 *   x = 1, 2, ...; y must not decrease
 * @typedef {object} About
 * @property {string} label for screen readers
 * @property {string} axis title of the horizontal axis
 * @property {Line[]} lines the highest line first
 * @property {string} naive name of the line y = x, which is drawn for comparison
 * @property {number} mark the number of tokens at which the curves are marked
 */

/** The chart. */
export class CurveChart {
  /**
   * @param {Element} host
   * @param {About} about
   */
  constructor(host, about) {
    this.about = about;
    this.box = el("div", { class: "sq-tour-chart" }, host);
    const at = (line) => figure(line.points[about.mark - 1][1], 2);
    const values = about.lines.map((line) => `${line.name}: ${at(line)} at ${about.mark}`);
    const label = `${about.label}. ${values.join("; ")}.`;
    this.root = svg("svg", { role: "img", "aria-label": label, height: HEIGHT }, this.box);
    this.size = sized(this.box, () => this.draw());
  }

  draw() {
    this.root.replaceChildren();
    this.root.setAttribute("width", String(this.size.w));
    this.mostX = this.about.lines[0].points.length;
    this.mostY = Math.ceil(this.about.lines[0].points.at(-1)[1] + 0.5);
    this.grid();
    this.naive();
    for (const line of this.about.lines) this.line(line);
  }

  x(value) {
    return LEFT + ((this.size.w - LEFT - RIGHT) * (value - 1)) / (this.mostX - 1);
  }

  y(value) {
    return HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * value) / this.mostY;
  }

  text(x, y, words, cls, anchor = "start") {
    svg("text", { x, y, class: cls, "text-anchor": anchor, text: words }, this.root);
  }

  grid() {
    const { mark, axis } = this.about;
    for (let value = 0; value <= this.mostY; value += 2) {
      svg("path", { class: "sq-grid", d: `M${LEFT} ${this.y(value)}H${this.size.w}` }, this.root);
      this.text(LEFT - 6, this.y(value) + 4, String(value), "sq-axis", "end");
    }
    const highest = this.about.lines[0].points[mark - 1][1];
    const d = `M${this.x(mark)} ${this.y(0)}V${this.y(highest)}`;
    svg("path", { class: "sq-tour-mark", d }, this.root);
    for (const value of [1, mark, this.mostX / 2, this.mostX])
      this.text(this.x(value), HEIGHT - BOTTOM + 15, String(value), "sq-axis", "middle");
    this.text((LEFT + this.size.w) / 2, HEIGHT - 4, axis, "sq-axis", "middle");
  }

  naive() {
    const d = `M${this.x(1)} ${this.y(1)}L${this.x(this.mostY)} ${this.y(this.mostY)}`;
    svg("path", { class: "sq-tour-naive", d }, this.root);
    this.text(this.x(this.mostY) + 8, TOP + 12, this.about.naive, "sq-axis");
  }

  line({ name, cls, points }) {
    const d = points.map(([x, y]) => `${this.x(x).toFixed(1)} ${this.y(y).toFixed(1)}`).join("L");
    svg("path", { class: "sq-tour-line " + cls, d: "M" + d }, this.root);
    const [x, y] = points[this.about.mark - 1];
    svg("circle", { class: cls, cx: this.x(x), cy: this.y(y), r: 4 }, this.root);
    const at = points[Math.floor(points.length * 0.62)];
    this.text(this.x(at[0]), this.y(at[1]) - LABEL, name, "sq-tour-name " + cls, "end");
  }
}
