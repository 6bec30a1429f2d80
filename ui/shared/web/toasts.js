/* Gradio's pop-up messages are about the last action: the next action closes them. */

const MODIFIERS = ["Tab", "Shift", "Control", "Alt", "Meta"]; // keys that do nothing by themselves
const CLOSE = ".toast-wrap [data-testid=toast-close]";

function closeToasts(event) {
  if (!event.isTrusted) return; // menus.js closes menus with a key of its own
  if (MODIFIERS.includes(event.key) || event.target.closest?.(".toast-wrap")) return;
  for (const close of document.querySelectorAll(CLOSE))
    /** @type {HTMLElement} */ (close).click();
}

for (const name of ["pointerdown", "keydown"]) document.addEventListener(name, closeToasts, true);
