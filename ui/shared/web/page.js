/* The page around the stages: mounts them, keeps the address up to date, and runs the header. Knows nothing of steps. */
(function (P) {
  "use strict";

  const LOOK_MS = 2000,
    COME_MS = 2000;

  /** The message in `text`, null where it is none. */
  function read(text) {
    try {
      return JSON.parse(text);
    } catch {
      return null;
    }
  }

  /** A measured run, or race, has its name in the address under its `kind`, so that a reload shows it again. */
  function remember(message, kind) {
    if (!message[kind] || !message.meta) return;
    const url = new URL(window.location.href);
    if (message.meta.label === "measured") url.searchParams.set(kind, message[kind]);
    else url.searchParams.delete(kind);
    if (url.href !== window.location.href) history.replaceState(null, "", url);
  }

  /** Presses a button of the form; false where it cannot be pressed now. */
  function press(id) {
    const button = document.getElementById(id);
    if (!button || button.disabled) return false;
    button.click();
    return true;
  }

  /** What a stage may ask of the form beside it, whose elements' names begin with `form`. */
  const page = (form) => ({
    prompt: () => document.querySelector(`#${form}-prompt textarea`)?.value,
    run: () => press(form + "-run"),
    stop: () =>
      document.getElementById(form + "-stop")?.textContent.trim() === "Stop"
        ? press(form + "-stop")
        : false,
  });

  const HINTS = {
    "pg-run": "button run",
    "pg-step": "button step",
    "pg-stop": "button stop",
    "rc-run": "button race",
    "rc-stop": "button stop",
  };

  /** The forms' buttons say their keys; they come and go with the framework, so each is told when the pointer or the focus comes. */
  function hint(event) {
    const button = event.target.closest?.(".pg-go button");
    const key =
      button?.textContent.trim() === "Start over" ? "button start over" : HINTS[button?.id];
    if (key) button.title = window.Sequoia.tooltips[key];
  }
  for (const name of ["pointerover", "focusin"]) document.addEventListener(name, hint);

  const ASIDE = ["Tab", "Shift", "Control", "Alt", "Meta"]; // keys that do nothing by themselves

  /** A pop-up message is about the last action: the next one puts it away. */
  function putAway(event) {
    if (ASIDE.includes(event.key) || event.target.closest?.(".toast-wrap")) return;
    for (const close of document.querySelectorAll(".toast-wrap [data-testid=toast-close]"))
      close.click();
  }
  for (const name of ["pointerdown", "keydown"]) document.addEventListener(name, putAway, true);

  let other = false; // the form was changed since its run last began or went on
  let before = false; // what that was until the last press of Run or Step

  P.begins = () => {
    before = other;
    other = false;
    return [];
  };

  /** The press was refused: the run that the form was changed from is still the last one. */
  const refused = () => (other = other || before);

  P.other = () => other;

  /** Something in the form was changed: what runs or is paused is no longer the form's run. */
  P.changed = () => {
    P.view?.store.changed();
    return (other = true);
  };

  const had = {}; // by menu: the option that it had when it got the focus, or that was chosen since

  P.opened = (menu, option) => {
    had[menu] = option;
    return [];
  };

  /** `option` where another one than `menu` had was chosen, else null. */
  P.chosen = (menu, option) => {
    if (had[menu] === option) return null;
    return (had[menu] = option);
  };

  /** Hand every new value of a component to its stage. A tab opened as the page loads may be made too late for its first value,
      which it then asks for. */
  function follow(stage, kind, props, watch, come) {
    let last = null;
    const take = () => {
      if (!props.value || props.value === last) return;
      last = props.value;
      stage.ingest(last);
      const message = read(last);
      if (!message) return;
      remember(message, kind);
      if (message.error && kind === "run") refused();
    };
    take();
    watch("value", take);
    setTimeout(() => props.value || come(), COME_MS);
  }

  P.stage = function (element, props, watch, trigger, server) {
    const take = (meta) => trigger("take", meta);
    P.view = window.Sequoia.mount(element.querySelector(".sq-stage"), {
      server,
      page: { ...page("pg"), take },
    });
    follow(P.view, "run", props, watch, () => trigger("come"));
  };

  P.race = function (element, props, watch, trigger, server, plotly) {
    P.raceView = window.Sequoia.race.mount(element, { trigger, server, plotly, page: page("rc") });
    follow(P.raceView, "race", props, watch, () => trigger("come"));
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

  /** Ask now and then where loading stands, as others may load other models; `changed` hears of each pair that is new. */
  function listen(status, show, changed) {
    let version = null,
      asking = false;
    const look = async () => {
      if (document.hidden || asking) return;
      asking = true;
      try {
        const said = await status(null);
        const now = JSON.parse(said);
        show(said);
        if (now.stage !== "ready") return;
        if (version !== null && version !== now.version) changed();
        version = now.version;
      } catch {
        // the server is away; what is shown stays
      } finally {
        asking = false;
      }
    };
    setInterval(look, LOOK_MS);
    look();
  }

  P.header = function (element, props, watch, changed, status) {
    const show = () => props.value && say(element, props.value);
    show();
    watch("value", show);
    if (status) listen(status, (said) => say(element, said), changed);
    element.addEventListener("click", (event) => {
      const button = event.target.closest("[data-act]");
      if (!button) return;
      if (button.dataset.act === "panel") togglePanel(button);
      else document.body.classList.toggle("dark");
    });
  };
})((window.SequoiaPage = window.SequoiaPage || {}));
