/* The paper's printed figures beside the same figures worked out here, in this browser. */
(function (S) {
  "use strict";

  const P = S.planner;
  const { el } = S.dom;
  const lab = (S.lab = S.lab || {});

  /** [{nodes, levels, paper, here, same}]: same to the printed digits. */
  function compare() {
    const even = P.smooth(lab.vectors.PAPER);
    return lab.vectors.PRINTED.map(([nodes, levels, paper]) => {
      const here = S.DpTable.whole(lab.vectors.PAPER, nodes, levels).best(nodes, levels ?? nodes).value;
      return { nodes, levels, paper, here, smoothed: P.bestFirst(even, nodes, levels).totals[nodes - 1], same: here.toFixed(3) === paper.toFixed(3) };
    });
  }

  lab.Check = class {
    constructor(host) {
      const panel = S.panel(host, { part: "check", title: "Check against the paper", cls: "sq-lab-check" });
      el("span", { class: "sq-word", text: "App. E vector" }, panel.titleBox);
      const table = el("table", { class: "sq-lab-table" }, panel.body), line = el("tr", {}, el("thead", {}, table));
      for (const head of ["Nodes", "Levels", "paper", "here", ""]) el("th", { scope: "col", text: head }, line);
      this.body = el("tbody", {}, table);
      this.note = el("p", { class: "sq-lab-note", text: "Expected tokens of the best tree. “Here” is the table of the recurrence, worked out now in this browser." }, panel.body);
    }

    /** Once, when the page has nothing else to do: the largest of these tables takes about half a second. */
    fill() {
      if (this.filled) return;
      this.filled = true;
      for (const one of compare()) {
        const row = el("tr", { "data-same": String(one.same) }, this.body);
        for (const words of [one.nodes, one.levels ?? "any", one.paper.toFixed(3), one.here.toFixed(3), one.same ? "✓ same" : "✗ differs"]) el("td", { text: String(words) }, row);
      }
    }
  };

  lab.check = { compare };
})((window.Sequoia = window.Sequoia || {}));
