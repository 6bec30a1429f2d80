/* The menu for the hardware profile that trees are planned with: this machine's or another's. In
   Decode, the profile that times a run is called the run's clock. */
import { attr, el, show, text } from "../../shared/web/dom.js";
import * as format from "../../shared/web/format.js";

const HERE = "here"; // the key of this machine in this menu
const HERE_IN_DECODE = ""; // the key of this machine in Decode (ui/decode/clocks.py)
const LABEL = "Timed on";
const THIS_MACHINE = "this machine";
const MIXTURE = "Hypothetical: the acceptance rates are not those of the models that were timed.";

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

/** The menu, and a description of the chosen profile. */
export class ClockMenu {
  /** @type {OtherProfile[]} */
  others = [];
  /** @type {Profile | null} */
  here = null; // null: not timed yet
  note = "";
  inDecode = HERE; // the clock last chosen in Decode, as a key of this menu
  place = THIS_MACHINE; // what the menu calls the machine of `here`
  canRun = true; // whether the Lab can run trees; false in a saved page

  /**
   * @param {HTMLElement} host
   * @param {import("./lab_state.js").LabState} state
   * @param {() => void} onChoose called when a person has chosen a profile, here or as a clock in
   *   Decode; not called for this machine's profile while this machine is not timed yet
   */
  constructor(host, state, onChoose) {
    this.state = state;
    this.onChoose = onChoose;
    const line = el("div", { class: "sq-lab-line sq-lab-clock" }, host);
    el("label", { class: "sq-lab-field", text: LABEL, for: "sq-lab-clock" }, line);
    const look = { class: "sq-input sq-lab-menu", "data-part": "clock", id: "sq-lab-clock" };
    this.menu = el("select", look, line);
    this.menu.addEventListener("change", () => this.pick(this.menu.value));
    this.words = el("p", { class: "sq-lab-says", "data-part": "clock-words" }, host);
    this.offer();
  }

  /** The key of the chosen profile. */
  get key() {
    return this.menu.value;
  }

  /** The key that the chosen profile has as a clock in Decode. Decode may not have that clock. */
  get keyInDecode() {
    return this.key === HERE ? HERE_IN_DECODE : this.key;
  }

  /** The chosen profile's machine in words. */
  get where() {
    return this.state.elsewhere ? "that machine" : this.place;
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
    this.choose(key);
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
    this.choose(this.key);
  }

  /**
   * Choose the same clock as Decode, if the choice there has changed since the last call and the
   * menu has that clock.
   * @param {string} keyInDecode
   */
  follow(keyInDecode) {
    const key = keyInDecode === HERE_IN_DECODE ? HERE : keyInDecode;
    if (key === this.inDecode) return;
    this.inDecode = key;
    if (this.has(key) && key !== this.key) this.pick(key);
  }

  offer() {
    const value = this.menu.value;
    const here = `${this.place} (${this.here ? this.here.source : "not timed yet"})`;
    this.menu.replaceChildren(el("option", { value: HERE, text: here }));
    for (const { key, label } of this.others) el("option", { value: key, text: label }, this.menu);
    this.menu.value = value;
    if (this.menu.selectedIndex < 0) this.menu.value = HERE;
  }

  pick(key) {
    this.select(key);
    if (this.state.profile) this.onChoose();
  }

  choose(key) {
    const other = this.others.find((one) => one.key === key);
    this.note = other?.note || "";
    this.state.set({ profile: other?.profile ?? this.here, elsewhere: other?.name ?? null });
  }

  paint() {
    const { profile, elsewhere } = this.state;
    const words = profile ? this.wordsOf(profile, elsewhere) : "";
    show(this.words, Boolean(words));
    text(this.words, words);
    attr(this.words, "title", this.note);
  }

  wordsOf(profile, elsewhere) {
    const mixture = this.state.isHypothetical ? MIXTURE : "";
    const hypothesis = elsewhere ? hypothetical(profile, this.canRun) : mixture;
    const calibration = calibrationWords(profile, this.state.parents.length);
    return [hypothesis, calibration].filter(Boolean).join(" ");
  }
}

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
  const words = `Hypothetical: ${device}, ${target} with ${draft}. Its times are ${times}; nothing was measured here.`;
  if (!canRun) return words;
  return source === "simulated"
    ? `${words} A run started here decodes on this machine and takes its step times from this profile.`
    : `${words} A run started here is timed on this machine.`;
}
