/* The DP table alone, for the paper's rates. */
import { PAPER } from "../../../ui/lab/web/acceptance_vectors.js";
import { DpTable } from "../../../ui/lab/web/dp/dp_table.js";
import { dpPartition } from "../../../ui/lab/web/dp/dp_tree.js";
import { Dp } from "../../../ui/lab/web/dp/dp_view.js";

window.modules = { DpTable, dpPartition };
const state = { rates: PAPER, n: 75, levels: 8 };
const chosen = [];
const dp = new Dp(document.getElementById("host"), {
  getState: () => state,
  onSelect: (parents) => {
    chosen.push(parents);
    dp.update();
  },
  isShown: (parents) => String(chosen.at(-1)) === String(parents),
});
Object.assign(window, { state, chosen, dp });
