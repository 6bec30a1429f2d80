/* Gradio's pop-up messages are about the last action: the next action closes them. */

const MODIFIERS = ["Tab", "Shift", "Control", "Alt", "Meta"]; // keys that do nothing by themselves

function closeToasts(event) {
  if (MODIFIERS.includes(event.key) || event.target.closest?.(".toast-wrap")) return;
  for (const close of document.querySelectorAll(".toast-wrap [data-testid=toast-close]"))
    close.click();
}

for (const name of ["pointerdown", "keydown"]) document.addEventListener(name, closeToasts, true);
