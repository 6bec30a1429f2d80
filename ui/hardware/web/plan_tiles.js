/* The tiles above the charts: predictions for the fastest tree, and times from the profile. */
import { el } from "../../shared/web/dom.js";
import { fillTile, makeTiles } from "../../shared/web/panel.js";
import { count } from "../../shared/web/format.js";
import { duration } from "./duration.js";

/** @typedef {import("./hardware_view.js").View} View */

const TILES = [
  ["speedup", "Speed-up", "predicted speed-up"],
  ["size", "Fastest tree", "fastest tree"],
  ["tokens", "Tokens per step", "tokens a step"],
  ["step", "Time per step", "time a step"],
  ["plain", "Plain token", "plain token"],
  ["knee", "Target pass doubles at", "knee"],
];

/** The row of tiles. */
export class PlanTiles {
  /** @param {HTMLElement} host */
  constructor(host) {
    this.box = el("div", { class: "sq-tiles" }, host);
    this.parts = makeTiles(this.box, TILES, (key) => ({ "data-tile": key }));
  }

  /** @param {View} view */
  show({ plan, profile, knee, supposed }) {
    const { nodes, levels, speedup } = plan;
    const basis = supposed ? "hypothetical" : "predicted";
    this.put("speedup", [speedup.toFixed(2), "×"], `${basis}, vs. plain`);
    this.put(
      "size",
      [String(nodes), nodes === 1 ? "node" : "nodes"],
      `${count(levels, "level")}, ${basis}`,
    );
    this.put("tokens", [plan.tokens.toFixed(2), "tokens"], basis);
    this.put("step", duration(plan.seconds), basis);
    this.put("plain", duration(plan.plain), profile.label);
    if (knee.nodes) this.put("knee", [String(knee.nodes), "nodes"], "≥ 2× the time of 1 node");
    else this.put("knee", ["–", ""], noKnee(knee.most));
    this.parts.speedup.tile.dataset.verdict = speedup > 1.0005 ? "faster" : "";
  }

  put(key, [value, unit], note) {
    fillTile(this.parts[key], value, unit, note);
  }
}

const noKnee = (most) =>
  most === 1 ? "same time assumed for any size" : `not up to ${most} nodes`;
