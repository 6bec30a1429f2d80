/* Closes Gradio's pop-up messages at the next press or key: they are about the last action. */

const IGNORED = ["Tab", "Shift", "Control", "Alt", "Meta"]; // keys that are no action of their own
const CLOSE = ".toast-wrap [data-testid=toast-close]";

function closeToasts(event) {
  if (!event.isTrusted) return; // ignore the key that menus.js sends to close a menu
  if (IGNORED.includes(event.key) || event.target.closest?.(".toast-wrap")) return;
  for (const close of document.querySelectorAll(CLOSE))
    /** @type {HTMLElement} */ (close).click();
}

for (const name of ["pointerdown", "keydown"]) document.addEventListener(name, closeToasts, true);
