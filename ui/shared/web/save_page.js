/* Saves what a view shows as one HTML file that works offline. The server provides a template with
   the scripts and styles, and the browser fills it in. */
import { PLOTLY } from "./chart.js";
import { readable } from "./format.js";
import { pack } from "./packed_data.js";
import { isHypothetical } from "./run_words.js";
import { saveText } from "./save_file.js";

/**
 * The contents of a saved page.
 * @typedef {object} Saved
 * @property {string} view the folder with the module `saved_page` that draws the page
 * @property {string} name of the file
 * @property {string} title
 * @property {any} data passed to the module `saved_page`
 * @property {boolean} hasCharts whether the page needs Plotly
 */

/**
 * Save a page. Fails if the server does not send the page's scripts and styles.
 * @param {Saved} saved
 */
export async function savePage({ view, name, title, data, hasCharts }) {
  const [template, plotly] = await Promise.all([
    served(`saved-${view}.txt`),
    hasCharts ? served(PLOTLY) : "",
  ]);
  saveText(name, filled(template, title, await pack({ data, plotly })), "text/html");
}

/** @type {Record<string, string>} */
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/**
 * A page from the template of ui/shared/saved_pages.py.
 * @param {string} template
 * @param {string} title
 * @param {string} packed the data, packed by packed_data.js
 * @returns {string} HTML
 */
export function filled(template, title, packed) {
  const escaped = title.replace(/[&<>"']/g, (letter) => ENTITIES[letter]);
  const parts = { title: escaped, data: packed, nonce: randomName() };
  return template.replace(/@@(title|data|nonce)@@/g, (_, name) => parts[name]);
}

/**
 * Save what a view of runs shows. If that fails, the `error` of the store is set.
 * @param {any} store of the view
 * @param {(store: any) => any} data returns the data for the module `saved_page`, with a `meta`
 * @returns {Promise<void>}
 */
export async function saveRecording(store, data) {
  try {
    const problem = whyNot(store);
    if (problem) throw new Error(problem);
    const saved = data(store);
    const { meta } = saved;
    const about = { view: "run", name: pageName(meta.date), title: titleOf(meta) };
    await savePage({ ...about, data: saved, hasCharts: true });
  } catch (failure) {
    store.set({ error: `Not saved: ${failure.message}` });
  }
}

/** @type {(store: any) => string} why the run cannot be saved; "" if it can */
function whyNot({ arrived, done }) {
  if (!arrived.length) return "there is no run on screen; start one or open a file first";
  return done ? "" : "the run is not over yet; save it when it has ended, or stop it first";
}

/**
 * @param {Record<string, any>} meta
 * @returns {string}
 */
export function titleOf(meta) {
  const models = [meta.target, meta.draft].filter(Boolean).map(readable).join(" + ");
  const label = isHypothetical(meta) ? "hypothetical" : meta.label;
  return [`Sequoia: a ${label} run`, models].filter(Boolean).join(", ");
}

async function served(name) {
  const answer = await fetch(new URL(name, import.meta.url));
  if (!answer.ok) throw new Error(`the server did not send ${name} (${answer.status})`);
  return answer.text();
}

const randomName = () =>
  [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");

/**
 * The file name of a saved page, such as sequoia-run-2026-11-22-1250.html.
 * @param {any} date such as "2026-11-22 12:50"; left out if it has another form
 * @returns {string}
 */
export function pageName(date) {
  const found = /^(\d{4}-\d\d-\d\d) (\d\d):(\d\d)$/.exec(String(date ?? ""));
  const suffix = found ? `-${found[1]}-${found[2]}${found[3]}` : "";
  return `sequoia-run${suffix}.html`;
}
