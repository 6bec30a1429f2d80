/* Connects a Gradio HTML component to the view that draws its value. */
import { watchJob } from "./job_watch.js";

const ASK_MS = 2000; // after which a missing first value is requested

/**
 * The arguments that Gradio passes to a component's js_on_load. Props: the component's properties;
 * `value` is a message as JSON text. Watch: calls `changed` whenever the property `name` changes.
 * Trigger: triggers an event of the component. Server: the component's server functions, which
 * answer with JSON text.
 * @typedef {{value?: string}} Props
 * @typedef {(name: string, changed: () => void) => void} Watch
 * @typedef {(name: string, data?: object) => void} Trigger
 * @typedef {Record<string, (asked: unknown) => Promise<string>>} Server
 */

/**
 * Call `view.take` with every new value of a component: the parsed message, or {error} if the value
 * is not JSON. Also set `root.view` to the view, for code outside the view, for tests and for the
 * browser's console.
 * @template M the type of the component's messages
 * @param {HTMLElement} root
 * @param {Props} props
 * @param {Watch} watch
 * @param {{take: (message: M) => void}} view
 * @param {object} [around]
 * @param {() => void} [around.ask] requests the first value. Called if none has arrived after
 *   ASK_MS, because a tab that is built while the page loads can miss its first value
 * @param {{trigger: Trigger, isBusy: () => boolean,
 *   isGoing?: (message: M) => boolean}} [around.job] the job whose messages these are. `isBusy`:
 *   whether the view shows it as running; `isGoing`: whether a message is about a running job. It
 *   is not needed if such a message itself makes `isBusy` true
 */
export function connectComponent(root, props, watch, view, { ask, job } = {}) {
  let last = "";
  const asks = (state) => job.trigger("ask", state);
  const watched = job && watchJob({ isBusy: job.isBusy, ask: asks });
  const update = () => {
    if (!props.value || props.value === last) return;
    last = props.value;
    const message = parsed(last);
    view.take(message);
    watched?.take(job.isGoing?.(message) ?? false);
  };
  Object.assign(root, { view });
  update();
  watch("value", update);
  if (ask) setTimeout(() => props.value || ask(), ASK_MS);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (problem) {
    return { error: "A message from the server could not be read: " + problem.message };
  }
}

/**
 * Call `shown` each time `root` becomes visible, for example because its tab is opened.
 * @param {HTMLElement} root
 * @param {() => void} shown
 */
export function whenShown(root, shown) {
  let before = false;
  new IntersectionObserver((entries) => {
    const now = entries[entries.length - 1].isIntersecting;
    if (now && !before) shown();
    before = now;
  }).observe(root);
}
