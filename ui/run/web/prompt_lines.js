/* The prompts of a run, unless they are those in the form. */
import { attr, el, show, text } from "../../shared/web/dom.js";
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
    this.root = el("div", { class: "run-prompts sq-wrap" }, host);
    this.prompts = ["prompt", "second-prompt"].map((part) => {
      const root = el("p", { class: "sq-asked sq-dim", "data-part": part }, this.root);
      const whose = el("span", {}, root);
      return { root, whose, wording: el("span", { class: "sq-asked-text" }, root) };
    });
  }

  paint() {
    const { page } = this;
    const { prompt, second_prompt: second, chat } = this.store.meta;
    const isInForm = !second && !chat && page.prompt?.() === prompt;
    const whose = page.prompt && page.prompt() !== prompt ? "a different prompt" : "prompt";
    attr(this.root, "data-chat", chat ? "" : null);
    this.paintPrompt(0, isInForm ? "" : prompt, whose + (chat ? ", as a chat message" : ""));
    this.paintPrompt(1, second, "second prompt");
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
