/* Keeps the fragment of the page's address up to date with the open view and what it shows, so that
   a reload, the Back button and a copied link show the same again. */
import { FIELDS, decodeLink, encodeLink } from "./link_fields.js";
import { FIRST, isBuilt, onOpened, openView, openedView } from "./navigation.js";

/** @import { LinkState } from "./link_fields.js" */

/**
 * A view with values. `read` returns the values that it shows, by the names in link_fields.js.
 * `apply` shows such values. `say` shows an error or a notice.
 * @typedef {object} LinkedView
 * @property {() => Record<string, any>} read
 * @property {(values: Record<string, any>) => void} apply
 * @property {(words: string, isError: boolean) => void} say
 */

const QUIET_MS = 500; // without a change before the address is updated
const BUILD_MS = 100; // between two looks for a tab or view that Gradio has not built yet
const MOST_LOOKS = 100;
/** @type {Record<string, string>} words for values that may not fit into a link, by their names */
const NAMES = {
  prompt: "the prompt",
  second_prompt: "the second prompt",
  hand: "the tree drawn by hand",
  rates: "the vector",
};

/** @type {Map<string, LinkedView>} */
const views = new Map();
/** @type {LinkState | null} what the address names, until its view is there. Meanwhile, the address
 * does not change. */
let pending = null;
/** @type {Map<string, number>} by view, the timer that will update the address */
const timers = new Map();
/** @type {string | null | undefined} the name of the run on screen: null if the server has not
 * stored that run, undefined before the first message */
let runOnScreen;

/**
 * Register a view. Applies the values from the address that wait for it.
 * @param {string} view
 * @param {LinkedView} linked
 */
export function linkView(view, linked) {
  views.set(view, linked);
  if (pending?.view !== view) return;
  const { values } = pending;
  pending = null;
  linked.apply(values);
}

/**
 * Called when the values that a view shows have changed: updates the address if the view is open.
 * @param {string} view
 */
export function linkChanged(view) {
  clearTimeout(timers.get(view));
  timers.set(
    view,
    setTimeout(() => view === openedView() && write("replaceState"), QUIET_MS),
  );
}

/**
 * Show a notice in a view, as soon as that view is there.
 * @param {string} view
 * @param {string} words
 */
export function sayIn(view, words) {
  whenThere(view, (linked) => linked.say(words, false));
}

/** Show the view and values that the address names: now, if it has a fragment, and each time the
 * visitor changes the address, for example with the Back button. Also add each view that the
 * visitor opens to the browser's history. */
export function followAddress() {
  onOpened(() => write("pushState"));
  window.addEventListener("popstate", () => {
    nameRun(); // the Back button changes the view, not the run
    follow();
  });
  if (location.hash) follow();
}

/**
 * Copy a link to what a view shows, and show a notice with the result.
 * @param {string} view
 * @returns {Promise<void>}
 */
export async function copyLink(view) {
  const linked = views.get(view);
  const { hash, left } = encodeLink(view, linked.read());
  const address = new URL(hash, location.href).href;
  const missing = left.map((name) => NAMES[name] ?? name).join(" and ");
  const rest = missing && ` without ${missing} (too long for a link, or not valid)`;
  if (await copied(address)) linked.say(`Link copied${rest}.`, false);
  else linked.say(`The browser does not allow copying. The link${rest}: ${address}`, false);
}

// Whether the text could be copied: the clipboard works only with https or on localhost.
/** @type {(text: string) => Promise<boolean>} */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** @type {(how: "pushState" | "replaceState") => void} */
function write(how) {
  if (pending) return;
  const view = openedView();
  const { hash } = encodeLink(view, views.get(view)?.read() ?? {});
  if (hash === location.hash) return;
  // The whole address is needed: the browser would resolve a fragment alone against the page's
  // <base>, which has no query.
  showAddress(new URL(hash, location.href), how);
}

// Shows the view and values that the address names. Without a fragment, opens the first view and
// changes no values.
function follow() {
  try {
    show(decodeLink(location.hash) ?? { view: FIRST, values: {} });
  } catch (problem) {
    ignore(`This link is damaged and was ignored: ${problem.message}.`);
  }
}

// Remove the fragment from the address, and say why.
/** @type {(why: string) => void} */
function ignore(why) {
  showAddress(location.pathname + location.search);
  whenThere(FIRST, (linked) => linked.say(why, true));
}

/** @type {(state: LinkState) => void} */
function show(state) {
  pending = state;
  openWhenBuilt(state);
}

/** @type {(state: LinkState) => void} */
function openWhenBuilt(state) {
  if (pending !== state) return;
  const { view } = state;
  if (!isBuilt(view)) {
    setTimeout(() => openWhenBuilt(state), BUILD_MS);
    return;
  }
  openView(view);
  const linked = views.get(view);
  if (linked) linkView(view, linked);
  else if (!Object.keys(FIELDS[view]).length) pending = null; // there are no values to take
}

/** @type {(view: string, act: (linked: LinkedView) => void, looks?: number) => void} */
function whenThere(view, act, looks = 0) {
  const linked = views.get(view);
  if (linked) act(linked);
  else if (looks < MOST_LOOKS) setTimeout(() => whenThere(view, act, looks + 1), BUILD_MS);
}

/**
 * Show `address` as the page's address, if the browser allows it: some forbid it in frames, or
 * after many changes in a short time.
 * @param {URL | string} address
 * @param {"pushState" | "replaceState"} [how] "pushState": the Back button returns to the old one
 */
export function showAddress(address, how = "replaceState") {
  try {
    history[how](history.state, "", address);
  } catch (problem) {
    console.debug(problem);
  }
}

/**
 * Put the name of the run that a message is about into the address. If the server has not stored
 * that run, remove the earlier name instead. A message without a name or without `stored` changes
 * nothing.
 * @param {{run?: string | null, stored?: boolean}} message
 */
export function rememberInAddress({ run, stored }) {
  if (!run || stored === undefined) return;
  runOnScreen = stored ? run : null;
  nameRun();
}

function nameRun() {
  if (runOnScreen === undefined) return;
  const url = new URL(location.href);
  if (runOnScreen) url.searchParams.set("run", runOnScreen);
  else url.searchParams.delete("run");
  if (url.href !== location.href) showAddress(url);
}
