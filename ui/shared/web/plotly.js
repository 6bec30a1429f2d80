/* Loads Plotly when a figure is first drawn. Its script is served beside these modules. */
import { el } from "./dom.js";

/** The address of Plotly's script. */
export const PLOTLY = new URL("plotly.min.js", import.meta.url).href;

/** @type {Promise<any> | null} */
let loading = null;

/**
 * Load Plotly, at most once per page.
 * @param {string} path address of the script. A relative address is resolved against the page's
 *   path with a final "/", or against `location.href` if the page has no origin
 * @returns {Promise<any>} the library; rejected if it cannot be loaded. Then the next call tries
 *   again
 */
export function loadPlotly(path) {
  const { origin, pathname } = location;
  const base = origin === "null" ? location.href : origin + pathname.replace(/\/?$/, "/");
  loading ||= load(new URL(path, base).href).catch((problem) => {
    loading = null;
    throw problem;
  });
  return loading;
}

function load(address) {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  const script = el("script", { src: address });
  document.head.append(script);
  return new Promise((done, failed) => {
    const words = "Plotly, which draws this figure, could not be loaded. Reload the page.";
    const fail = () => failed(new Error(words));
    script.addEventListener("load", () => done(window.Plotly));
    script.addEventListener("error", fail);
  });
}
