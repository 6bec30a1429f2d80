/* The state of the Experiments tab: the chosen experiment, recorded results, the results of this
   page's own runs, and the run in progress. Independent of the DOM. */

/**
 * What ui/experiments/messages.py makes of a result.
 * @typedef {object} Result
 * @property {string} name
 * @property {string} source recorded, measured or simulated
 * @property {string} finding
 * @property {string[]} details of the finding
 * @property {string} partial how much is done; empty for a complete result
 * @property {number} done
 * @property {number} total
 * @property {{data: any[], layouts: any[]}} figure `layouts`: by the number of columns of plots
 * @property {string[]} caption the lines above the saved figure
 * @property {string} tables HTML
 */
/**
 * @typedef {{name?: string, recorded?: Record<string, Result>, error?: string}} Recorded
 *
 * @typedef {object} Run
 * @property {string} [name] name of the experiment; missing in a `refusal_message` of messages.py
 * @property {boolean} going
 * @property {number} [share]
 * @property {string} [words]
 * @property {string} [error]
 * @property {string} [notice]
 * @property {Result} [result]
 *
 * @typedef {object} Message
 * @property {Run} [run]
 * @property {string} [error]
 */

/** The state of one page. */
export class ExperimentsState {
  /** @type {string[]} of all experiments */
  names = [];
  chosen = "";
  /** @type {Map<string, Recorded>} */
  recorded = new Map();
  /** @type {Map<string, Result>} */
  own = new Map();
  /** @type {Map<string, string>} which of `results` to show, by experiment; absent: the first */
  side = new Map();
  /** @type {Run} */
  run = { going: false };
  error = ""; // from the server's last message
  fetchError = ""; // set if the recorded result of the chosen experiment could not be fetched

  /** @returns {boolean} whether a run is in progress or was just asked for */
  get going() {
    return this.run.going;
  }

  /** @returns {Record<string, Result>} of the chosen experiment: those recorded, by pair, and the
   * page's own, as "own" */
  get results() {
    const own = this.own.get(this.chosen);
    return { ...this.recorded.get(this.chosen)?.recorded, ...(own && { own }) };
  }

  /** @returns {string | undefined} which of `results` is shown */
  get shown() {
    const side = this.side.get(this.chosen);
    return side in this.results ? side : Object.keys(this.results)[0];
  }

  /** @returns {Result | undefined} the result that is shown */
  get result() {
    return this.results[this.shown];
  }

  /** @returns {string} why there is no recorded result; empty if there is one or the server has not
   * answered yet */
  get missing() {
    return this.recorded.get(this.chosen)?.error ?? "";
  }

  /** @returns {"Run it small" | "Continue" | "Run again"} the label of the Run button */
  get action() {
    const own = this.own.get(this.chosen);
    if (!own) return "Run it small";
    return own.done < own.total ? "Continue" : "Run again";
  }

  /** @returns {{words: string, isError: boolean}} what the banner of the chosen experiment says: an
   * error, else the notice of its run */
  get banner() {
    const { name, error, notice } = this.run;
    const isOwn = !name || name === this.chosen;
    const problem = (isOwn && error) || this.error || this.fetchError;
    return {
      words: problem || (isOwn && notice) || "",
      isError: Boolean(problem),
    };
  }

  /** @param {Message} message */
  take({ run, error }) {
    this.error = error ?? "";
    if (run) this.takeRun(run);
  }

  /** @param {Run} run */
  takeRun(run) {
    const name = run.name ?? this.run.name;
    this.run = { ...run, name };
    if (!run.result || !name) return;
    if (!this.own.has(name)) this.side.set(name, "own");
    this.own.set(name, run.result);
  }

  /**
   * A recorded result could not be fetched. Ignored if another experiment is on screen.
   * @param {string} name
   */
  notFetched(name) {
    if (name !== this.chosen) return;
    this.fetchError = "The recorded result could not be fetched. Choose the experiment again.";
  }

  /**
   * The visitor chose an experiment.
   * @param {string} name
   */
  choose(name) {
    this.chosen = name;
    this.error = "";
    this.fetchError = "";
  }

  /** The visitor pressed Run. */
  start() {
    this.error = "";
    this.run = {
      name: this.chosen,
      going: true,
      share: 0,
      words: "waiting for the server",
    };
  }
}
