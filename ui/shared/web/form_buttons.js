/* The buttons of a form that start and stop a job. Gradio draws them. */
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/** @type {Record<string, string>} */
const HINTS = {
  "pg-run": "button run",
  "pg-step": "button step",
  "pg-stop": "button stop",
};

/**
 * What a view can do with the form beside it.
 * @typedef {object} FormBeside
 * @property {() => string | undefined} [prompt] returns the text of the prompt field
 * @property {() => boolean} [run] presses Run; false if that button cannot be pressed
 * @property {() => boolean} [stop] presses Stop; false if nothing can be stopped
 */

/**
 * @param {string} form the prefix of the ids of the form's elements, such as "pg"
 * @returns {FormBeside}
 */
export const formBeside = (form) => ({
  prompt: () =>
    /** @type {HTMLTextAreaElement} */ (document.querySelector(`#${form}-prompt textarea`))?.value,
  run: () => press(form + "-run"),
  stop: () => (canStop(form) ? press(form + "-stop") : false),
});

/**
 * @param {string} form the prefix of the ids of the form's elements, such as "pg"
 * @returns {boolean} whether the form's Stop button can be pressed; false while it says "Start
 *   over"
 */
export function canStop(form) {
  const stop = /** @type {HTMLButtonElement} */ (document.getElementById(form + "-stop"));
  return Boolean(stop) && !stop.disabled && stop.textContent.trim() === "Stop";
}

function press(id) {
  const button = /** @type {HTMLButtonElement} */ (document.getElementById(id));
  if (!button || button.disabled) return false;
  button.click();
  return true;
}

// Sets a button's tooltip whenever the pointer or the focus enters the button: Gradio sometimes
// rebuilds buttons, and then their tooltips are lost.
function setHint(event) {
  const button = event.target.closest?.(".pg-go button");
  const key = button?.textContent.trim() === "Start over" ? "button start over" : HINTS[button?.id];
  if (key) button.title = TOOLTIPS[key];
}

for (const name of ["pointerover", "focusin"]) document.addEventListener(name, setHint);
