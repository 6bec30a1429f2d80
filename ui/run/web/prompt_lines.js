/* The prompts of a run, and what the styles of the tokens mean. */
import { attr, button, el, show, text } from "../../shared/web/dom.js";
import { readable } from "../../shared/web/format.js";

/**
 * @import { Page } from "./run_view.js"
 * @import { RunStore } from "./run_store.js"
 */

const SHOWN = 400; // characters of a prompt
const HINT = 2000; // characters in its tooltip

/** One line for each prompt. */
export class PromptLines {
  /**
   * @param {RunStore} store
   * @param {HTMLElement} host
   * @param {Page} page
   */
  constructor(store, host, page) {
    this.store = store;
    this.page = page;
    this.root = el("div", { class: "run-prompts" }, host);
    this.prompts = ["prompt", "second-prompt"].map((part) => {
      const root = el("p", { class: "sq-asked", "data-part": part }, this.root);
      const whose = el("span", {}, root);
      return { root, whose, wording: el("span", { class: "sq-asked-text" }, root) };
    });
    const hint = "Copy this run’s prompts, lanes and settings to the form";
    const look = { text: "Copy to form", cls: "sq-asked-take", part: "take", hint };
    this.taker = button(this.root, { ...look, act: () => page.take?.(store.name) });
    const key = el("span", { class: "sq-key" }, this.root);
    el("span", { class: "sq-tok sq-tok-draft", text: "small model (draft)" }, key);
    el("span", { class: "sq-tok sq-tok-own", text: "large model (target)" }, key);
  }

  paint() {
    const { page } = this;
    const { prompt, second_prompt: second, chat, label, title } = this.store.meta;
    const isOther = Boolean(page.prompt) && page.prompt() !== prompt;
    const whose = isOther ? "a different prompt" : "prompt";
    this.paintPrompt(0, prompt, whose + (chat ? ", as a chat message" : ""));
    this.paintPrompt(1, second, "second prompt");
    const isWorthTaking = isOther || label !== "measured" || Boolean(title);
    show(this.taker, Boolean(page.take) && isWorthTaking);
  }

  paintPrompt(number, prompt, name) {
    const { root, whose, wording } = this.prompts[number];
    const all = String(prompt ?? "");
    show(root, Boolean(all));
    text(whose, name);
    text(wording, readable(all.slice(0, SHOWN)));
    attr(root, "title", readable(all.slice(0, HINT)).replaceAll("⏎", "\n"));
  }
}
