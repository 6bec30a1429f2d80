/* Opens a page that was saved as an HTML file: sets its theme, unpacks its data, and runs Plotly if
   the page has it. */
import "./print.js";
import { el } from "./dom.js";
import { unpack } from "./packed_data.js";

/**
 * Call `show` with the element to draw into and the page's data. If that fails, say that the file
 * is damaged.
 * @param {(stage: HTMLElement, data: any) => void} show
 * @param {(data: any) => string[]} facts returns the lines below the title: settings and machine
 */
export async function openSavedPage(show, facts) {
  startTheme();
  /** @type {HTMLElement} */
  const stage = document.querySelector(".saved-main .sq-stage");
  stage.replaceChildren();
  try {
    const { data, plotly } = await unpack(document.getElementById("saved-data").textContent);
    /** @type {HTMLScriptElement} */
    const { nonce } = document.querySelector("script[nonce]");
    el("script", { nonce, text: plotly }, document.head);
    const head = document.querySelector(".saved-head div");
    for (const fact of facts(data)) el("p", { text: fact }, head);
    show(stage, data);
  } catch (problem) {
    stage.replaceChildren();
    const words = `This file is damaged, so it cannot be shown (${problem.message}). Save it again.`;
    el("p", { class: "sq-banner sq-banner-error", role: "alert", text: words }, stage);
  }
}

function startTheme() {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.body.classList.toggle("dark", isDark);
  /** @type {HTMLButtonElement} */
  const button = document.querySelector(".saved-theme");
  button.hidden = false;
  button.addEventListener("click", () => document.body.classList.toggle("dark"));
}
