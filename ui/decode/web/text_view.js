/* The text as it grows, each token with its origin. Append only: a step's group is made once and never rebuilt. */
import { makePanel } from "../../shared/web/panel.js";
import * as dom from "../../shared/web/dom.js";
import { attr, button, el, show, text } from "../../shared/web/dom.js";
import { readable } from "../../shared/web/format.js";
import { Repeats, repeatsInWords } from "../../shared/web/repeats.js";
import * as stepWords from "../../shared/web/step_words.js";
import { addTerm } from "../../shared/web/tooltips.js";

export class TextView {
  /** `prompt()` tells what the form's is now; without it the run's own is not compared with anything. `take(meta)` puts the run's
        settings into the form. */
  constructor(store, host, { prompt, take } = {}) {
    this.store = store;
    this.formPrompt = prompt;
    const panel = makePanel(host, { part: "text", title: "Text", cls: "sq-text" });
    this.root = panel.root;
    const key = el("span", { class: "sq-key" }, panel.tools);
    el("span", { class: "sq-tok sq-tok-draft", text: "from the draft" }, key);
    el("span", { class: "sq-tok sq-tok-own", text: "the target’s own" }, key);
    this.asked = el("p", { class: "sq-asked", "data-part": "asked", hidden: "" }, panel.body);
    this.whose = el("span", { class: "sq-asked-whose" }, this.asked);
    this.wording = el("span", { class: "sq-asked-text" }, this.asked);
    const hint = "Put this run’s prompt, tree and settings into the form";
    this.taker =
      take && button(this.asked, { text: "Use its settings", cls: "sq-asked-take", hint });
    this.taker?.addEventListener("click", () => take(this.meta));
    this.box = el(
      "div",
      { class: "sq-text-box", tabindex: "0", role: "region", "aria-label": "Generated text" },
      panel.body,
    );
    this.prompt = el("span", { class: "sq-prompt" }, this.box);
    this.flow = el("span", { class: "sq-flow", "data-part": "flow" }, this.box);
    this.tail = el("span", { class: "sq-tok sq-tail", "data-part": "tail" }, this.box);
    this.end = el("span", { class: "sq-end", "data-part": "end" }, this.box);
    this.loops = addTerm(this.box, "", "repeats", "sq-loops");
    dom.sized(this.box, () => this.settle(this.seen)); // where it is made smaller, what stood in sight stays there
    this.box.addEventListener("click", (event) => this.click(event));
    this.box.addEventListener("pointerover", (event) => this.over(event));
    this.box.addEventListener("pointerleave", () => this.over(null));
    this.groups = [];
  }

  paint() {
    const { store } = this;
    if (this.version !== store.version) this.restart();
    if (this.meta !== store.meta) {
      this.meta = store.meta;
      this.writePrompt(store.meta);
    }
    this.paintPrompt(store.meta.prompt);
    for (let i = 0; i < this.groups.length; i++)
      if (this.groups[i] === null && store.steps[i]) this.fill(i);
    for (let i = this.groups.length; i < store.steps.length; i++) this.append(i);
    const growing = store.playing || (store.follow && !store.done);
    this.flow.classList.toggle("sq-flow-growing", growing);
    this.paintEnd(store.done && !(growing && store.at < store.last));
    this.mark();
    this.link();
  }

  /** The text before the answer: the prompt, or of a chat message every token that the models got. */
  writePrompt({ prompt, chat, prompt_tokens: tokens }) {
    if (!chat || !tokens?.length) return text(this.prompt, lines(readable(prompt || "")));
    this.prompt.replaceChildren();
    for (const [piece, special] of tokens) {
      const shown = lines(readable(piece));
      if (special)
        el(
          "span",
          {
            class: "sq-special",
            text: shown,
            title: "a special token, written by the chat template",
          },
          this.prompt,
        );
      else this.prompt.append(shown);
    }
  }

  /** The run's own prompt at the head, and whether it is the one that a press of Run would use. */
  paintPrompt(prompt) {
    show(this.asked, Boolean(prompt));
    if (!prompt) return;
    const other = this.formPrompt && this.formPrompt() !== prompt;
    text(
      this.whose,
      (other ? "this run’s prompt, not the form’s" : "prompt") +
        (this.meta?.chat ? ", as a chat message" : ""),
    );
    this.asked.classList.toggle("is-other", Boolean(other));
    if (this.taker)
      show(this.taker, other || this.meta.label !== "measured" || Boolean(this.meta.title));
    if (this.worded === prompt) return;
    this.worded = prompt;
    text(this.wording, readable(prompt.slice(0, 400)));
    attr(this.asked, "title", readable(prompt.slice(0, 2000)).replaceAll("⏎", "\n"));
  }

  /** What is left of the last character, and why the run ended. */
  paintEnd(ended) {
    const { store } = this;
    text(this.tail, ended ? readable(store.tail) : "");
    const words = ended ? stepWords.finish(store.ending) : "";
    if (words && words !== this.end.textContent && store.at === store.last) this.ends = true;
    text(this.end, words);
    this.end.dataset.end = ended ? store.ending : "";
    text(this.loops, ended ? this.repeats() : "");
  }

  /** What is said of the whole text's repeats, counted once for as many steps. */
  repeats() {
    const { store } = this;
    const key = store.version + ":" + store.steps.length + ":" + store.steps.includes(null);
    if (this.counted !== key) {
      const counts = new Repeats();
      for (const step of store.steps) if (step) counts.add(step.emitted);
      Object.assign(this, { counted: key, loop: repeatsInWords(counts) });
    }
    return this.loop;
  }

  restart() {
    this.version = this.store.version;
    this.groups = [];
    this.current = -1;
    this.flow.replaceChildren();
  }

  append(i) {
    const group = el("span", { class: "sq-group sq-future", "data-step": i });
    this.flow.append(group);
    this.write(group, i);
    this.groups.push(this.store.steps[i] ? group : null);
  }

  fill(i) {
    const group = this.flow.children[i];
    group.replaceChildren();
    this.write(group, i);
    this.groups[i] = group;
  }

  write(group, i) {
    const step = this.store.steps[i];
    if (!step) return void el("span", { class: "sq-lost", text: " […] " }, group);
    step.emitted.forEach((_id, k) => {
      const own = k >= step.path.length - 1;
      const piece = String(step.text?.[k] ?? "");
      const lead = /^ +/.exec(piece)?.[0] || "";
      const rest = piece.slice(lead.length);
      if (lead && rest) k ? group.append(lead) : group.before(lead);
      el(
        "span",
        {
          class: "sq-tok " + (own ? "sq-tok-own" : "sq-tok-draft"),
          "data-k": k,
          text: rest ? lines(readable(rest)) : piece,
        },
        group,
      );
    });
  }

  /** Only groups between the old and the new place change their class. */
  mark() {
    const { at } = this.store;
    const all = this.flow.children;
    const from = Math.min(this.current, at);
    const to = Math.max(this.current, at);
    if (this.current === at && this.marked === all.length) return;
    for (let i = Math.max(from, 0); i <= Math.min(to, all.length - 1); i++) {
      all[i].classList.toggle("sq-future", i > at);
      all[i].classList.toggle("sq-now", i === at);
    }
    this.current = at;
    this.marked = all.length;
    this.wanted = all[at];
  }

  /** Once every view has painted: moves the panel's own scroll bar to the current step, never the page. */
  settle(piece = this.ends ? (this.loop ? this.loops : this.end) : this.wanted) {
    const { box } = this;
    this.wanted = this.ends = null;
    if (!piece) return;
    this.seen = piece;
    const top = piece.offsetTop;
    const bottom = top + piece.offsetHeight;
    if (top < box.scrollTop + 10) box.scrollTop = top - 10;
    else if (bottom > box.scrollTop + box.clientHeight - 20)
      box.scrollTop = bottom - box.clientHeight + 24;
  }

  /** The token of the selected node stands out in the text. */
  link() {
    const { store } = this;
    const view = store.view();
    let target = null;
    if (view && this.flow.children[view.i]) {
      const node = store.selected;
      const k = node === "bonus" ? view.step.emitted.length - 1 : view.path.indexOf(node) - 1;
      if (k >= 0) target = this.flow.children[store.at].querySelector('[data-k="' + k + '"]');
    }
    if (this.linked === target) return;
    this.linked?.classList.remove("sq-linked");
    target?.classList.add("sq-linked");
    this.linked = target;
  }

  place(event) {
    const token = event?.target.closest?.(".sq-tok");
    const group = token?.closest(".sq-group");
    if (!group) return null;
    const i = Number(group.dataset.step);
    const k = Number(token.dataset.k);
    const step = this.store.steps[i];
    return step && { i, node: k < step.path.length - 1 ? step.path[k + 1] : "bonus" };
  }

  click(event) {
    const place = this.place(event);
    if (place && !String(window.getSelection())) this.store.seek(place.i, { pin: place.node });
  }

  over(event) {
    const place = this.place(event);
    const { store } = this;
    const node = place && place.i === store.at ? place.node : null;
    if (store.hover !== node) store.set({ hover: node });
  }
}

// Line breaks stay line breaks, with their sign before them; spaces stay spaces.
const lines = (value) => value.replaceAll("⏎", "⏎\n");
