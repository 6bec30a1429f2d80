/* The DP table as a panel of the lab: it explains the vector the lab plans with, and the tree chosen in
   it becomes the lab's drawn one. */
import { mountDp } from "./dp_view.js";

export class DpInLab {
  constructor(host, state) {
    this.dp = mountDp(host, {
      getState: () => ({ rates: state.even, n: state.n, levels: state.cap }),
      onSelect: (parents, { n, levels, branches }) =>
        state.set({
          hand: state.past.replace(state.hand, parents),
          shown: "hand",
          cell: { n, levels, branches },
        }),
    });
  }

  paint() {
    this.dp.update();
  }
}
