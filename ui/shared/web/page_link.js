/* Keeps the fragment of the page's address up to date with the open tab and what it shows, so that
   a reload, the Back button and a copied link show the same again. */
import { FIELDS, decodeLink, encodeLink } from "./link_fields.js";

/** @import { LinkState } from "./link_fields.js" */

/**
 * A tab's view. `read` returns the values that it shows, by the names in link_fields.js. `apply`
 * shows such values. `say` shows an error or a notice.
 * @typedef {object} LinkedView
 * @property {() => Record<string, any>} read
 * @property {(values: Record<string, any>) => void} apply
 * @property {(words: string, isError: boolean) => void} say
 */

const QUIET_MS = 500; // without a change before the address is updated
const TABS_MS = 100; // between two looks for a tab or view that Gradio has not built yet
const MOST_LOOKS = 100;
/** @type {Record<string, string>} words for values that may not fit into a link, by their names */
const NAMES = {
  prompt: "the prompt",
  second_prompt: "the second prompt",
  hand: "the tree drawn by hand",
  rates: "the vector",
};

/** @type {Map<string, LinkedView>} by tab */
const views = new Map();
/** @type {LinkState | null} values to show as soon as the view of their tab is there */
let pending = null;
// Whether this module is opening the tab that the address names. Meanwhile, the address must not
// change.
let isFollowing = false;
/** @type {Map<string, number>} by tab, the timer that will update the address */
const timers = new Map();

/**
 * Register the view of a tab. Applies the values from the address that wait for the view.
 * @param {string} tab
 * @param {LinkedView} view
 */
export function linkView(tab, view) {
  views.set(tab, view);
  if (pending?.tab !== tab) return;
  const { values } = pending;
  pending = null;
  view.apply(values);
}

/**
 * Called when the values that a tab shows have changed: updates the address if the tab is open.
 * @param {string} tab
 */
export function linkChanged(tab) {
  clearTimeout(timers.get(tab));
  timers.set(
    tab,
    setTimeout(() => tab === openTab() && write("replaceState"), QUIET_MS),
  );
}

/**
 * Show a notice in a tab's view, as soon as that view is there.
 * @param {string} tab
 * @param {string} words
 */
export function sayIn(tab, words) {
  whenThere(tab, (view) => view.say(words, false));
}

/** Show the tab and values that the address names: now, if it has a fragment, and each time the
 * visitor changes the address, for example with the Back button. Also add each tab that the visitor
 * opens to the browser's history. */
export function followAddress() {
  document.addEventListener("click", noteTab);
  window.addEventListener("popstate", follow);
  if (location.hash) follow();
}

/**
 * Copy a link to what a tab shows, and show a notice with the result.
 * @param {string} tab
 * @returns {Promise<void>}
 */
export async function copyLink(tab) {
  const view = views.get(tab);
  const { hash, left } = encodeLink(tab, view.read());
  const address = new URL(hash, location.href).href;
  const missing = left.map((name) => NAMES[name] ?? name).join(" and ");
  const rest = missing && ` without ${missing} (too long for a link, or not valid)`;
  if (await copied(address)) view.say(`Link copied${rest}.`, false);
  else view.say(`The browser does not allow copying. The link${rest}: ${address}`, false);
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

/** @type {(selector: string) => HTMLElement[]} */
const all = (selector) => /** @type {any} */ ([...document.querySelectorAll(selector)]);
const tabs = () => all("[role=tab]");
// entries of the menu with the tabs that do not fit into the row
const others = () => all(".overflow-dropdown button");
const nameOf = (tab) => tab.textContent.trim().toLowerCase();

function openTab() {
  const open = tabs().find((tab) => tab.getAttribute("aria-selected") === "true");
  return open ? nameOf(open) : "";
}

function noteTab({ target }) {
  if (!target.closest?.("[role=tab], .overflow-dropdown button") || isFollowing) return;
  setTimeout(() => write("pushState"), 0);
}

/** @type {(how: "pushState" | "replaceState") => void} */
function write(how) {
  const tab = openTab();
  if (!tab || pending || isFollowing) return;
  const { hash } = encodeLink(tab, views.get(tab)?.read() ?? {});
  if (hash === location.hash) return;
  // The whole address is needed: the browser would resolve a fragment alone against the page's
  // <base>, which has no query.
  showAddress(new URL(hash, location.href), how);
}

// Shows the tab and values that the address names. Without a fragment, opens the first tab and
// changes no values.
function follow() {
  try {
    show(decodeLink(location.hash) ?? { tab: "decode", values: {} });
  } catch (problem) {
    ignore(`This link is damaged and was ignored: ${problem.message}.`);
  }
}

// Remove the fragment from the address, and say why.
/** @type {(why: string) => void} */
function ignore(why) {
  showAddress(location.pathname + location.search);
  whenThere("decode", (view) => view.say(why, true));
}

/** @type {(state: LinkState) => void} */
function show(state) {
  pending = state;
  clickTab(state.tab, 0);
  const view = views.get(state.tab);
  if (view) linkView(state.tab, view);
}

/** @type {(name: string, looks: number) => void} */
function clickTab(name, looks) {
  const tab = [...tabs(), ...others()].find((one) => nameOf(one) === name);
  if (!tab && looks < MOST_LOOKS) {
    setTimeout(() => clickTab(name, looks + 1), TABS_MS);
    return;
  }
  const isWanted = pending?.tab === name;
  if (isWanted && !(tab && hasValues(name))) pending = null; // no view will take the values
  if (!tab) {
    if (isWanted) ignore(`This link was ignored: the page has no tab “${name}”.`);
    return;
  }
  if (name === openTab()) return;
  isFollowing = true;
  tab.click();
  isFollowing = false;
}

const hasValues = (tab) => Object.keys(FIELDS[tab]).length > 0;

/** @type {(tab: string, act: (view: LinkedView) => void, looks?: number) => void} */
function whenThere(tab, act, looks = 0) {
  const view = views.get(tab);
  if (view) act(view);
  else if (looks < MOST_LOOKS) setTimeout(() => whenThere(tab, act, looks + 1), TABS_MS);
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
 * Put the name of the run or race that a message is about into the address, under `kind`. If the
 * server has not stored that run or race, remove the earlier name instead. A message without a name
 * or without `meta` changes nothing.
 * @param {Record<string, any>} message with the name, if it has one, under `kind`
 * @param {"run" | "race"} kind
 */
export function rememberInAddress(message, kind) {
  if (!message[kind] || !message.meta) return;
  const url = new URL(window.location.href);
  if (message.stored) url.searchParams.set(kind, message[kind]);
  else url.searchParams.delete(kind);
  if (url.href !== window.location.href) showAddress(url);
}
