/* Asks the server about the visitor's job when the page hears nothing of it: the click may have
   been refused, or the stream of messages may have broken. The answer sets the buttons
   (ui/serving/session_view.py). Independent of the DOM. */

const SILENT_MS = 5000;
const LOOK_MS = 1000;

/**
 * What the page says when it asks.
 * @typedef {object} Asked
 * @property {boolean} heard whether a message has come since the buttons began to show a job
 * @property {boolean} over whether the last of them said how the job ended, or why it was refused:
 *   then only the buttons are behind, as on a busy server, and no sentence is wanted
 *
 * @typedef {object} JobView
 * @property {() => boolean} isBusy whether the buttons show a running job
 * @property {(asked: Asked) => void} ask
 * @property {() => number} [now] in milliseconds
 */

/** Measures how long nothing has been heard of the job. */
export class JobWatch {
  /** @type {number | null} when the job was last heard of, or was seen to be going */
  since = null;
  heard = false;
  over = false;

  /** @param {JobView} view */
  constructor({ isBusy, ask, now = () => performance.now() }) {
    this.isBusy = isBusy;
    this.ask = ask;
    this.now = now;
  }

  /** Called every second. */
  look() {
    const now = this.now();
    if (!this.isBusy()) {
      this.since = null;
      this.heard = false;
      this.over = false;
    } else if (this.since === null) {
      this.since = now;
    } else if (now - this.since >= SILENT_MS) {
      this.askNow();
    }
  }

  /**
   * A message of the view has come.
   * @param {boolean} isGoing whether it says that the visitor's job is running
   * @param {boolean} [isOver] whether it says how the job ended, or why it was refused
   */
  take(isGoing, isOver = false) {
    const last = this.since;
    if (this.isBusy()) {
      this.since = this.now();
      this.heard = true;
      this.over = isOver;
    } else if (isGoing && (last === null || this.now() - last >= SILENT_MS)) {
      this.askNow(); // the buttons missed its start
    }
  }

  askNow() {
    this.since = this.now();
    this.ask({ heard: this.heard, over: this.over });
  }
}

/**
 * Watch the job of a view for as long as the page is open.
 * @param {JobView} view
 * @returns {JobWatch}
 */
export function watchJob(view) {
  const watch = new JobWatch(view);
  setInterval(() => watch.look(), LOOK_MS);
  return watch;
}
