/* What the lab's panels share: the vector, the budget, the tree on show and the times of the machine. Draws nothing.

   Fields: rates (as entered), even (what is planned with: never increasing), origin {label, words, counts?; from: the origin before hands changed it}, n, levels (null: any),
   shown ("best", "hand" or a shape's name), hand (a drawn tree's parents; past: its changes), profile (a
   HardwareProfile's JSON or null; elsewhere: its name where it is not this machine's), pick (the bar in hand). Change them with `set`; `watch` is called once a frame after changes. */
import * as planner from "./planner.js";
import { TreeEdits } from "./tree_edits.js";
import * as shapes from "./tree_shapes.js";

export class LabState {
  constructor() {
    Object.assign(this, {
      rates: [0.6, 0.15, 0.05],
      even: [0.6, 0.15, 0.05],
      origin: { label: "made up", words: "" },
      n: 64,
      levels: null,
      shown: "best",
      hand: [-1],
      profile: null,
      elsewhere: null,
      most: planner.MAX_NODES,
      kinds: { sequences: null, kary: null, branching: [1, 1, 3, 1, 1, 1, 1, 1] },
      pick: 0,
      version: 0,
      past: new TreeEdits(),
    });
    this.watchers = [];
    this.waiting = false;
  }

  watch(call) {
    this.watchers.push(call);
  }

  set(changes) {
    Object.assign(this, changes);
    if ("rates" in changes)
      this.even = planner.isMonotone(this.rates) ? this.rates : planner.smooth(this.rates);
    if (
      ["rates", "n", "levels", "shown", "hand", "kinds", "profile"].some((name) => name in changes)
    )
      this.version++;
    this.changed();
  }

  /** Put a vector in place of the present one; a RangeError leaves everything as it is. */
  take(rates, origin) {
    this.set({ rates: planner.checked(rates), origin });
  }

  changed() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      for (const call of this.watchers) call();
    });
  }

  /** A value worked out once for the present vector and cap: `make` is called again only when they change. */
  once(name, make) {
    const key = this.even.join() + "|" + this.levels + "|" + name;
    this.kept ||= new Map();
    const held = this.kept.get(name);
    if (held && held.key === key) return held.value;
    const value = make();
    this.kept.set(name, { key, value });
    return value;
  }

  /** Best trees of all sizes under the level cap, and without one. */
  get growth() {
    return this.once("growth", () => planner.bestFirst(this.even, planner.MAX_NODES, this.cap));
  }
  get freeGrowth() {
    return this.once("free", () => planner.bestFirst(this.even, planner.MAX_NODES, null));
  }
  /** At least two levels, as one holds the root alone. */
  get cap() {
    return this.levels === null ? null : Math.max(this.levels, 2);
  }

  /** Predicted seconds of a step with the first 1, 2, ... nodes of the growth. */
  get times() {
    if (this.timed?.growth !== this.growth || this.timed.profile !== this.profile) {
      this.timed = {
        growth: this.growth,
        profile: this.profile,
        seconds: planner.growthSeconds(this.growth, this.profile),
      };
    }
    return this.timed.seconds;
  }

  /** The parents of the tree on show; its budget is `n` unless it was drawn by hand. */
  get parents() {
    return this.parentsOf(this.shown);
  }

  /** The level cap under which a tree of n nodes is fastest with the profile's times, or null without a profile. */
  get fastest() {
    const key = this.even.join() + "|" + this.n;
    if (!this.profile) return null;
    if (this.raced?.key === key && this.raced.profile === this.profile) return this.raced.found;
    let found = null;
    for (let levels = 2; levels <= planner.levelsFor(this.n) && this.n > 1; levels++) {
      const growth = planner.bestFirst(this.even, this.n, levels);
      const { speedup } = planner.predict(growth.parents, this.even, this.profile);
      if (!found || speedup > found.speedup) found = { levels, speedup, parents: growth.parents };
      if (Math.max(...growth.depths) + 1 < levels) break; // the cap no longer binds
    }
    found ||= { levels: 1, speedup: 1, parents: [-1] };
    this.raced = { key, profile: this.profile, found };
    return found;
  }

  parentsOf(name) {
    if (name === "fitted") return this.fastest ? this.fastest.parents : this.parentsOf("best");
    if (name === "hand") return this.hand;
    if (name === "best") return this.growth.parents.slice(0, this.n);
    return shapes.make(name, this.n, this);
  }
}
