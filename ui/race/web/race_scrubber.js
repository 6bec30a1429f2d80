/* Where we are in the race: transport buttons, a track over race time with one line a lane, speed, LIVE. */
import { laneName } from "./lane.js";
import * as dom from "../../shared/web/dom.js";
import { attr, button, el, setIcon, show, svg, text } from "../../shared/web/dom.js";
import { PlaybackKeys } from "../../shared/web/playback_keys.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

const HEIGHT = 34;
const KEY_STEPS = { ArrowLeft: -1, ArrowRight: 1 };
const RATES = [
  ["x1", "real time"],
  ["x0.25", "¼× real time"],
  ["x0.1", "⅒× real time"],
  ["s4", "4 moves / s"],
];

export class RaceScrubber {
  constructor(store, host) {
    this.store = store;
    const root = el(
      "section",
      { class: "sq-scrub", "aria-label": "Race time", "data-part": "scrubber" },
      host,
    );
    this.transport(root);
    this.track = el(
      "div",
      {
        class: "sq-track",
        role: "slider",
        tabindex: "0",
        "aria-label": "Race time",
        "aria-valuemin": "0",
        "data-part": "track",
      },
      root,
    );
    this.chart = svg(
      "svg",
      {
        class: "sq-track-svg",
        preserveAspectRatio: "none",
        viewBox: `0 0 1 ${HEIGHT}`,
        "aria-hidden": "true",
      },
      this.track,
    );
    this.runs = dom.pool((i) =>
      svg("rect", { class: "race-run", "data-lane": i, x: "0" }, this.chart),
    );
    this.head = el("div", { class: "sq-playhead" }, this.track);
    this.tip = el("div", { class: "sq-tip", hidden: "" }, this.track);
    this.place = el("span", { class: "sq-place", "data-part": "time" }, root);
    this.live = button(root, {
      text: "LIVE",
      cls: "sq-live",
      hint: TOOLTIPS["button live in a race"],
    });
    this.live.dataset.part = "live";
    this.live.addEventListener("click", () => store.goLive());
    this.speed = el(
      "select",
      { class: "sq-input sq-speed", "aria-label": "Playback speed", "data-part": "rate" },
      root,
    );
    for (const [value, label] of RATES) el("option", { value, text: label }, this.speed);
    this.speed.addEventListener("change", () => store.set({ rate: this.speed.value, clock: 0 }));
    this.help = button(root, { text: "?", label: "Keyboard help", cls: "sq-help-btn" });
    this.listen();
    this.size = dom.sized(this.track, () => store.changed());
  }

  transport(root) {
    const { store } = this;
    const group = el(
      "div",
      { class: "sq-transport", role: "group", "aria-label": "Playback" },
      root,
    );
    const acts = {
      first: ["Start of the race (Home)", () => store.seek(0)],
      back: ["One move back (←)", () => store.step(-1)],
      play: ["Play (space)", () => store.toggle()],
      next: ["One move forward (→)", () => store.step(1)],
      last: ["End of the race (End)", () => store.seek(store.end)],
    };
    for (const [icon, [label, act]] of Object.entries(acts)) {
      const made = button(group, { icon, label });
      made.dataset.act = icon;
      made.addEventListener("click", act);
      if (icon === "play") (this.playing = made).classList.add("sq-play");
    }
  }

  paint() {
    const { store } = this;
    const { end, t, done } = store;
    const some = end > 0;
    const playing = store.playing || (store.follow && !done && some);
    setIcon(this.playing, playing ? "pause" : "play");
    attr(this.playing, "aria-label", playing ? "Pause (space)" : "Play (space)");
    text(this.place, some ? clock(t) + " / " + clock(end) + " s" : "no moves");
    const following = some && store.follow && !done;
    attr(this.live, "aria-pressed", String(following));
    this.live.classList.toggle("is-running", some && !done);
    this.live.disabled = !some || done;
    if (this.speed.value !== store.rate) this.speed.value = store.rate;
    attr(this.track, "aria-valuemax", clock(end));
    attr(this.track, "aria-valuenow", clock(t));
    attr(
      this.track,
      "aria-valuetext",
      some ? clock(t) + " seconds of " + clock(end) : "no moves yet",
    );
    this.lines(end);
    show(this.head, some);
    if (some) this.head.style.transform = `translateX(${(t / end) * this.size.w}px)`;
  }

  /** One line a lane, as long as its clock. */
  lines(end) {
    const { folds, lanes, version } = this.store;
    const key = [version, ...folds.map((fold) => fold.clock)].join();
    if (this.key === key) return;
    this.key = key;
    const tall = (HEIGHT - 6) / Math.max(folds.length, 1);
    const rects = this.runs.take(folds.length);
    folds.forEach((fold, i) => {
      attr(rects[i], "data-plain", lanes[i].plain ? "yes" : null);
      attr(rects[i], "y", 3 + i * tall + tall * 0.2);
      attr(rects[i], "height", tall * 0.6);
      attr(rects[i], "width", end ? fold.clock / end : 0);
    });
  }

  listen() {
    const { track, store } = this;
    const at = (event) => {
      const box = track.getBoundingClientRect();
      return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * store.end;
    };
    let held = false;
    track.addEventListener("pointerdown", (event) => {
      if (event.button || !store.end) return;
      held = true;
      track.setPointerCapture(event.pointerId);
      store.seek(at(event));
    });
    track.addEventListener("pointermove", (event) => {
      if (!store.end) return;
      const t = at(event);
      if (held) store.seek(t);
      text(this.tip, this.describe(t));
      show(this.tip, true);
      this.tip.style.left = Math.max(9, Math.min(91, (t / store.end) * 100)) + "%";
    });
    for (const name of ["pointerup", "pointercancel"])
      track.addEventListener(name, () => {
        held = false;
      });
    track.addEventListener("pointerleave", () => show(this.tip, false));
  }

  describe(t) {
    const { folds, lanes } = this.store;
    return (
      clock(t) +
      " s · " +
      folds.map((fold, i) => laneName(lanes[i], i) + " " + fold.at(t).tokens).join(", ")
    );
  }
}

const clock = (seconds) => seconds.toFixed(seconds >= 100 ? 1 : 2);

const HELP = [
  ["Ctrl Enter", "race, from anywhere; on a Mac also ⌘ Enter"],
  ["space", "play or pause"],
  ["← →", "one move back or forward"],
  ["Home End", "start or end of the race"],
  ["L", "follow the newest move"],
  ["Esc", "stop the race"],
  ["?", "this list"],
];

export class RaceKeys extends PlaybackKeys {
  makeHelp(host) {
    const dialog = super.makeHelp(host);
    const list = dialog.querySelector("dl");
    list.replaceChildren();
    for (const [keys, what] of HELP) {
      const name = el("dt", {}, list);
      for (const key of keys.split(" ")) el("kbd", { text: key }, name);
      el("dd", { text: what }, list);
    }
    return dialog;
  }

  act(key) {
    const { store } = this;
    const acts = {
      " ": () => store.toggle(),
      Home: () => store.seek(0),
      End: () => (store.done ? store.seek(store.end) : store.goLive()),
      l: () => store.goLive(),
      "?": () => this.help(),
      Escape: () => this.page.stop?.(),
    };
    if (Object.hasOwn(KEY_STEPS, key)) store.step(KEY_STEPS[key]);
    else if (Object.hasOwn(acts, key)) acts[key]();
    else return false;
    return true;
  }
}
