/* The hardware view: read-outs, figures, the chosen tree, the latest run against its prediction, and the atlas. Computes nothing. */
import { makePanel } from "../../shared/web/panel.js";
import { AcceptancePanel } from "../../shared/web/acceptance_table.js";
import { Chart } from "../../shared/web/chart.js";
import { saveText } from "../../shared/web/save_file.js";
import { PLOTLY } from "../../shared/web/plotly.js";
import { connectComponent, whenShown } from "../../shared/web/connect_component.js";
import * as dom from "../../shared/web/dom.js";
import { attr, el, show, svg, text } from "../../shared/web/dom.js";
import * as pictures from "../../shared/web/save_picture.js";
import { addTerm } from "../../shared/web/tooltips.js";
import * as treeLayout from "../../shared/web/tree_layout.js";

const TILES = [
  ["speedup", "Speed-up", "predicted speed-up"],
  ["size", "Fastest tree", "fastest tree"],
  ["tokens", "Tokens a step", "tokens a step"],
  ["step", "Time a step", "time a step"],
  ["plain", "Plain token", "plain token"],
  ["knee", "Knee of t(n)", "knee"],
];
const TERMS = {
  tokens: "tokens a step",
  draft: "draft",
  verify: "verify",
  overhead: "overhead",
  plain: "plain token",
};
const NAMES = {
  tokens: "tokens a step",
  draft: "drafting",
  verify: "verifying",
  overhead: "overhead",
  plain: "a plain token",
};

/** Seconds as [number, unit]. */
function time(seconds) {
  if (seconds >= 1) return [seconds.toFixed(2), "s"];
  return seconds >= 1e-3 || seconds === 0
    ? [(seconds * 1e3).toFixed(seconds >= 0.1 ? 0 : 1), "ms"]
    : [(seconds * 1e6).toFixed(0), "µs"];
}
const words = (seconds) => time(seconds).join(" ");

class Board {
  constructor(root, path) {
    this.root = root;
    root.replaceChildren();
    const frame = el("div", { class: "sq-frame" }, root);
    this.head(frame);
    this.body = el("div", { class: "hw-body" }, frame);
    show(this.body, false);
    this.tiles = this.makeTiles(this.body);
    const top = el("div", { class: "hw-row hw-top" }, this.body);
    this.heat = this.figure(
      top,
      path,
      "heat",
      "Predicted speed-up by size and levels",
      "speed-up map",
      "hw-tall",
    );
    this.why = el("p", { class: "hw-say hw-why", "data-part": "why" }, this.heat.panel.foot);
    this.there = el("p", { class: "hw-say", "data-part": "there" }, this.heat.panel.foot);
    this.default = el(
      "p",
      { class: "hw-say hw-dim", "data-part": "default" },
      this.heat.panel.foot,
    );
    this.side(top);
    const curves = el("div", { class: "hw-row" }, this.body);
    this.verify = this.figure(curves, path, "verify", "Target pass, t(n)", "t(n)");
    addTerm(
      el("span", { class: "sq-word" }, this.verify.panel.titleBox),
      "bars: the spread",
      "spread",
    );
    this.small = this.figure(curves, path, "small", "Draft pass and overhead", "overhead by nodes");
    this.levels = el("p", { class: "hw-say hw-dim", "data-part": "levels" }, this.small.panel.foot);
    this.run = this.makeRun(this.body, path);
    this.atlas = new AcceptancePanel(
      makePanel(this.body, {
        part: "atlas",
        title: "Acceptance atlas",
        term: "atlas",
        cls: "hw-atlas-panel",
      }),
    );
    this.charts = [this.heat.chart, this.verify.chart, this.small.chart, this.run.chart];
    new MutationObserver(() => this.charts.forEach((chart) => chart.draw())).observe(
      document.body,
      { attributes: true, attributeFilter: ["class"] },
    );
  }

  // -- building --------------------------------------------------------------------------------------------------------------

  head(frame) {
    this.about = el("div", { class: "sq-about hw-about" }, frame);
    this.badge = el("span", { class: "sq-badge", "data-part": "label" }, this.about);
    this.name = el("b", { class: "sq-model-name" }, this.about);
    this.chips = el("span", { class: "sq-chips" }, this.about);
    this.banner = el(
      "p",
      { class: "sq-banner", role: "status", "data-part": "banner", hidden: "" },
      frame,
    );
    this.progress = el(
      "div",
      {
        class: "hw-progress",
        role: "progressbar",
        "aria-valuemin": "0",
        "aria-valuemax": "100",
        "aria-label": "Measuring",
        hidden: "",
      },
      frame,
    );
    this.fill = el("i", {}, this.progress);
  }

  makeTiles(host) {
    const box = el("div", { class: "sq-tiles" }, host);
    const tiles = {};
    for (const [key, label, term] of TILES) {
      const tile = el("div", { class: "sq-tile", "data-tile": key }, box);
      addTerm(el("div", { class: "sq-tile-label" }, tile), label, term);
      const line = el("div", { class: "sq-tile-line" }, tile);
      tiles[key] = {
        tile,
        value: el("span", { class: "sq-tile-value" }, line),
        unit: el("span", { class: "sq-tile-unit" }, line),
        note: el("div", { class: "sq-tile-note" }, tile),
      };
    }
    return tiles;
  }

  figure(host, path, part, title, term, cls) {
    const panel = makePanel(host, { part, title, term, cls: "hw-figure " + (cls || "") });
    const word = el("span", { class: "sq-word" }, panel.titleBox);
    const chart = new Chart(panel.body, path, title);
    pictures.buttons(panel.tools, () => (chart.figure ? chart.node : null), part, {
      reset: () => chart.reset(),
    });
    return { panel, word, chart };
  }

  side(host) {
    const column = el("div", { class: "hw-side" }, host);
    const tree = makePanel(column, {
      part: "tree",
      title: "The fastest tree",
      term: "fastest tree",
      cls: "hw-tree",
    });
    this.treeWord = el("span", { class: "sq-word" }, tree.titleBox);
    this.tree = svg(
      "svg",
      { class: "hw-tree-svg", role: "img", "aria-label": "The fastest tree" },
      tree.body,
    );
    this.treeSize = dom.sized(tree.body, () => this.paintTree());
    const facts = makePanel(column, { part: "facts", title: "Profile", cls: "hw-facts" });
    this.facts = el("dl", {}, facts.body);
    this.note = el("p", { class: "hw-say hw-note", "data-part": "note" }, facts.body);
    dom
      .button(facts.tools, { text: "Export", label: "Export the profile as JSON" })
      .addEventListener("click", () => this.export());
  }

  makeRun(host, path) {
    const made = this.figure(
      host,
      path,
      "run",
      "Latest run against its prediction",
      "prediction of a run",
    );
    made.empty = el(
      "p",
      {
        class: "hw-say hw-dim",
        text: "No run of this machine yet. Decode a prompt in the live view: its time by phase and its tokens a step are then held against what this machine's profile predicts.",
      },
      made.panel.body,
    );
    made.split = el("div", { class: "hw-split" }, made.panel.body);
    made.split.append(made.chart.node);
    made.table = el("table", { class: "hw-parts" }, made.split);
    made.sentence = el("p", { class: "hw-say", "data-part": "difference" }, made.panel.foot);
    return made;
  }

  // -- messages --------------------------------------------------------------------------------------------------------------

  take(message) {
    if (message.view) this.show(message.view);
    const said = message.error || message.notice;
    text(this.banner, said || "");
    show(this.banner, Boolean(said));
    attr(this.banner, "role", message.error ? "alert" : "status");
    if (message.error) this.banner.scrollIntoView({ block: "nearest" }); // the form beside it stays in sight, the head of the page not
    this.banner.classList.toggle("sq-banner-error", Boolean(message.error));
    const share = typeof message.share === "number" ? Math.round(message.share * 100) : null;
    show(this.progress, share !== null);
    this.progress.setAttribute("aria-valuenow", String(share ?? 0));
    this.fill.style.width = (share ?? 0) + "%";
    this.root.dataset.share = share ?? "";
  }

  show(view) {
    this.view = view;
    show(this.body, true);
    this.paintHead(view);
    this.paintTiles(view);
    const planned = `predicted · times ${view.profile.label}, acceptance ${view.rates.label}: ${view.rates.name}`;
    text(this.heat.word, planned);
    text(this.why, (view.supposed || "") + view.why);
    text(this.levels, view.levels || "");
    text(this.there, view.there || "");
    text(this.default, view.default);
    const compared = view.against
      ? `${view.profile.label}, with ${view.against}`
      : view.profile.label;
    text(this.verify.word, compared);
    text(this.small.word, compared);
    for (const name of ["heat", "verify", "small"]) this[name].chart.show(view.figures[name]);
    this.paintTree();
    this.paintRun(view.run);
    this.atlas.show(view.atlas);
    this.root.dataset.nodes = view.plan.nodes;
    this.root.dataset.profile = view.profile.name;
  }

  paintHead({ profile }) {
    this.badge.dataset.label = profile.label;
    text(this.badge, profile.label === "measured" ? "measured here" : profile.label);
    text(this.name, profile.name);
    this.chips.replaceChildren();
    for (const chip of [profile.device, profile.dtype])
      el("span", { class: "sq-chip", text: chip }, this.chips);
    this.facts.replaceChildren();
    const versions = Object.entries(profile.versions)
      .map((pair) => pair.join(" "))
      .join(", ");
    const rows = [
      ["Source", profile.label],
      ["Device", profile.device],
      ["Number type", profile.dtype],
      ["Target", profile.target],
      ["Draft", profile.draft],
      ["Prefix", profile.prefix ? profile.prefix + " tokens" : "not given"],
      ["Date", profile.date],
      ["Versions", versions || "not given"],
    ];
    for (const [name, value] of rows) {
      const head = el("dt", {}, this.facts);
      if (["Prefix", "Number type"].includes(name)) addTerm(head, name, name.toLowerCase());
      else text(head, name);
      el("dd", { text: value, title: value }, this.facts);
    }
    text(this.note, profile.note);
    show(this.note, Boolean(profile.note));
  }

  paintTiles({ plan, profile, knee, supposed }) {
    const put = (key, value, unit, note) => {
      const tile = this.tiles[key];
      text(tile.value, value);
      text(tile.unit, unit);
      text(tile.note, note);
    };
    put(
      "speedup",
      plan.speedup.toFixed(2),
      "×",
      supposed ? "predicted, what if" : "predicted, over plain",
    );
    put(
      "size",
      String(plan.nodes),
      plan.nodes === 1 ? "node" : "nodes",
      `on ${plan.levels} level${plan.levels === 1 ? "" : "s"}, predicted`,
    );
    put("tokens", plan.tokens.toFixed(2), "tokens", "predicted");
    put("step", ...time(plan.seconds), "predicted");
    put("plain", ...time(plan.plain), profile.label);
    put(
      "knee",
      knee.nodes === null ? "none" : String(knee.nodes),
      knee.nodes === null ? "" : "nodes",
      knee.nodes === null
        ? `up to ${knee.most} node${knee.most === 1 ? "; t(n) flat" : "s"}`
        : "take twice one node's time",
    );
    this.tiles.speedup.tile.dataset.verdict = plan.speedup > 1.0005 ? "faster" : "";
  }

  paintTree() {
    const {
      view,
      treeSize: { w, h },
    } = this;
    if (!view || w < 40 || h < 40) return;
    const { plan } = view;
    const topo = treeLayout.topology(view.tree);
    text(
      this.treeWord,
      `predicted · ${plan.nodes} node${plan.nodes === 1 ? "" : "s"}, ${topo.levels} level${topo.levels === 1 ? "" : "s"}`,
    );
    const dx = Math.min(48, (w - 32) / Math.max(topo.levels - 1, 1));
    const dy = Math.min(18, (h - 24) / Math.max(topo.rows - 1, 1));
    const left = (w - dx * (topo.levels - 1)) / 2;
    const top = (h - dy * (topo.rows - 1)) / 2;
    const x = (node) => left + dx * topo.depth[node];
    const y = (node) => top + dy * topo.row[node];
    let lines = "";
    for (let node = 1; node < topo.n; node++) {
      const parent = topo.parents[node];
      const bend = x(parent) + dx * 0.5;
      lines += `M${x(parent).toFixed(1)} ${y(parent).toFixed(1)}H${bend.toFixed(1)}V${y(node).toFixed(1)}H${x(node).toFixed(1)}`;
    }
    this.tree.setAttribute("viewBox", `0 0 ${w} ${h}`);
    this.tree.replaceChildren();
    svg("path", { d: lines, class: "sq-edge", "data-s": "untested" }, this.tree);
    const r = Math.max(1.2, Math.min(4, dy * 0.36, dx * 0.25));
    for (let node = 0; node < topo.n; node++)
      svg(
        "circle",
        {
          cx: x(node),
          cy: y(node),
          r: node ? r : Math.max(r, 3.5),
          class: node ? "hw-dot" : "hw-dot hw-root",
        },
        this.tree,
      );
  }

  paintRun(run) {
    const made = this.run;
    for (const node of [made.split, made.sentence, made.panel.tools]) show(node, Boolean(run));
    show(made.empty, !run);
    if (!run) return text(made.word, "");
    text(
      made.word,
      `this machine · ${run.steps} steps measured, tree of ${run.nodes} on ${run.levels} · predicted with acceptance ${run.rates_label}: ${run.rates}`,
    );
    text(made.sentence, run.sentence);
    made.chart.show(run.figure);
    made.table.replaceChildren();
    const head = el("tr", {}, made.table);
    for (const name of ["a step", "predicted", "measured", "what it did to the speed-up"])
      el("th", { text: name, scope: "col" }, head);
    for (const [name, predicted, measured, effect] of run.parts) {
      const row = el("tr", {}, made.table);
      const say = name === "tokens" ? (value) => value.toFixed(2) : words;
      const plain = name === "plain" && !run.plain_measured;
      addTerm(el("th", { scope: "row" }, row), NAMES[name], TERMS[name]);
      for (const value of [
        say(predicted),
        plain ? "not timed" : say(measured),
        plain ? "taken as predicted" : effect,
      ])
        el("td", { text: value }, row);
    }
    const row = el("tr", { class: "hw-total" }, made.table);
    const change = run.measured / run.predicted - 1;
    el("th", { text: "speed-up", scope: "row" }, row);
    const all =
      Math.abs(change) < 0.005
        ? "as predicted"
        : `all of these together: ${Math.abs(change * 100).toFixed(0)} % ${change < 0 ? "slower" : "faster"} than predicted`;
    for (const value of [run.predicted.toFixed(2) + "×", run.measured.toFixed(2) + "×", all])
      el("td", { text: value }, row);
  }

  export() {
    const name = this.view.profile.name.replace(/[^\w.-]+/g, "-").slice(0, 40);
    saveText(`sequoia-profile-${name}.json`, this.view.file);
  }
}

/** Called from the component's js_on_load with what Gradio gives it. */
export function connect(element, props, watch, trigger) {
  const root = element.querySelector(".hw-stage");
  connectComponent(root, props, watch, new Board(root, PLOTLY));
  whenShown(root, () => trigger("select"));
}
