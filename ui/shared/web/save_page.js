/* Saves what a view shows as one HTML file that works offline. The server provides a template with
   the scripts and styles, and the browser fills it in. */
import { PLOTLY } from "./chart.js";
import { pack } from "./packed_data.js";
import { saveText } from "./save_file.js";

/**
 * The contents of a saved page.
 * @typedef {object} Saved
 * @property {string} view the folder with the module `saved_page` that draws the page
 * @property {string} name of the file
 * @property {string} title
 * @property {any} data passed to the module `saved_page`
 */

/**
 * Save a page. Fails if the server does not send the page's scripts and styles.
 * @param {Saved} saved
 */
export async function savePage({ view, name, title, data }) {
  const [template, plotly] = await Promise.all([served(`saved-${view}.txt`), served(PLOTLY)]);
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

async function served(name) {
  const answer = await fetch(new URL(name, import.meta.url));
  if (!answer.ok) throw new Error(`the server did not send ${name} (${answer.status})`);
  return answer.text();
}

const randomName = () =>
  [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
