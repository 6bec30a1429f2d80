/* One node with its numbers and the sentence why, the step as a sentence, and every trial of the walk in order. */
import { makePanel } from "../../shared/web/panel.js";
import { attr, button, el, pool, show, text } from "../../shared/web/dom.js";
import * as format from "../../shared/web/format.js";
import { known, ms, percent, prob } from "../../shared/web/format.js";
import * as stepWords from "../../shared/web/step_words.js";
import { addTerm, markTerm } from "../../shared/web/tooltips.js";

const FIGURES = [
  ["id", "token id"],
  ["node", "node"],
  ["level", "level"],
  ["rank", "child"],
  ["q", "q, draft"],
  ["p", "p, target"],
  ["tq", "q at trial"],
  ["tp", "p at trial"],
  ["ratio", "p / q"],
  ["u", "u"],
  ["mass", "mass left"],
  ["share", "accepted in"],
];

export class Inspector {
  constructor(store, host) {
    this.store = store;
    const panel = makePanel(host, { part: "inspector", title: "Why", cls: "sq-inspector" });
    this.root = panel.root;
    this.kicker = addTerm(panel.tools, "", "decisive trial", "sq-kicker");
    this.unpin = button(panel.tools, {
      icon: "close",
      label: "Unpin (Escape)",
      cls: "sq-mini-btn",
    });
    this.unpin.addEventListener("click", () => store.set({ pin: null }));
    const card = el("div", { class: "sq-card", "data-part": "card" }, panel.body);
    const line = el("div", { class: "sq-card-line" }, card);
    this.token = el("span", { class: "sq-pill", "data-part": "card-token" }, line);
    this.state = el("span", { class: "sq-state" }, line);
    this.why = el("p", { class: "sq-why", "data-part": "why" }, card);
    this.meter = new Meter(card);
    this.list = el("dl", { class: "sq-figures" }, card);
    this.figures = {};
    for (const [key, label] of FIGURES) {
      const box = el("div", { "data-figure": key }, this.list);
      addTerm(el("dt", {}, box), label, "why " + key);
      this.figures[key] = { box, value: el("dd", {}, box) };
    }
    this.story = new Story(store, panel.body);
  }

  paint() {
    const { store } = this;
    const view = store.view();
    const node = store.selected;
    this.story.paint(view, node);
    if (!view || node === null) return;
    const how =
      store.hover === node ? "under the pointer" : store.pin === node ? "pinned" : "decisive trial";
    const word = how === "decisive trial" && !view.trials.length ? "no trial in this step" : how;
    text(this.kicker, word);
    markTerm(this.kicker, word);
    show(this.unpin, store.pin !== null && how === "pinned");
    const state = view.stateOf(node);
    text(this.token, view.label(node));
    this.token.dataset.s = state;
    attr(
      this.token,
      "title",
      view.piece(node) === view.label(node)
        ? null
        : "the token’s text, invisible characters made visible",
    );
    text(
      this.state,
      state === "bonus"
        ? "target’s own, bonus"
        : state === "correction"
          ? "target’s own, correction"
          : stepWords.states[state],
    );
    this.state.dataset.s = state;
    text(this.why, stepWords.why(view, node));
    const trial = node === "bonus" ? null : view.trial(node);
    this.meter.paint(trial);
    this.paintFigures(view, node, trial);
  }

  paintFigures(view, node, trial) {
    const { topo } = view;
    const on = node !== "bonus";
    const inner = on && node > 0;
    const put = (key, value) => {
      show(this.figures[key].box, value !== null);
      if (value !== null) text(this.figures[key].value, value);
    };
    put("id", String(view.id(node)));
    put("node", on ? String(node) : null);
    put("level", on ? topo.depth[node] + 1 + " of " + topo.levels : null);
    put(
      "rank",
      inner ? topo.rank[node] + 1 + " of " + topo.children[topo.parents[node]].length : null,
    );
    put("q", inner ? prob(view.q(node)) : null);
    put("p", inner ? prob(view.p(node)) : null);
    put("tq", trial ? prob(trial.q) : null);
    put("tp", trial ? prob(trial.p) : null);
    put("ratio", trial && trial.q > 0 ? prob(trial.p / trial.q) : trial ? "–" : null);
    put("u", trial && known(trial.u) ? prob(trial.u) : trial ? "none" : null);
    put("mass", trial && known(trial.mass) ? percent(trial.mass) : null);
    put("share", inner ? percent(this.store.share(view.step.tree, node)) : null);
  }
}

/** u on the line from 0 to 1, against the part of it that accepts. */
export class Meter {
  constructor(host) {
    this.root = el("div", { class: "sq-meter", role: "img" }, host);
    this.top = el("span", { class: "sq-meter-u" }, this.root);
    const bar = el("div", { class: "sq-meter-bar" }, this.root);
    this.yes = el("div", { class: "sq-meter-yes" }, bar);
    this.mark = el("div", { class: "sq-meter-mark" }, bar);
    this.under = el("div", { class: "sq-meter-scale" }, this.root);
    el("span", { text: "0" }, this.under);
    this.ratio = el("span", { class: "sq-meter-ratio" }, this.under);
    el("span", { text: "1" }, this.under);
  }

  paint(trial) {
    const shown = Boolean(trial) && known(trial.u);
    show(this.root, shown);
    if (!shown) return;
    const ratio = trial.q > 0 ? trial.p / trial.q : trial.p > 0 ? Infinity : 0;
    const share = Math.max(0, Math.min(1, ratio));
    this.yes.style.width = share * 100 + "%";
    this.mark.style.left = trial.u * 100 + "%";
    this.mark.dataset.s = trial.accepted ? "accepted" : "rejected";
    this.top.style.left = Math.max(8, Math.min(92, trial.u * 100)) + "%";
    const [u, bound] = format.apart(trial.u, ratio);
    text(this.top, "u " + u);
    text(this.ratio, "accepted below p/q = " + bound);
    attr(this.root, "aria-label", "u is " + u + ", the token is accepted below " + bound);
  }
}

/** The step: its path as a sentence, its numbers, and its trials, each a line to press. */
export class Story {
  constructor(store, host) {
    this.store = store;
    const root = el("div", { class: "sq-story", "data-part": "story" }, host);
    this.title = el("h4", { class: "sq-sub" }, root);
    this.path = el("p", { class: "sq-path", "data-part": "path" }, root);
    this.pills = pool(() =>
      el("button", { type: "button", class: "sq-pill sq-pill-small" }, this.path),
    );
    this.line = el("p", { class: "sq-step-line" }, root);
    this.trialsTitle = el("h4", { class: "sq-sub", text: "Trials in order" }, root);
    this.list = el("ol", { class: "sq-trials", "data-part": "trials" }, root);
    this.rows = pool(() => trialRow(this.list));
    root.addEventListener("click", (event) => this.click(event));
    root.addEventListener("pointerover", (event) => this.over(event));
    root.addEventListener("pointerleave", () => this.over(null));
  }

  paint(view, selected) {
    if (this.shown !== view) this.paintStep(view);
    this.shown = view;
    if (!view) return;
    this.rows.items.forEach(({ node }, i) => {
      const on = i < view.trials.length && view.trials[i].node === selected;
      node.classList.toggle("is-selected", on);
      if (on && selected === view.decisive) this.wanted = node;
    });
  }

  settle() {
    if (this.wanted) reveal(this.list, this.wanted);
    this.wanted = null;
  }

  paintStep(view) {
    const lost = !view && this.store.last >= 0;
    text(this.title, view ? "Step " + (view.i + 1) : lost ? "Step " + (this.store.at + 1) : "");
    text(this.line, view ? this.numbers(view) : lost ? "This step did not arrive." : "");
    const nodes = view ? [...view.path, ...(view.kind === "none" ? [] : ["bonus"])] : [];
    this.pills
      .take(nodes.length)
      .slice(0, nodes.length)
      .forEach((pill, i) => {
        text(pill, view.label(nodes[i]));
        pill.dataset.s = view.stateOf(nodes[i]);
        pill.dataset.node = nodes[i];
      });
    const trials = view ? view.trials : [];
    show(this.trialsTitle, trials.length > 0);
    this.rows
      .take(trials.length)
      .slice(0, trials.length)
      .forEach((row, i) => row.fill(view, trials[i]));
  }

  numbers(view) {
    const emitted =
      format.count(view.step.emitted.length, "token") +
      " emitted in " +
      stepWords.sourced(ms(view.seconds), this.store.word);
    const end = view.step.finish
      ? " The run ends here: " + stepWords.finish(view.step.finish) + "."
      : "";
    return stepWords.step(view).replace(/\.$/, "") + "; " + emitted + "." + end;
  }

  nodeOf(event) {
    const value = event?.target.closest?.("[data-node]")?.dataset.node;
    return value === undefined ? null : value === "bonus" ? "bonus" : Number(value);
  }

  click(event) {
    const node = this.nodeOf(event);
    if (node !== null) this.store.set({ pin: this.store.pin === node ? null : node });
  }

  over(event) {
    const node = this.nodeOf(event);
    if (this.store.hover !== node) this.store.set({ hover: node });
  }
}

function reveal(list, row) {
  const top = row.offsetTop - list.offsetTop;
  if (top < list.scrollTop || top + row.offsetHeight > list.scrollTop + list.clientHeight)
    list.scrollTop = top - list.clientHeight / 2;
}

function trialRow(list) {
  const node = el("li", { class: "sq-trial" }, list);
  const press = el("button", { type: "button", class: "sq-trial-btn" }, node);
  const sign = el("span", { class: "sq-trial-sign", "aria-hidden": "true" }, press);
  const word = el("span", { class: "sq-trial-word" }, press);
  const bar = el("span", { class: "sq-trial-bar", "aria-hidden": "true" }, press);
  const yes = el("span", { class: "sq-trial-yes" }, bar);
  const mark = el("span", { class: "sq-trial-mark" }, bar);
  const ratio = el("span", { class: "sq-trial-ratio" }, press);
  return {
    node,
    fill(view, trial) {
      const share = trial.q > 0 ? trial.p / trial.q : trial.p > 0 ? Infinity : 0;
      node.dataset.s = trial.accepted ? "accepted" : "rejected";
      node.dataset.node = trial.node;
      text(sign, trial.accepted ? "✓" : "✕");
      text(word, view.label(trial.node));
      yes.style.width = Math.min(1, share) * 100 + "%";
      mark.hidden = !known(trial.u);
      if (known(trial.u)) mark.style.left = trial.u * 100 + "%";
      text(
        ratio,
        known(trial.u)
          ? "u " + format.apart(trial.u, share).join(trial.accepted ? " < " : " ≥ ")
          : "p " + format.short(trial.p),
      );
      attr(
        press,
        "aria-label",
        (trial.accepted ? "accepted " : "rejected ") +
          view.label(trial.node) +
          ", level " +
          (view.topo.depth[trial.node] + 1),
      );
    },
  };
}
