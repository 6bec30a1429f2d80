/* The page around the stage: mounts it, keeps the address up to date, and runs the header. Knows nothing of steps. */
(function (P) {
  "use strict";

  /** A measured run has its name in the address, so that a reload shows it again. */
  function remember(text) {
    let message;
    try {
      message = JSON.parse(text);
    } catch {
      return;
    }
    if (!message || !message.run || !message.meta) return;
    const url = new URL(window.location.href);
    if (message.meta.label === "measured") url.searchParams.set("run", message.run);
    else url.searchParams.delete("run");
    if (url.href !== window.location.href) history.replaceState(null, "", url);
  }

  /** Presses a button of the form; false where it cannot be pressed now. */
  function press(id) {
    const button = document.getElementById(id);
    if (!button || button.disabled) return false;
    button.click();
    return true;
  }

  /** What the stage may ask of the page around it. */
  const page = {
    prompt: () => document.querySelector("#pg-prompt textarea")?.value,
    run: () => press("pg-run"),
    stop: () => press("pg-stop"),
  };

  const HINTS = { "pg-run": "Decode to the end (Ctrl + Enter)", "pg-step": "One step of decoding", "pg-stop": "Stop after the present step (Esc)" };

  /** The form's buttons say their keys; they come and go with the framework, so each is told when the pointer or the focus comes. */
  function hint(event) {
    const button = event.target.closest?.("#pg-go button");
    if (button && HINTS[button.id] && !button.title) button.title = HINTS[button.id];
  }
  for (const name of ["pointerover", "focusin"]) document.addEventListener(name, hint);

  /** Something in the form was changed. */
  P.changed = () => P.view?.store.changed();

  P.stage = function (element, props, watch, trigger, server) {
    const stage = window.Sequoia.mount(element.querySelector(".sq-stage"), { trigger, server, page });
    let last = null;
    const take = () => {
      if (!props.value || props.value === last) return;
      last = props.value;
      stage.ingest(last);
      remember(last);
    };
    P.view = stage;
    take();
    watch("value", take);
  };

  function say(element, text) {
    let status;
    try {
      status = JSON.parse(text);
    } catch {
      return;
    }
    const box = element.querySelector(".pg-status");
    box.dataset.stage = status.stage;
    box.title = status.words;
    box.querySelector("span").textContent = status.words;
  }

  function togglePanel(button) {
    const open = document.body.classList.toggle("pg-wide") === false;
    button.setAttribute("aria-expanded", String(open));
    window.dispatchEvent(new Event("resize"));
  }

  P.header = function (element, props, watch) {
    const show = () => props.value && say(element, props.value);
    show();
    watch("value", show);
    element.addEventListener("click", (event) => {
      const button = event.target.closest("[data-act]");
      if (!button) return;
      if (button.dataset.act === "panel") togglePanel(button);
      else document.body.classList.toggle("dark");
    });
  };
})((window.SequoiaPage = window.SequoiaPage || {}));
