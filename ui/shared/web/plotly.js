/* Plotly, fetched when a figure is first drawn. The server serves it beside the modules. */
import { el } from "./dom.js";

/** Address of Plotly's script. */
export const PLOTLY = new URL("plotly.min.js", import.meta.url).href;

let loading = null;

/** Plotly, fetched once a page. `path` is relative to where the page is served. */
export function loadPlotly(path) {
  const base =
    location.origin === "null"
      ? location.href
      : location.origin + location.pathname.replace(/\/?$/, "/");
  loading ||= new Promise((done, failed) => {
    if (window.Plotly) return done(window.Plotly);
    const script = el("script", { src: new URL(path, base).href });
    script.addEventListener("load", () => done(window.Plotly));
    script.addEventListener(
      "error",
      () => ((loading = null), failed(new Error("the figures' library could not be loaded"))),
    );
    document.head.append(script);
  });
  return loading;
}
