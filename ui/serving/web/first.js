/* Runs before Gradio's own script. */
import { holdStreams } from "./held_stream.js";
import { replaceBlockedStorage } from "./memory_storage.js";

replaceBlockedStorage(window);
holdStreams();
if (/^#(design|evidence)/.test(location.hash)) fetchPlotly();

// Plotly's script takes long to arrive, and the figures of these places need it at once.
function fetchPlotly() {
  const link = document.createElement("link");
  link.rel = "preload";
  link.as = "script";
  link.href = new URL("plotly.min.js", import.meta.url).href;
  document.head.append(link);
}
