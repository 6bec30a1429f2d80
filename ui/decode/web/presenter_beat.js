/* The track of the playback bar (scrubber.js) in presenter mode. It may be wider than its box, so
   that a step's block has room for a number. It moves to keep the current moment in view. */
import { Scrubber } from "./scrubber.js";
import { el } from "../../shared/web/dom.js";
import { secondsOf } from "../../shared/web/step_view.js";

const BLOCK = 30; // px; wanted width of the median step
const MOST_WIDE = 60; // largest width of the track, in widths of its box
// Where in the box the current moment is, as a share of the box's width. Near the ends of the track
// it is elsewhere, because the track always fills the box.
const BEFORE = 0.7;

/** The playback bar of the Decode view, with its track in a box of its own. */
export class PresenterBeat extends Scrubber {
  /**
   * @param {import("./run_store.js").RunStore} store
   * @param {Element} host
   */
  constructor(store, host) {
    super(store, host);
    this.box = el("div", { class: "sq-present-track" });
    this.track.before(this.box);
    this.box.append(this.track);
  }

  paint() {
    super.paint();
    const { store, span } = this;
    if (store.last < 0 || !this.size.w) return;
    const times = store.steps.filter(Boolean).map(secondsOf);
    times.sort((a, b) => a - b);
    const blocks = span / Math.max(times[times.length >> 1], 1e-9);
    const box = this.size.w / (parseFloat(this.track.style.width) / 100 || 1);
    const wide = Math.min(MOST_WIDE, Math.max(1, (blocks * BLOCK) / box));
    this.track.style.width = (wide * 100).toFixed(1) + "%";
    this.move(Math.min(1, store.time / span), wide);
  }

  // `now` is a share of the track's width, and so are the percents of `translateX`.
  move(now, wide) {
    const most = 1 - 1 / wide;
    const left = Math.max(0, Math.min(most, now - BEFORE / wide));
    this.track.style.transform = `translateX(${(-left * 100).toFixed(3)}%)`;
  }
}
