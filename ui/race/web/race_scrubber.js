/* The playback bar of the Race view, with one line per lane on its track. */
import { laneName } from "./lane.js";
import { drawLine, laneStyles } from "./lane_style.js";
import { text } from "../../shared/web/dom.js";
import { PlaybackBar, TRACK_HEIGHT } from "../../shared/web/playback_bar.js";
import { REAL, slowed } from "../../shared/web/speeds.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/** @typedef {import("./race_store.js").RaceStore} RaceStore */

const WORDS = {
  bar: "Race time",
  slider: "Race time",
  first: "Start of the race (Home)",
  last: "End of the race (End)",
  live: TOOLTIPS["button live in a race"],
  rates: [REAL, slowed(0.25), slowed(0.1), ["s4", "4 steps / s"]],
};

/** The bar with the playback buttons and the track. */
export class RaceScrubber extends PlaybackBar {
  drawn = ""; // the state that the lines show, as a key

  /**
   * @param {RaceStore} store
   * @param {HTMLElement} host
   */
  constructor(store, host) {
    super(store, host, WORDS);
  }

  paint() {
    const { end, t } = this.store;
    const some = end > 0;
    this.paintControls(some);
    text(this.place, some ? `${clock(t)} / ${clock(end)} s` : "no steps");
    const words = some ? `${clock(t)} seconds of ${clock(end)}` : "no steps yet";
    this.paintSlider(0, clock(end), clock(t), words);
    this.paintLines(end);
    if (some) this.head.style.transform = `translateX(${(t / end) * this.size.w}px)`;
  }

  /**
   * Draw one line per lane; its length shows the lane's decode time.
   * @param {number} end the longest of these decode times, in seconds
   */
  paintLines(end) {
    const { totals, lanes, built } = this.store;
    const lengths = totals.map((total) => Math.round((total.clock / end || 0) * this.size.w));
    const key = [built, ...lengths].join();
    if (this.drawn === key) return;
    this.drawn = key;
    this.chart.replaceChildren();
    const styles = laneStyles(lanes);
    const tall = (TRACK_HEIGHT - 4) / totals.length;
    lengths.forEach((length, i) => {
      if (length) drawLine(this.chart, styles[i], 2 + tall * (i + 0.5), length, length - 6);
    });
  }

  at(share) {
    return share * this.store.end;
  }

  /**
   * How many tokens each lane has at time t, in words.
   * @param {number} t
   * @returns {string}
   */
  describe(t) {
    const { totals, lanes } = this.store;
    const tokens = totals.map((total, i) => laneName(lanes[i], i) + " " + total.at(t).tokens);
    return clock(t) + " s · " + tokens.join(", ");
  }
}

const clock = (seconds) => seconds.toFixed(seconds >= 100 ? 1 : 2);
