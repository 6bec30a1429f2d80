/* The models view: what is in use, how far a load is and what its checks say, and the pairs that have a name. Decides nothing. */
import { makePanel } from "../../shared/web/panel.js";
import { ModelTypes } from "./model_types.js";
import { connectComponent, whenShown } from "../../shared/web/connect_component.js";
import * as dom from "../../shared/web/dom.js";
import { el, show, text } from "../../shared/web/dom.js";

const COLUMNS = ["Pair", "Target and draft", "Download", "Licence", "Memory", "Disk", ""];

class Board {
  constructor(root, ask) {
    this.root = root;
    this.ask = ask;
    root.replaceChildren();
    const frame = el("div", { class: "sq-frame" }, root);
    this.banner = el(
      "p",
      { class: "sq-banner sq-banner-error", role: "alert", "data-part": "banner", hidden: "" },
      frame,
    );
    this.makeLoad(frame);
    this.makeUse(frame);
    this.makePairs(frame);
    this.types = new ModelTypes(frame);
  }

  // -- building --------------------------------------------------------------------------------------------------------------

  makeLoad(frame) {
    const panel = makePanel(frame, { part: "load", title: "Loading", cls: "md-load" });
    this.load = {
      root: panel.root,
      now: el("p", { class: "md-now", role: "status" }, panel.body),
    };
    show(panel.root, false);
    this.load.bar = el(
      "div",
      {
        class: "hw-progress md-bar",
        role: "progressbar",
        "aria-valuemin": "0",
        "aria-valuemax": "100",
        "aria-label": "Downloaded",
      },
      panel.body,
    );
    this.load.fill = el("i", {}, this.load.bar);
    this.load.amount = el("p", { class: "md-amount" }, panel.body);
    this.load.checks = el("ul", { class: "md-checks", "aria-label": "Checks passed" }, panel.body);
  }

  makeUse(frame) {
    const panel = makePanel(frame, { part: "use", title: "In use", cls: "md-use" });
    this.use = { root: panel.root, facts: el("dl", { class: "md-facts" }, panel.body) };
    show(panel.root, false);
  }

  makePairs(frame) {
    const panel = makePanel(frame, {
      part: "pairs",
      title: "Pairs that go together",
      cls: "md-pairs",
    });
    this.machine = el("span", { class: "sq-word", "data-part": "machine" }, panel.titleBox);
    const box = el("div", { class: "md-box" }, panel.body);
    const table = el("table", { class: "md-table" }, box);
    const head = el("tr", {}, el("thead", {}, table));
    for (const name of COLUMNS)
      el("th", { scope: "col", text: name, "aria-label": name || "Choose" }, head);
    this.rows = el("tbody", {}, table);
    this.note = el("p", { class: "md-note" }, panel.foot);
    text(
      this.note,
      "Sizes are published figures, and memory is predicted from them; before a download the hub’s own list of files is asked. Any two models of full attention with the same tokenizer can be loaded: choose “two models of your own”.",
    );
  }

  // -- messages --------------------------------------------------------------------------------------------------------------

  take(message) {
    text(this.banner, message.error || "");
    show(this.banner, Boolean(message.error));
    if (message.load) this.showLoad(message.load);
    if (message.pairs) this.showAll(message);
  }

  showLoad(load) {
    const { root, now, bar, fill, amount, checks } = this.load;
    show(root, true);
    this.root.dataset.load = load.error
      ? "failed"
      : load.done
        ? "done"
        : load.over
          ? "stopped"
          : "running";
    const end = load.error
      ? "Not loaded: " + load.error
      : load.done
        ? "Loaded and in use in every tab."
        : "";
    text(now, end || (load.model ? `${load.words} ${load.model}` : load.words));
    now.classList.toggle("md-failed", Boolean(load.error));
    const share = typeof load.share === "number" ? Math.floor(load.share * 100) : null;
    show(bar, share !== null);
    bar.setAttribute("aria-valuenow", String(share ?? 0));
    fill.style.width = (share ?? 0) + "%";
    text(amount, load.amount || "");
    show(amount, Boolean(load.amount));
    checks.replaceChildren();
    for (const [what, words] of load.checks) {
      const item = el("li", {}, checks);
      el("b", { text: what }, item);
      el("span", { text: words }, item);
    }
  }

  showAll({ pairs, loaded, machine, types }) {
    text(
      this.machine,
      `${machine.device} · ${machine.free} of ${machine.memory} memory free · ${machine.disk} disk free` +
        (machine.online ? "" : " · HF_HUB_OFFLINE is set: nothing is downloaded"),
    );
    this.rows.replaceChildren(...pairs.map((pair) => this.row(pair)));
    this.showUse(loaded);
    this.types.show(types);
  }

  showUse(loaded) {
    show(this.use.root, Boolean(loaded));
    if (!loaded) return;
    this.root.dataset.pair = loaded.name;
    const rows = [];
    for (const role of ["target", "draft"]) {
      const model = loaded[role];
      rows.push([
        role[0].toUpperCase() + role.slice(1),
        [model.name, model.numbers, `${model.forward} forward`, model.device, model.placement]
          .filter(Boolean)
          .join(" · "),
      ]);
      if (model.no_fast_forward)
        rows.push([`No faster forward for the ${role}`, model.no_fast_forward]);
    }
    rows.push(
      ["Vocabulary", `${loaded.vocab.toLocaleString("en")} tokens`],
      [
        "Context",
        `${loaded.limit.toLocaleString("en")} tokens${loaded.why ? `: ${loaded.why}` : ""}`,
      ],
    );
    rows.push([
      "Chat template",
      loaded.chat
        ? "yes: “as a chat message” in Decode and Race"
        : "none: prompts are continued as they stand",
    ]);
    this.use.facts.replaceChildren();
    for (const [name, value] of rows) {
      el("dt", { text: name }, this.use.facts);
      el("dd", { text: value }, this.use.facts);
    }
  }

  row(pair) {
    const row = el("tr", { "data-pair": pair.name });
    const name = el("th", { scope: "row" }, row);
    el("b", { text: pair.name }, name);
    el("small", { text: pair.tier, title: "Needs " + pair.needs }, name);
    const models = el("td", {}, row);
    for (const role of ["target", "draft"]) {
      const line = el(
        "div",
        {
          class: "md-model",
          title: `${pair[role].id}: ${pair[role].bytes}, ${pair[role].source}`,
        },
        models,
      );
      el("span", { text: pair[role].id }, line);
      el("small", { text: pair[role].parameters }, line);
    }
    el("td", { class: "md-number", text: pair.bytes }, row);
    const licence = el("td", { text: pair.licences }, row);
    if (pair.gated.length)
      el(
        "small",
        { class: "md-gated", text: "gated: accept it on the target’s page first" },
        licence,
      );
    for (const kind of ["memory", "disk"]) {
      const cell = el("td", { "data-fits": pair[kind].fits }, row);
      el("span", { class: "md-fits", text: pair[kind].words }, cell);
    }
    const button = dom.button(el("td", {}, row), {
      text: "Choose",
      label: `Choose ${pair.name}`,
      hint: "Needs " + pair.needs,
    });
    button.addEventListener("click", () => this.ask("choose", { pair: pair.name }));
    const wide = el("tr", { class: "md-needs" });
    el("td", { colspan: COLUMNS.length, text: pair.note }, wide);
    const both = document.createDocumentFragment();
    both.append(row, wide);
    return both;
  }
}

/** Called from the component's js_on_load with what Gradio gives it. */
export function connect(element, props, watch, trigger) {
  const root = element.querySelector(".md-stage");
  connectComponent(root, props, watch, new Board(root, trigger));
  whenShown(root, () => trigger("select", {}));
}
