/* The header of the page. It has the navigation and shows the state of loading the models. Its
   buttons open the drawer with the models, hide and show the form, and switch between dark and
   light. */
import { connectComponent } from "./connect_component.js";
import { followForm, toggleForm } from "./form_side.js";
import { publishModels } from "./between_tabs.js";
import { connectNavigation } from "./navigation.js";
import { followAddress } from "./page_link.js";
import "./print.js";
import "./toasts.js";

/** @import { Props, Server, Trigger, Watch } from "./connect_component.js" */

const POLL_MS = 2000;
const DRAWER = "pg-models";

/**
 * The state of loading the models (`status_json` in ui/serving/model_host.py). `version` counts
 * the pairs loaded so far. `models`: names of target and draft, or null.
 * @typedef {{stage: string, words: string, version: number, models?: string[] | null}} LoadStatus
 */

/**
 * Called from the component's js_on_load with the arguments that Gradio passes.
 * @param {HTMLElement} element
 * @param {Props} props
 * @param {Watch} watch
 * @param {Trigger} trigger
 * @param {Server} server
 */
export function connect(element, props, watch, trigger, server) {
  connectComponent(element, props, watch, { take: (status) => showStatus(element, status) });
  connectNavigation(element);
  followForm();
  followAddress();
  if (server.get_status) poll(element, server.get_status, () => trigger("select"));
  else noModels(element);
  element.addEventListener("click", (event) => {
    const target = /** @type {Element} */ (event.target);
    /** @type {HTMLElement} */
    const button = target.closest("[data-act]");
    if (!button) return;
    if (button.dataset.act === "models") openModels(trigger);
    else ACTS[button.dataset.act]?.();
  });
}

// Opens the drawer with the models for the first time: Gradio builds it then. Later presses open
// and close it without a script, see ui/models/web/drawer.js.
function openModels(trigger) {
  if (!document.getElementById(DRAWER)) trigger("models");
}

// Leaves the button's words in the chip: visitors of a public page cannot load models.
function noModels(element) {
  const button = element.querySelector("[data-act=models]");
  button.replaceWith(...button.childNodes);
}

/** @type {Record<string, () => void>} */
const ACTS = {
  panel: toggleForm,
  theme: () => document.body.classList.toggle("dark"),
  skip: focusView,
};

// Moves the focus to the view of the open tab.
function focusView() {
  /** @type {NodeListOf<HTMLElement>} */
  const stages = document.querySelectorAll(".sq-stage");
  const view = [...stages].find((one) => one.offsetParent);
  if (!view) return;
  view.tabIndex = -1;
  view.focus();
}

/** @type {(element: HTMLElement, status: LoadStatus) => void} */
function showStatus(element, { stage, words, models }) {
  if (!stage) return; // the message could not be read: keep the old status
  publishModels(models);
  /** @type {HTMLElement} */
  const box = element.querySelector(".pg-status");
  box.dataset.stage = stage;
  box.title = words;
  // On a narrow page, only the name of the pair is shown.
  const [name, ...sizes] = stage === "ready" ? words.split(" · ") : [words];
  box.querySelector("span").textContent = name;
  box.querySelector("small").textContent = sizes.map((one) => " · " + one).join("");
}

// Asks for the status regularly while the page is visible, because another visitor may load other
// models. Calls `changed` when other models are ready.
function poll(element, status, changed) {
  let version = null;
  let asking = false;
  const look = async () => {
    if (document.hidden || asking) return;
    asking = true;
    try {
      /** @type {LoadStatus} */
      const now = JSON.parse(await status(null));
      showStatus(element, now);
      if (now.stage !== "ready") return;
      if (version !== null && version !== now.version) changed();
      version = now.version;
    } catch {
      // the server cannot be reached: keep the old status
    } finally {
      asking = false;
    }
  };
  setInterval(look, POLL_MS);
  look();
}
