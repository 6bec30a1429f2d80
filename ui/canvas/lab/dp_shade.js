/* What a cell's colour stands for: a number of each cell, a scale from 0 to 1, and the marks of its legend. Pure. */
(function (S) {
  "use strict";

  /** Both differences are tiny over most of the table, so their scale is a cube root; the value's own is straight. */
  const KINDS = {
    regret: {
      name: "Regret", title: "tokens lost against the best b for this n", power: 1 / 3, strong: "least",
      of: (table, n, l, b) => table.best(n, l).value - table.value(n, l, b),
    },
    gain: {
      name: "Gain", title: "tokens gained over n − 1 nodes, same b", power: 1 / 3, strong: "most",
      of: (table, n, l, b) => (n > 1 && table.value(n - 1, l, b) > -Infinity ? table.value(n, l, b) - table.value(n - 1, l, b) : NaN),
    },
    value: { name: "Value", title: "expected tokens a step", power: 1, strong: "most", of: (table, n, l, b) => table.value(n, l, b) },
  };

  /** The range of a shade over the cells of one level that are shown: {low, high}. */
  function range(kind, table, l, nodes) {
    let low = kind === "value" ? Infinity : 0, high = kind === "value" ? -Infinity : 0;
    for (let n = 1; n <= nodes; n++) {
      for (let b = 0; b <= Math.min(table.branches, n - 1); b++) {
        if (table.value(n, l, b) === -Infinity) continue;
        const value = KINDS[kind].of(table, n, l, b);
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    return { low: Math.min(low, high), high };
  }

  /** 0 is the palest, 1 the strongest colour; the strongest is always the best. NaN where there is nothing to compare with. */
  function strength(kind, { low, high }, value) {
    const { power, strong } = KINDS[kind];
    const share = high > low ? Math.min(1, Math.max(0, (value - low) / (high - low))) ** power : 0;
    return strong === "least" ? 1 - share : share;
  }

  /** Numbers along the legend: [{at: 0 to 1, value}]. */
  function marks(kind, { low, high }) {
    const { power, strong } = KINDS[kind];
    return [0, 0.25, 0.5, 0.75, 1].map((at) => ({ at, value: low + (high - low) * (strong === "least" ? 1 - at : at) ** (1 / power) }));
  }

  /** `count` colours between the stops, given as #rrggbb. */
  function palette(stops, count) {
    const parts = stops.map((stop) => [1, 3, 5].map((i) => parseInt(stop.trim().slice(i, i + 2), 16)));
    return Array.from({ length: count }, (_, i) => {
      const at = (i / (count - 1)) * (parts.length - 1), k = Math.min(Math.floor(at), parts.length - 2);
      const mixed = parts[k].map((from, c) => Math.round(from + (parts[k + 1][c] - from) * (at - k)));
      return "rgb(" + mixed.join(",") + ")";
    });
  }

  S.dpShade = { KINDS, range, strength, marks, palette };
})((window.Sequoia = window.Sequoia || {}));
