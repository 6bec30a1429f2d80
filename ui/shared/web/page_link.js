/* The fragment of the page's address follows the open tab and what it shows; a reload, the Back
   button and a copied link show the same again. */
import { decodeLink, encodeLink } from "./link_text.js";

/** @import { LinkState } from "./link_text.js" */

/**
 * What a tab's view offers. `read`: what it shows, by the names in link_fields.js. `apply`: shows
 * such values. `say`: shows a message, an error or a notice.
 * @typedef {object} LinkedView
 * @property {() => Record<string, any>} read
 * @property {(values: Record<string, any>) => void} apply
 * @property {(words: string, isError: boolean) => void} say
 */

const QUIET_MS = 500; // without a change before the address follows
const TABS_MS = 100; // between two looks for the tabs, which Gradio builds
const MOST_LOOKS = 100;
/** @type {Record<string, string>} names of values in words */
const NAMES = {
  prompt: "the prompt",
  second_prompt: "the second prompt",
  hand: "the tree drawn by hand",
  rates: "the vector",
};

/** @type {Map<string, LinkedView>} by tab */
const views = new Map();
/** @type {LinkState | null} what waits for its tab's view */
let pending = null;
let isFollowing = false; // the address leads, and is not written
let timer = 0;

/**
 * A tab's view is there.
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
 * What a tab shows has changed: the address follows if the tab is open.
 * @param {string} tab
 */
export function linkChanged(tab) {
  clearTimeout(timer);
  timer = setTimeout(() => tab === openTab() && write("replaceState"), QUIET_MS);
}

/**
 * Show a notice in a tab's view, as soon as it is there.
 * @param {string} tab
 * @param {string} words
 */
export function sayIn(tab, words) {
  whenThere(tab, (view) => view.say(words, false));
}

/** Show what the address says, now and when it changes. Called once. */
export function followAddress() {
  document.addEventListener("click", noteTab);
  window.addEventListener("popstate", follow);
  if (location.hash) follow();
}

/**
 * Copy the address of what a tab shows, and say so.
 * @param {string} tab
 * @returns {Promise<void>}
 */
export async function copyLink(tab) {
  const view = views.get(tab);
  const { hash, left } = encodeLink(tab, view.read());
  const address = new URL(hash, location.href).href;
  const missing = left.map((name) => NAMES[name] ?? name).join(" and ");
  const rest = missing && ` It comes without ${missing}: too long for a link.`;
  if (await copied(address)) view.say("Link copied." + rest, false);
  else view.say(`The browser does not allow copying. The link: ${address}`, false);
}

/** @type {(text: string) => Promise<boolean>} the clipboard needs https or localhost */
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
// the entries of the menu that has the tabs for which the row has no room
const others = () => all(".overflow-dropdown button");
const nameOf = (tab) => tab.textContent.trim().toLowerCase();

function openTab() {
  const open = tabs().find((tab) => tab.getAttribute("aria-selected") === "true");
  return open ? nameOf(open) : "";
}

function noteTab({ target }) {
  if (!target.closest?.("[role=tab]") || isFollowing) return;
  setTimeout(() => write("pushState"), 0);
}

/** @type {(how: "pushState" | "replaceState") => void} */
function write(how) {
  const tab = openTab();
  if (!tab || pending || isFollowing) return;
  const { hash } = encodeLink(tab, views.get(tab)?.read() ?? {});
  if (hash === location.hash) return;
  // the whole address: a fragment alone would lose what follows "?", as the page has a base address
  history[how](history.state, "", new URL(hash, location.href));
}

// Show what the address says; without a fragment, the first tab as it is.
function follow() {
  try {
    show(decodeLink(location.hash) ?? { tab: "decode", values: {} });
  } catch (problem) {
    history.replaceState(history.state, "", location.pathname + location.search);
    const words = `This link is damaged, so nothing of it is shown: ${problem.message}.`;
    whenThere("decode", (view) => view.say(words, true));
  }
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
  if (name === openTab()) return;
  const tab = [...tabs(), ...others()].find((one) => nameOf(one) === name);
  if (!tab) {
    if (looks < MOST_LOOKS) setTimeout(() => clickTab(name, looks + 1), TABS_MS);
    return;
  }
  isFollowing = true;
  tab.click();
  isFollowing = false;
}

/** @type {(tab: string, act: (view: LinkedView) => void, looks?: number) => void} */
function whenThere(tab, act, looks = 0) {
  const view = views.get(tab);
  if (view) act(view);
  else if (looks < MOST_LOOKS) setTimeout(() => whenThere(tab, act, looks + 1), TABS_MS);
}
