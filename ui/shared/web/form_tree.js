/* The small picture of the tree that the fields of a lane describe. When a field on which the tree
   depends changes, the page asks the server for the tree. If there is none, the picture is
   hidden. */
import { onModels } from "./between_tabs.js";
import { el, show, text } from "./dom.js";
import { formValues, watchFormValues } from "./form_values.js";
import { TreeThumbnail, isChain, sizeInWords } from "./tree_thumbnail.js";

/** @import { Server } from "./connect_component.js" */

/** @type {[number, number]} px */
const SIZE = [96, 40];
const PAUSE = 120; // ms without another change before the server is asked
const AGAIN = 1000; // ms before the server is asked again while models load
const SAVED = "kept:"; // prefix of the value of the field `clock` if a saved profile is chosen
// Names of the fields on which a tree depends: those of all lanes, and those of one.
const OF_ALL = ["chat", "temperature", "top_p", "clock"];
const OF_A_LANE = ["kind", "numbers", "verifier"];

/**
 * The values that a tree depends on.
 * @param {Record<string, any>} values of the form
 * @param {string} lane its number
 * @returns {Record<string, any>} the values by the names that the server reads
 */
export function asked(values, lane) {
  const own = OF_A_LANE.map((name) => [name, values[name + lane]]);
  const isSaved = String(values.clock ?? "").startsWith(SAVED);
  const all = isSaved ? [...OF_ALL, "profiles"] : OF_ALL;
  return Object.fromEntries([...own, ...all.map((name) => [name, values[name]])]);
}

/** The picture of the tree of one lane. */
class FormTree {
  #question = ""; // the latest values, as JSON
  #timer = 0;

  /**
   * @param {HTMLElement} host
   * @param {string} lane its number
   * @param {Server} server
   */
  constructor(host, lane, server) {
    this.host = host;
    this.lane = lane;
    this.server = server;
    this.picture = new TreeThumbnail(host, ...SIZE);
    this.words = el("span", {}, host);
  }

  /** @param {Record<string, any>} values of the form */
  follow(values) {
    const question = asked(values, this.lane);
    const key = JSON.stringify(question);
    if (key === this.#question) return;
    this.#question = key;
    this.askAfter(PAUSE, question);
  }

  /** Ask again, because other models are loaded. */
  again() {
    this.#question = "";
    this.follow(formValues("run"));
  }

  askAfter(pause, question) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.ask(question), pause);
  }

  async ask(question) {
    const key = this.#question;
    try {
      const { parents, waits } = JSON.parse(await this.server.get_tree(question));
      if (key !== this.#question) return; // the fields changed meanwhile
      this.paint(parents);
      if (!parents && waits) this.askAfter(AGAIN, question);
    } catch {
      if (key === this.#question) this.paint(null);
    }
  }

  // Whether the fields ask for a tree that is planned for speed. Such a tree may be a chain.
  get isPlanned() {
    return JSON.parse(this.#question).kind === "planned";
  }

  /** @param {number[] | null} parents */
  paint(parents) {
    show(this.host, Boolean(parents));
    this.picture.show(parents);
    const isBest = parents && this.isPlanned && isChain(parents);
    const best = isBest ? " (the best)" : "";
    text(this.words, parents ? `Next: ${sizeInWords(parents)}${best}` : "");
  }
}

/**
 * Called from the component's js_on_load with the arguments that Gradio passes.
 * @param {HTMLElement} element
 * @param {object} _props
 * @param {object} _watch
 * @param {object} _trigger
 * @param {Server} server
 */
export function connect(element, _props, _watch, _trigger, server) {
  /** @type {HTMLElement} */
  const host = element.querySelector(".sq-form-tree");
  const picture = new FormTree(host, host.dataset.lane, server);
  watchFormValues("run", (values) => picture.follow(values));
  onModels(() => picture.again());
}
