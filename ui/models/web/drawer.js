/* The drawer over the page that the header's chip opens. */
import { button, el } from "../../shared/web/dom.js";

/**
 * Make a drawer of what Gradio has just built, and open it. From then on the browser opens it when
 * the chip is pressed, and closes it after Escape or a press beside it. Meanwhile, nothing else has
 * the focus.
 * @param {HTMLElement} stage an element in the drawer
 */
export function openDrawer(stage) {
  /** @type {HTMLElement} */
  const drawer = stage.closest("#pg-models");
  const attributes = { popover: "auto", role: "dialog", "aria-label": "Models", tabindex: "-1" };
  for (const [name, value] of Object.entries(attributes)) drawer.setAttribute(name, value);
  drawer.autofocus = true; // opening moves the focus here, so closing moves it back
  /** @type {HTMLButtonElement} */
  const chip = document.querySelector("[data-act=models]");
  chip.popoverTargetElement = drawer;
  drawer.addEventListener("beforetoggle", ({ newState }) => {
    for (const one of /** @type {any} */ (drawer.parentElement.children))
      one.inert = newState === "open" && one !== drawer;
  });
  // The focus is lost when Gradio disables the button that has it.
  drawer.addEventListener("toggle", () => {
    if (document.activeElement === document.body) chip.focus();
  });
  makeHead(drawer);
  drawer.showPopover();
}

function makeHead(drawer) {
  const head = el("div", { class: "sq-stage md-head sq-ends" });
  el("h2", { text: "Models" }, head);
  const act = () => drawer.hidePopover();
  button(head, { icon: "close", label: "Close", cls: "sq-mini-btn", act });
  drawer.prepend(head);
}
