/* The strip at the top of the page: whether models are loaded, the form's fold, dark and light. */
import "./toasts.js";

const POLL_MS = 2000;

/** Called from the component's js_on_load with what Gradio gives it. */
export function connect(element, props, watch, trigger, server) {
  const show = () => props.value && showStatus(element, props.value);
  show();
  watch("value", show);
  if (server.get_status)
    poll(
      server.get_status,
      (text) => showStatus(element, text),
      () => trigger("select"),
    );
  element.addEventListener("click", (event) => {
    const button = event.target.closest("[data-act]");
    if (!button) return;
    if (button.dataset.act === "panel") toggleForms(button);
    else document.body.classList.toggle("dark");
  });
}

function showStatus(element, text) {
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

function toggleForms(button) {
  const open = document.body.classList.toggle("pg-wide") === false;
  button.setAttribute("aria-expanded", String(open));
  window.dispatchEvent(new Event("resize"));
}

/** Ask every two seconds where loading stands: another visitor may load other models. */
function poll(status, show, changed) {
  let version = null;
  let asking = false;
  const look = async () => {
    if (document.hidden || asking) return;
    asking = true;
    try {
      const text = await status(null);
      const now = JSON.parse(text);
      show(text);
      if (now.stage !== "ready") return;
      if (version !== null && version !== now.version) changed();
      version = now.version;
    } catch {
      // the server is away; what is shown stays
    } finally {
      asking = false;
    }
  };
  setInterval(look, POLL_MS);
  look();
}
