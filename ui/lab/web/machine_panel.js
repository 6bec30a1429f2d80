/* The panel with the machine whose step times the trees are planned with: this one or another. In
   Run, the profile that times a run is called the run's clock. */
import { Chart, followTheme } from "../../shared/web/chart.js";
import { button, el, show, text } from "../../shared/web/dom.js";
import { fillMenu } from "../../shared/web/fields.js";
import * as format from "../../shared/web/format.js";
import { openView } from "../../shared/web/navigation.js";
import { makeFold, makePanel, makeTiles } from "../../shared/web/panel.js";
import * as planner from "../../shared/web/planner.js";

const HERE = "here"; // the key of this machine in this menu
const HERE_IN_RUN = ""; // the key of this machine in Run (ui/run/clocks.py)
const MIXTURE = "Hypothetical: the acceptance rates are not those of the models that were timed.";
const NOT_TIMED = "The app times its machine when it loads models.";
const TILES = [
  ["plain", "Plain token", "plain token"],
  ["draft", "Small model", "draft pass"],
  ["pass", "Tree pass", "t(n)"],
  ["knee", "Pass doubles at", "knee"],
];

/** @typedef {import("../../shared/web/planner.js").Profile} Profile */

/**
 * A profile of another machine.
 * @typedef {object} OtherProfile
 * @property {string} key
 * @property {string} name
 * @property {string} label its name in the menu
 * @property {string} note where the figures of the profile come from
 * @property {Profile} profile
 */

/** The panel. */
export class MachinePanel {
  /** @type {OtherProfile[]} */
  others = [];
  /** @type {Profile | null} */
  here = null; // null: not timed yet
  note = "";
  inRun = HERE; // the clock last chosen in Run, as a key of this menu
  place = "this machine"; // what the menu calls the machine of `here`

  /**
   * @param {HTMLElement} host
   * @param {import("./lab_state.js").LabState} state
   * @param {boolean} canRun whether the page can run trees; false in a saved page
   */
  constructor(host, state, canRun) {
    this.state = state;
    this.canRun = canRun;
    const panel = makePanel(host, { part: "machine", title: "Machine", cls: "sq-lab-machine" });
    const measure = { text: "Measure", hint: "Measure, compare and edit machines" };
    show(button(panel.tools, { ...measure, act: () => openView("hardware") }), canRun);
    const line = el("div", { class: "sq-lab-line" }, panel.body);
    el(
      "label",
      { class: "sq-lab-field sq-unbroken sq-dim", text: "Timed on", for: "sq-lab-clock" },
      line,
    );
    const look = { class: "sq-input sq-lab-menu", "data-part": "clock", id: "sq-lab-clock" };
    this.menu = el("select", look, line);
    this.menu.addEventListener("change", () => this.select(this.menu.value));
    this.put = makeTiles(panel.body, TILES);
    this.chart = new Chart(panel.body, "Time of the large model’s pass by nodes");
    followTheme([this.chart]);
    const more = makeFold(panel.body, "More");
    this.words = el("p", { class: "sq-dim", "data-part": "clock-words" }, more);
    this.offer();
  }

  /** The key of the chosen profile. */
  get key() {
    return this.menu.value;
  }

  /** The key that the chosen profile has as a clock in Run. Run may not have that clock. */
  get keyInRun() {
    return this.key === HERE ? HERE_IN_RUN : this.key;
  }

  /**
   * @param {string} key
   * @returns {boolean} whether the menu has a profile with this key
   */
  has(key) {
    return key === HERE || this.others.some((one) => one.key === key);
  }

  /** @param {string} key of a profile in the menu */
  select(key) {
    this.menu.value = key;
    const other = this.others.find((one) => one.key === key);
    this.note = other?.note || "";
    this.state.set({ profile: other?.profile ?? this.here, elsewhere: other?.name ?? null });
  }

  /**
   * Update the profiles. An undefined argument changes nothing.
   * @param {Profile | null} [here] this machine's profile
   * @param {OtherProfile[]} [others]
   */
  take(here, others) {
    if (here !== undefined) this.here = here;
    if (others !== undefined) this.others = others;
    this.offer();
    this.select(this.key);
  }

  /**
   * Choose the same clock as Run, if the choice there has changed since the last call and the menu
   * has that clock.
   * @param {string} keyInRun
   */
  follow(keyInRun) {
    const key = keyInRun === HERE_IN_RUN ? HERE : keyInRun;
    if (key === this.inRun) return;
    this.inRun = key;
    if (this.has(key) && key !== this.key) this.select(key);
  }

  offer() {
    const here = `${this.place} (${this.here ? this.here.source : "not timed yet"})`;
    fillMenu(this.menu, [{ key: HERE, label: here }, ...this.others]);
    if (this.menu.selectedIndex < 0) this.menu.value = HERE;
  }

  paint() {
    const { profile, elsewhere } = this.state;
    text(this.words, profile ? this.wordsOf(profile, elsewhere) : NOT_TIMED);
    this.paintTiles(profile);
  }

  paintTiles(profile) {
    const { put } = this;
    if (!profile) return TILES.forEach(([name]) => put(name, "–", ""));
    const { length } = this.state.parents;
    const time = (name, seconds) => {
      const [value, unit] = format.ms(seconds).split(" ");
      put(name, value, unit);
    };
    time("plain", planner.plainSeconds(profile));
    time("draft", planner.secondsAt(profile.draft_seconds, 1));
    time("pass", planner.secondsAt(profile.target_seconds, length));
    const knee = kneeOf(profile);
    put("knee", knee ? String(knee) : "–", knee ? "nodes" : "");
  }

  /** Draw the curve, and mark the size of the tree shown. */
  settle() {
    const { profile, parents } = this.state;
    show(this.chart.node, Boolean(profile));
    if (profile) this.chart.show(curve(profile, parents.length));
  }

  wordsOf(profile, elsewhere) {
    const { isHypothetical, parents } = this.state;
    const here = aboutWords(profile) + (isHypothetical ? " " + MIXTURE : "");
    const about = elsewhere ? hypothetical(profile, this.canRun) : here;
    return [about, calibrationWords(profile, parents.length), this.note].filter(Boolean).join(" ");
  }
}

// The smallest number of nodes whose pass takes at least twice as long as one node's; undefined if
// there is none among the timed sizes.
function kneeOf({ target_seconds: points }) {
  const seconds = (n) => planner.secondsAt(points, n);
  const sizes = Array.from({ length: points.at(-1)[0] }, (_, i) => i + 1);
  return sizes.find((n) => seconds(n) >= 2 * seconds(1));
}

/** @type {(profile: Profile, nodes: number) => any} the figure */
function curve({ target_seconds: points }, nodes) {
  const ms = (n) => planner.secondsAt(points, n) * 1e3;
  const line = { color: "var(--sq-verify)", width: 2 };
  const hover = { hovertemplate: "%{x} nodes: %{y:.3g} ms<extra></extra>" };
  const marker = { size: 9, color: "var(--sq-accent)" };
  const sizes = points.map(([n]) => n);
  return {
    data: [
      { type: "scatter", mode: "lines+markers", x: sizes, y: sizes.map(ms), line, ...hover },
      { type: "scatter", mode: "markers", x: [nodes], y: [ms(nodes)], marker, ...hover },
    ],
    layout: {
      showlegend: false,
      xaxis: { type: "log", title: { text: "nodes in a pass" }, tickvals: [1, 8, 64, 512] },
      yaxis: { rangemode: "tozero", title: { text: "ms" }, nticks: 4 },
    },
  };
}

const aboutWords = ({ device, target, draft, source }) =>
  `Times ${source}: ${device}, ${target} with ${draft}.`;

/**
 * A warning if a tree of `nodes` nodes is larger than every tree whose time is known or was
 * compared with a measurement. Empty otherwise, and for one node, which is plain decoding. The
 * words are those of calibration_words in ui/words/plans.py.
 * @param {Profile} profile
 * @param {number} nodes
 * @returns {string}
 */
function calibrationWords(profile, nodes) {
  const most = profile.calibrated_nodes ?? profile.target_seconds.at(-1)[0];
  if (nodes <= Math.max(most, 1)) return "";
  if (profile.source !== "simulated")
    return (
      `Times are known up to ${format.count(most, "node")}; ` +
      `for ${nodes} nodes they are extrapolated.`
    );
  if (!most) return "These times are simulated; none of them was checked against a measurement.";
  return (
    `These times are simulated and were compared with measurements up to ${most} nodes; ` +
    `for ${nodes} nodes they are extrapolated.`
  );
}

const TIMES = {
  paper: "from the paper",
  recorded: "recorded there",
  simulated: "simulated",
};

/**
 * What the profile of another machine is, and how a run started from the Lab is timed.
 * @param {Profile} profile
 * @param {boolean} canRun whether the Lab can run trees
 * @returns {string}
 */
export function hypothetical({ device, target, draft, source }, canRun) {
  const times = TIMES[source] || source;
  const words =
    `Hypothetical: ${device}, ${target} with ${draft}. ` +
    `Its times are ${times}; nothing was measured here.`;
  if (!canRun) return words;
  return source === "simulated"
    ? `${words} A run started here decodes on this machine and takes its step times from ` +
        "this profile."
    : `${words} A run started here is timed on this machine.`;
}
