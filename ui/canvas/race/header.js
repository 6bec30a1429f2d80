/* The header: what races, where the numbers come from, how far the race is; and what went wrong. */
(function (S) {
  "use strict";

  const { el, text, show } = S.dom;
  const { known, seconds } = S.num;
  const R = (S.race = S.race || {});
  const STATES = { none: "", running: "running", stopped: "stopped", broken: "broken off", finished: "finished" };

  R.Header = class {
    constructor(store, host) {
      this.store = store;
      const root = (this.root = el("header", { class: "sq-head", "data-part": "head" }, host));
      const about = el("div", { class: "sq-about" }, root);
      this.badge = el("span", { class: "sq-badge", "data-part": "badge" }, about);
      this.state = el("span", { class: "race-state", "data-part": "state" }, about);
      this.models = el("span", { class: "sq-models" }, about);
      this.chips = el("span", { class: "sq-chips" }, about);
      const line = el("div", { class: "race-line" }, root);
      this.prompt = el("p", { class: "sq-asked race-prompt", "data-part": "prompt" }, line);
      this.whose = el("span", { class: "sq-asked-whose" }, this.prompt);
      this.wording = el("span", { class: "sq-asked-text" }, this.prompt);
      const key = el("span", { class: "sq-key" }, line);
      el("span", { class: "sq-tok sq-tok-draft", text: "from the draft" }, key);
      el("span", { class: "sq-tok sq-tok-own", text: "the target’s own" }, key);
      this.error = el("p", { class: "sq-banner sq-banner-error", role: "alert", hidden: "", "data-part": "error" }, root);
      this.notice = el("p", { class: "sq-banner", role: "status", hidden: "", "data-part": "notice" }, root);
      this.gap = el("p", { class: "sq-banner", role: "status", hidden: "", "data-part": "gap" }, root);
      this.spoken = el("p", { class: "sq-spoken", "aria-live": "polite" }, root);
    }

    paint() {
      const { store } = this, { gap, state } = store;
      if (this.meta !== store.meta || this.version !== store.version) this.paintMeta();
      S.words.paintBadge(this.badge, store.race ? store.meta : null, store.done, "race");
      text(this.state, [STATES[state], store.end ? seconds(store.end) : ""].filter(Boolean).join(" · "));
      this.state.dataset.state = state;
      for (const name of ["error", "notice"]) {
        text(this[name], store[name] ? S.readable(store[name]) : "");
        show(this[name], Boolean(store[name]));
      }
      text(this.gap, gap ? `Moves ${gap.a + 1} to ${gap.b} did not arrive; the figures leave them out.` : "");
      show(this.gap, Boolean(gap));
      text(this.spoken, store.done && store.end ? "Race " + STATES[state] + ". " + order(store) : "");
    }

    paintMeta() {
      const { store } = this, { meta } = store;
      this.version = store.version;
      this.meta = meta;
      this.models.replaceChildren();
      for (const role of ["target", "draft"]) if (meta[role]) this.model(role, meta[role]);
      this.chips.replaceChildren(...R.facts(meta).map(([name, value]) => {
        const chip = el("span", { class: "sq-chip" });
        if (name) S.term(el("span", { class: "sq-chip-name" }, chip), name).after(" ");
        chip.append(S.readable(value));
        return chip;
      }));
      const prompt = String(meta.prompt || "");
      show(this.prompt, Boolean(prompt));
      text(this.whose, meta.chat ? "prompt, as a chat message" : "prompt");
      text(this.wording, S.readable(prompt.slice(0, 400)));
      S.dom.attr(this.prompt, "title", S.readable(prompt.slice(0, 2000)).replaceAll("⏎", "\n"));
    }

    model(role, name) {
      const box = el("span", { class: "sq-model" }, this.models);
      el("span", { class: "sq-model-role", text: role }, box);
      el("span", { class: "sq-model-name", text: S.readable(name) }, box);
    }
  };

  /** The settings of a race as short facts: [name, value]. */
  R.facts = function ({ title, device, dtype, policy, date }) {
    const { temperature, top_p: topP, max_new_tokens: most, seed, ignore_eos: ignore } = policy || {};
    return [
      ["", title], ["on", device], ["", dtype], ["temperature", known(temperature) ? String(temperature) : ""], ["top-p", topP < 1 ? String(topP) : ""],
      ["", known(most) ? most + " tokens" : ""], ["seed", known(seed) ? String(seed) : ""], ["", ignore ? "end of text ignored" : ""], ["", String(date || "").slice(0, 10)],
    ].filter(([, value]) => value);
  };

  /** The order of arrival, for those who cannot see it. */
  function order({ lanes, folds, end }) {
    const places = R.places(folds, end, true);
    return lanes.map((lane, i) => [places[i], R.name(lane, i)]).filter(([place]) => place).sort(([a], [b]) => a.place - b.place)
      .map(([place, name]) => R.placed(place) + " " + name).join(", ");
  }
})((window.Sequoia = window.Sequoia || {}));
