/* Asks the server for the state of the visitor's job if the buttons show a job but no message has
   arrived for a while. The server may have refused to start it, or the connection may have broken.
   Also asks if a message shows a running job but the buttons do not. The answer sets the buttons
   (`job_state` in ui/serving/session_view.py). Independent of the DOM. */

// ms without a message before the server is asked; reports in fair_queue.py must come more often
const SILENT_MS = 5000;
const LOOK_MS = 1000; // between two looks at the buttons

/**
 * What the page reports with its question.
 * @typedef {object} Asked
 * @property {boolean} heard whether a message has arrived since the buttons began to show a job
 * @property {boolean} over whether the latest message reported how the job ended or why it was
 *   refused. If so, only the buttons are out of date
 *
 * @typedef {object} JobView
 * @property {() => boolean} isBusy whether the buttons show a running job
 * @property {(asked: Asked) => void} ask sends the question to the server
 * @property {() => number} [now] the current time in milliseconds
 */

/** Decides when to ask. */
export class JobWatch {
  /** @type {number | null} start of the silence: time of the last message or question, or when
   * the buttons were first seen to show the job */
  since = null;
  asked = -Infinity; // time of the last question
  heard = false;
  over = false;

  /** @param {JobView} view */
  constructor({ isBusy, ask, now = () => performance.now() }) {
    this.isBusy = isBusy;
    this.ask = ask;
    this.now = now;
  }

  /** Look at the buttons, and ask the server after a long silence. Called every second. */
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
   * Called when a message to the view has arrived.
   * @param {boolean} isGoing whether it reports that the visitor's job is running or waiting
   * @param {boolean} [isOver] whether it reports how the job ended or why it was refused
   */
  take(isGoing, isOver = false) {
    const last = Math.max(this.since ?? -Infinity, this.asked);
    if (this.isBusy()) {
      this.since = this.now();
      this.heard = true;
      this.over = isOver;
    } else if (isGoing && this.now() - last >= SILENT_MS) {
      this.askNow(); // the buttons do not show that the job has started
    }
  }

  askNow() {
    this.since = this.now();
    this.asked = this.since;
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
