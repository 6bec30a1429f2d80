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

  P.stage = function (element, props, watch, trigger, server) {
    const stage = window.Sequoia.mount(element.querySelector(".sq-stage"), { trigger, server });
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
