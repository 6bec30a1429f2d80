/* The figures of the tree on show: what is expected of it, what is predicted on this machine, and what one node more is worth. */
(function (S) {
  "use strict";

  const P = S.planner;
  const { el, text, attr, show, button } = S.dom;
  const lab = (S.lab = S.lab || {});
  const FORMS = [
    ["json", "Tree, project JSON"],
    ["nodelink", "networkx node-link JSON"],
    ["paths", "Medusa path list"],
    ["branching", "SpecInfer branching list"],
    ["csv", "Nodes as CSV"],
    ["svg", "Picture, SVG"],
    ["png", "Picture, PNG"],
  ];

  lab.Numbers = class {
    constructor(host, state, link) {
      this.state = state;
      this.link = link;
      const panel = (this.panel = S.panel(host, {
        part: "numbers",
        title: "This tree",
        cls: "sq-lab-numbers",
      }));
      this.word = el("span", { class: "sq-word" }, panel.titleBox);
      this.whatif = new lab.WhatIf(panel.body, state, () => {
        this.settle();
        if (state.shown === "best") this.useBest(); // another tree is what the other machine is asked about
      });
      const tiles = el("div", { class: "sq-lab-tiles" }, panel.body);
      this.tiles = Object.fromEntries(
        [
          ["tokens", "Tokens a step", "expected", "expected"],
          ["speedup", "Speed-up", "predicted", "predicted here"],
          ["seconds", "Time of a step", "predicted", "predicted here"],
          ["levels", "", "Levels", "levels"],
        ].map(([name, label, word, term]) => [name, this.tile(tiles, name, label, word, term)]),
      );
      this.passes = el("p", { class: "sq-lab-says", hidden: "" }, panel.body);
      S.term(this.passes, "Rows in each draft pass", "draft pass");
      this.rows = el("span", {}, this.passes);
      this.margin = el("p", { class: "sq-lab-says", "data-part": "margin" }, panel.body);
      this.buttons(panel.body);
      this.plan = el("p", { class: "sq-lab-says sq-lab-plan", "data-part": "plan" }, panel.body);
      this.planText = el("span", {}, this.plan);
      this.use = button(this.plan, {
        text: "Use it",
        hint: S.tooltips["button use the fastest tree"],
      });
      this.use.addEventListener("click", () => this.useBest());
    }

    /** Put the fastest tree on show: its budget and its level cap. */
    useBest() {
      if (this.planned)
        this.state.set({
          n: this.planned.parents.length,
          levels: Math.max(2, this.planned.levels),
          shown: "best",
        });
    }

    tile(host, name, label, word, term) {
      const tile = el("div", { class: "sq-lab-tile", "data-part": "tile-" + name }, host);
      const head = el("div", { class: "sq-tile-label", text: label && label + " " }, tile);
      S.term(label ? el("span", { class: "sq-word" }, head) : head, word, term);
      const line = el("div", { class: "sq-tile-line" }, tile);
      return {
        tile,
        value: el("span", { class: "sq-tile-value" }, line),
        unit: el("span", { class: "sq-tile-unit" }, line),
        note: el("div", { class: "sq-tile-note" }, tile),
      };
    }

    buttons(host) {
      const line = el("div", { class: "sq-lab-line sq-lab-actions" }, host);
      this.run = button(line, {
        text: "Run this tree",
        cls: "sq-lab-run",
        hint: S.tooltips["button run this tree"],
      });
      attr(this.run, "data-part", "run");
      this.run.addEventListener("click", () => this.link.run(P.canonical(this.state.parents)));
      this.forms = el(
        "select",
        { class: "sq-input", "aria-label": "Save the tree as", "data-part": "export" },
        line,
      );
      el("option", { value: "", text: "Save as…" }, this.forms);
      for (const [value, label] of FORMS)
        this["form_" + value] = el("option", { value, text: label }, this.forms);
      this.forms.addEventListener("change", () => {
        this.save(this.forms.value);
        this.forms.value = "";
      });
      this.refused = el("p", { class: "sq-lab-problem", role: "alert", hidden: "" }, host);
    }

    save(form) {
      const { state } = this,
        { parents } = state,
        E = lab.exporting,
        name = `tree-${parents.length}`;
      const made = {
        json: () => E.save(name + ".json", E.treeJson(parents)),
        nodelink: () => E.save(name + "-networkx.json", E.nodeLink(parents)),
        paths: () => E.save(name + "-paths.json", E.paths(parents)),
        branching: () => E.save(name + "-branching.json", JSON.stringify(E.branchingOf(parents))),
        csv: () => E.save(name + ".csv", E.nodesCsv(parents, state.even), "text/csv"),
        svg: () => E.save(name + ".svg", this.picture(), "image/svg+xml"),
        png: () => {
          const source = this.picture(),
            [, width, height] = /width="([\d.]+)" height="([\d.]+)"/.exec(source);
          S.pictures.raster(source, Number(width), Number(height), name);
        },
      };
      made[form]?.();
    }

    /** The tree on show as SVG, in colours that print. */
    picture() {
      const { state } = this,
        { parents } = state,
        tokens = P.expectedTokens(parents, state.even).toFixed(3);
      return lab.exporting.treeSvg(
        parents,
        state.even,
        `${lab.shapes.label(state.shown, state.n, state)}, ${parents.length} nodes, ${tokens} tokens a step expected`,
      );
    }

    say(words) {
      text(this.refused, words);
      show(this.refused, Boolean(words));
    }

    paint() {
      const { state } = this,
        key = String(state.version);
      if (this.known === key) return;
      this.known = key;
      this.whatif.paint();
      const { parents, profile } = state,
        tokens = P.expectedTokens(parents, state.even);
      const told = profile ? P.predict(parents, state.even, profile) : null,
        depths = P.depthsOf(parents);
      const levels = depths.reduce((most, depth) => Math.max(most, depth), 0) + 1,
        widths = P.widths(parents);
      text(
        this.word,
        lab.shapes.label(state.shown, state.n, state) + ", " + S.num.count(parents.length, "node"),
      );
      this.put("tokens", tokens.toFixed(3), "", `of ${levels} at most`);
      this.put(
        "speedup",
        told ? told.speedup.toFixed(2) : "–",
        told ? "×" : "",
        told ? "against plain decoding" : "this machine is not timed yet",
      );
      this.put(
        "seconds",
        told ? S.num.ms(told.seconds).split(" ")[0] : "–",
        told ? S.num.ms(told.seconds).split(" ")[1] : "",
        told ? `plain ${S.num.ms(P.plainSeconds(profile))} a token` : "",
      );
      this.put(
        "levels",
        String(levels),
        "",
        S.num.count(widths.length, "draft pass", "draft passes"),
      );
      attr(
        this.tiles.speedup.tile,
        "data-verdict",
        told ? (told.speedup > 1 ? "faster" : told.speedup < 1 ? "slower" : "") : "",
      );
      const list = widths.length > 14 ? [...widths.slice(0, 11), "…", ...widths.slice(-2)] : widths;
      show(this.passes, widths.length > 0);
      text(this.rows, ": " + list.join(", ") + ".");
      this.marginal();
      this.runnable(parents);
      this.branch(parents);
    }

    put(name, value, unit, note) {
      const tile = this.tiles[name];
      text(tile.value, value);
      text(tile.unit, unit);
      text(tile.note, note);
    }

    /** The last node's gain against its cost, both as shares, which is what decides whether it pays. */
    marginal() {
      const { state } = this,
        n = state.n,
        growth = state.growth;
      show(this.margin, state.shown === "best" && n > 1);
      if (state.shown !== "best" || n < 2) return;
      const gain = growth.gains[n - 1],
        share = gain / growth.totals[n - 2];
      if (!state.profile)
        return text(
          this.margin,
          `Node ${n} adds ${lab.share(gain)} tokens a step (${percent(share)}).`,
        );
      const times = state.times,
        cost = times[n - 1] - times[n - 2],
        price = cost / times[n - 2];
      text(
        this.margin,
        `Node ${n} adds ${lab.share(gain)} tokens a step (+${percent(share)}) and costs ${S.num.ms(cost)} (+${percent(price)}): ` +
          (share > price ? "it pays for itself." : "by itself it does not pay."),
      );
    }

    runnable(parents) {
      const fits = parents.length <= this.state.most;
      this.run.disabled = !fits;
      attr(
        this.run,
        "title",
        fits
          ? S.tooltips["button run this tree"]
          : `A tree of ${parents.length} nodes; here at most ${this.state.most} may run`,
      );
    }

    branch(parents) {
      const list = lab.exporting.branchingOf(parents);
      this.form_branching.disabled = list === null;
      text(
        this.form_branching,
        list === null ? "SpecInfer branching list (not of that form)" : "SpecInfer branching list",
      );
    }

    /** The best for this machine; worked out when the hand is still, as it looks at every size and cap. */
    settle() {
      const { state } = this;
      show(this.use, Boolean(state.profile));
      if (!state.profile)
        return text(
          this.planText,
          "The best tree for this machine is known once the models are loaded and timed.",
        );
      const key = state.even.join() + state.most;
      if (this.settled !== key || this.timed !== state.profile) {
        this.settled = key;
        this.timed = state.profile;
        const most = Math.min(P.nodesFor(state.profile), state.most),
          plan = P.bestPlan(state.even, state.profile, most);
        this.planned = { ...plan, most, levels: P.widths(plan.parents).length + 1 };
      }
      const { parents, levels, speedup, most } = this.planned,
        full = most > 1 && parents.length === most ? `, the most nodes looked at` : "";
      const where = `Fastest ${state.elsewhere ? "there" : "here"} with these rates`,
        times = state.elsewhere
          ? `${state.profile.source}: ${state.elsewhere}`
          : `${state.profile.source} on ${state.profile.device}`;
      text(
        this.planText,
        `${where}: ${S.num.count(parents.length, "node")} in ${S.num.count(levels, "level")}${full}, ${speedup.toFixed(2)}× predicted (times ${times}). `,
      );
    }
  };

  const percent = (share) =>
    (share >= 0.0995 ? (share * 100).toFixed(0) : Number((share * 100).toPrecision(2))) + " %";
})((window.Sequoia = window.Sequoia || {}));
