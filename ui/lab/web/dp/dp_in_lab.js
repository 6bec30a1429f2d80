/* The DP table as a panel of the Lab. A tree chosen in it becomes the Lab's tree drawn by hand. */
import { mountDp } from "./dp_view.js";
import { isSameTree } from "../../../shared/web/planner.js";

/** The panel. */
export class DpInLab {
  /**
   * @param {HTMLElement} host
   * @param {import("../lab_state.js").LabState} state
   */
  constructor(host, state) {
    this.dp = mountDp(host, {
      getState: () => ({ rates: state.even, n: state.n, levels: state.cap }),
      onSelect: (parents) => {
        state.set({ hand: state.past.replace(state.hand, parents), shown: "hand" });
      },
      isShown: (parents) => isSameTree(parents, state.parents),
    });
  }

  paint() {
    this.dp.update();
  }
}
