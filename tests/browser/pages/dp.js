/* The DP table alone. ?rates=0.6,0.2&n=75&levels=8&dark */
import { PAPER } from "../../../ui/lab/web/acceptance_vectors.js";
import { DpTable, workThroughTable } from "../../../ui/lab/web/dp/dp_table.js";
import { dpPartition } from "../../../ui/lab/web/dp/dp_tree.js";
import { mountDp } from "../../../ui/lab/web/dp/dp_view.js";

window.modules = { DpTable, workThroughTable, dpPartition };
const query = new URLSearchParams(location.search);
const state = {
  rates: query.get("rates")?.split(",").map(Number) || PAPER,
  n: Number(query.get("n")) || 75,
  levels: query.has("levels") ? Number(query.get("levels")) : 8,
};
const chosen = [];
document.body.classList.toggle("dark", query.has("dark"));
const dp = mountDp(document.getElementById("host"), {
  getState: () => state,
  onSelect: (parents) => {
    chosen.push(parents);
    dp.update();
  },
  isShown: (parents) => String(chosen.at(-1)) === String(parents),
});
Object.assign(window, { state, chosen, dp });
