/* The microscope as one of the lab's panels: it looks at the vector the lab plans with, and its tree becomes the lab's drawn one. */
(function (S) {
  "use strict";

  const lab = (S.lab = S.lab || {});

  (lab.panels ||= []).push(
    class {
      constructor(host, state) {
        this.dp = S.mountDp(host, {
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
    },
  );
})((window.Sequoia = window.Sequoia || {}));
