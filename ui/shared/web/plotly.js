/* Plotly, fetched when a figure is first drawn. The server serves it beside the modules. */
import { el } from "./dom.js";

/** Address of Plotly's script. */
export const PLOTLY = new URL("plotly.min.js", import.meta.url).href;

/** @type {Promise<any> | null} */
let loading = null;

/**
 * Plotly, fetched once per page.
 * @param {string} path relative to where the page is served
 * @returns {Promise<any>} the library; rejected if it cannot be loaded, and then the next call
 *   tries again
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
    const fail = () => failed(new Error("the figures' library could not be loaded"));
    script.addEventListener("load", () => done(window.Plotly));
    script.addEventListener("error", fail);
  });
}
