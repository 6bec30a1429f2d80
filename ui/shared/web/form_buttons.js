/* The Run and Stop buttons of a view's form, which Gradio draws. */
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/** @type {Record<string, string>} */
const HINTS = {
  "pg-run": "button run",
  "pg-step": "button step",
  "pg-stop": "button stop",
  "rc-run": "button race",
  "rc-stop": "button stop",
};

/**
 * What a view may do with the form beside it.
 * @typedef {object} FormBeside
 * @property {() => string | undefined} [prompt] its text
 * @property {() => boolean} [run] presses Run; false where it cannot be pressed
 * @property {() => boolean} [stop] presses Stop; false where nothing can be stopped
 * @property {() => void} [follow] asks for the run of another visitor that is on
 * @property {() => boolean} [isBusy] whether something can be stopped
 */

/**
 * @param {string} form how the ids of the form's elements begin
 * @returns {FormBeside}
 */
export const formBeside = (form) => ({
  prompt: () =>
    /** @type {HTMLTextAreaElement} */ (document.querySelector(`#${form}-prompt textarea`))?.value,
  run: () => press(form + "-run"),
  stop: () => (canStop(form) ? press(form + "-stop") : false),
  isBusy: () => canStop(form),
});

/**
 * @param {string} form how the ids of the form's elements begin
 * @returns {boolean} whether its Stop can be pressed, as while a job is going
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

// Gradio sometimes rebuilds the buttons, so a tooltip is set when its button is pointed at.
function setHint(event) {
  const button = event.target.closest?.(".pg-go button");
  const key = button?.textContent.trim() === "Start over" ? "button start over" : HINTS[button?.id];
  if (key) button.title = TOOLTIPS[key];
}

for (const name of ["pointerover", "focusin"]) document.addEventListener(name, setHint);
