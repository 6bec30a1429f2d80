/* The race's stage: builds header, scrubber, lanes, figures and reasons, joins them to one store; all that the page outside has to know. */
import { DistributionCheck } from "./distribution_check.js";
import { LaneView } from "./lane.js";
import { lanePlaces, referenceLane } from "./lane_totals.js";
import { RaceCharts } from "./race_charts.js";
import { RaceHeader } from "./race_header.js";
import { RaceKeys, RaceScrubber } from "./race_scrubber.js";
import { RaceStore } from "./race_store.js";
import { WhereTimeWent } from "./where_time_went.js";
import { el, show, text } from "../../shared/web/dom.js";

class Stage {
  constructor(element, { server, trigger, plotly, page = {} } = {}) {
    this.root = element.matches?.(".sq-stage")
      ? element
      : element.querySelector(".sq-stage") || el("div", { class: "sq-stage" }, element);
    this.root.replaceChildren();
    this.root.classList.add("race-stage");
    this.ask = (name, data) => trigger?.(name, data);
    const store = (this.store = new RaceStore(server));
    const frame = el("div", { class: "sq-frame" }, this.root);
    this.header = new RaceHeader(store, frame);
    this.scrubber = new RaceScrubber(store, frame);
    this.grid = el("div", { class: "race-lanes", "data-part": "lanes" }, frame);
    this.lanes = [];
    this.charts = new RaceCharts(store, frame, plotly);
    this.law = new DistributionCheck(store, frame);
    this.why = new WhereTimeWent(store, frame, this.ask);
    this.empty = this.makeEmpty(frame);
    this.keys = new RaceKeys(store, this, page);
    store.onPaint(() => this.paint());
    store.changed();
  }

  makeEmpty(frame) {
    const box = el("div", { class: "sq-empty", "data-part": "empty" }, frame);
    this.emptyTitle = el("p", { class: "sq-empty-title" }, box);
    this.emptyText = el("p", { class: "sq-empty-text" }, box);
    return box;
  }

  paint() {
    const { store } = this;
    const some = store.lanes.length > 0;
    if (this.version !== store.folded) this.build();
    for (const part of [this.grid, this.charts.root]) show(part, some);
    show(this.empty, !some);
    this.root.classList.toggle("is-empty", !some);
    this.root.classList.toggle("is-live", store.live && !store.done);
    Object.assign(this.root.dataset, { state: store.state, moves: store.moves.length });
    if (!some) this.paintEmpty();
    this.header.paint();
    this.scrubber.paint();
    this.paintLanes();
    if (some) this.charts.paint();
    this.law.paint();
    this.why.paint();
  }

  /** The lanes are built when they become known, and again only where moves came in late. */
  build() {
    const { store } = this;
    this.version = store.folded;
    this.grid.replaceChildren();
    this.grid.dataset.lanes = store.lanes.length;
    this.lanes = store.lanes.map((_, i) => new LaneView(store, this.grid, i, this.ask));
  }

  paintLanes() {
    const { lanes, folds, t, done } = this.store;
    const places = lanePlaces(folds, t, done);
    const reference = referenceLane(lanes, folds, t);
    for (const lane of this.lanes) lane.paint(places, reference);
  }

  paintEmpty() {
    const { store } = this;
    const running = store.race && !store.done && !store.error;
    text(this.emptyTitle, running ? "Starting" : "No race yet");
    text(
      this.emptyText,
      running
        ? "The lanes read the prompt; the first move comes next."
        : "Two to four ways to decode one prompt, side by side, each on a clock of its own.",
    );
  }

  destroy() {
    this.keys.off.abort();
    this.charts.destroy();
    this.root.replaceChildren();
  }
}

/**
 * Build the race inside `element` (its `.sq-stage`, or a new one). `server.get_moves([race, from])` may answer gaps, `trigger(name, data)`
 * hears "apply" {lane, parents} and "open" {race, lane}, `plotly` is the address of its script, `page` is as in the live view. Times are
 * seconds of race time.
 * Answers {ingest, seek, play, pause, live, setRate, store, stage, destroy}.
 */
export function mountRace(element, options) {
  const stage = new Stage(element, options);
  const { store } = stage;
  return {
    ingest: (message) => store.ingest(message),
    seek: (t) => store.seek(t),
    play: () => store.play(),
    pause: () => store.pause(),
    live: () => store.goLive(),
    setRate: (rate) => store.set({ rate, clock: 0 }),
    destroy: () => stage.destroy(),
    store,
    stage,
  };
}
