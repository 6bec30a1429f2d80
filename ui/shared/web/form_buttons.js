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
 * What a view may ask of the form beside it. `form` is how the form's element ids begin.
 * @param {string} form
 */
export const formBeside = (form) => ({
  prompt: () => document.querySelector(`#${form}-prompt textarea`)?.value,
  run: () => press(form + "-run"),
  stop: () => {
    const isStop = document.getElementById(form + "-stop")?.textContent.trim() === "Stop";
    return isStop ? press(form + "-stop") : false;
  },
});

/** Press a button; false where it is missing or disabled. */
function press(id) {
  const button = document.getElementById(id);
  if (!button || button.disabled) return false;
  button.click();
  return true;
}

/** Gradio makes the buttons anew now and then, so their tooltips are set when they are pointed at. */
function setHint(event) {
  const button = event.target.closest?.(".pg-go button");
  const key = button?.textContent.trim() === "Start over" ? "button start over" : HINTS[button?.id];
  if (key) button.title = TOOLTIPS[key];
}

for (const name of ["pointerover", "focusin"]) document.addEventListener(name, setHint);
