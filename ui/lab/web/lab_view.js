/* The tree lab: builds its panels around one state, and is all that the page outside has to know. */
(function (S) {
  "use strict";

  const { el } = S.dom;
  const lab = (S.lab = S.lab || {});
  const STILL = 140; // ms without a change before figures are drawn anew

  class Lab {
    constructor(element, { trigger, plotly } = {}) {
      this.root = element;
      this.root.replaceChildren();
      this.address = plotly || "";
      const link = {
        trigger: trigger || (() => {}),
        run: (parents) => this.send(parents),
        count: (count) => this.counts.add(count),
      };
      this.trigger = link.trigger;
      const state = (this.state = new lab.State()),
        grid = el("div", { class: "sq-lab-grid" }, element);
      const [left, middle, right] = ["left", "middle", "right"].map((name) =>
        el("div", { class: "sq-lab-" + name }, grid),
      );
      this.editor = new lab.Editor(left, state, link);
      this.tree = new lab.Tree(middle, state);
      this.numbers = new lab.Numbers(right, state, link);
      this.margins = new lab.Margins(right, state);
      const below = el("div", { class: "sq-lab-below" }, element);
      this.table = new lab.Table(below, state);
      this.curves = new lab.Curves(below, state);
      new lab.Check(left);
      this.counts = new lab.Counts(element, (rates, origin) => this.editor.take(rates, origin));
      this.further = (lab.panels || []).map((Panel) => new Panel(element, state));
      state.watch(() => this.paint());
      this.size = S.dom.sized(element, () => this.seen());
      new MutationObserver(() => this.later()).observe(document.body, {
        attributes: true,
        attributeFilter: ["class"],
      });
      this.editor.choose("paper");
    }

    seen() {
      const comes = this.size.w > 0 && !this.open;
      this.open = this.size.w > 0;
      if (!this.open) return;
      if (comes) this.trigger("select", {}); // what other tabs have changed meanwhile is asked for each time
      this.state.changed();
    }

    paint() {
      if (!this.size.w) return; // in a tab that is not open
      for (const part of [this.editor, this.tree, this.numbers, this.table, ...this.further])
        part.paint();
      this.later();
    }

    /** Figures and the machine's best tree wait until the hand is still. */
    later() {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.settle(), STILL);
    }

    async settle() {
      if (!this.size.w) return;
      this.numbers.settle();
      if (!this.address) return; // a page without the figures' library
      try {
        const Plotly = await S.plotly(this.address);
        await Promise.all([this.curves.paint(Plotly), this.margins.paint(Plotly)]);
      } catch (problem) {
        for (const figure of [this.curves, this.margins]) figure.failed(problem);
      }
    }

    send(parents) {
      this.numbers.say("");
      this.trigger("decode", { parents });
    }

    /** Whether the vector on screen is one of other models than are in use now. */
    others({ measurable, pair }, mine) {
      if (!measurable || pair === this.pair) return false;
      const first = this.pair === undefined;
      this.pair = pair;
      return !first || mine.length > 0;
    }

    /** From the server: {survey?, own?, pair?, profile?, profiles?, ways?, prompts?, most?, temperature?, count?, refused?}; what is missing stays as it is. */
    ingest(message) {
      const data = typeof message === "string" ? JSON.parse(message) : message;
      if (data.survey) {
        const mine = lab.vectors.own(data.own),
          known = lab.vectors.recorded(data.survey);
        const usual = mine[0] || known.find((one) => one.temperature === (data.temperature ?? 0.6));
        this.editor.add([...mine, ...known]);
        const others = this.others(data, mine);
        if ((!this.touched || others) && usual) this.editor.choose(usual.key);
        this.touched = true;
      }
      this.editor.counting.offer(data.ways, data.prompts);
      if (data.measurable) S.dom.show(this.editor.counting.root, true);
      if (data.profile !== undefined || data.profiles)
        this.numbers.whatif.take(data.profile, data.profiles);
      if (data.most) this.state.set({ most: data.most });
      if (data.count) this.editor.counting.take(data.count);
      if (data.refused) this.numbers.say(data.refused);
    }
  }

  /** Join the lab to its component on the page. `asks` are the component's events by name. */
  lab.start = function (element, props, watch, asks, plotly) {
    const made = lab.mount(element.querySelector(".sq-lab"), {
      trigger: (name, data) => asks[name]?.(data),
      plotly,
    });
    let last = null;
    const take = () => {
      if (!props.value || props.value === last) return;
      last = props.value;
      made.ingest(last);
    };
    lab.made = made;
    take();
    watch("value", take);
  };

  /** Show the live view, where a tree from here is about to run. */
  lab.leave = () => document.querySelector('[role="tab"]')?.click();

  /** Build the lab inside `element`; answers {ingest, state, lab}. */
  lab.mount = function (element, options) {
    const made = new Lab(element, options);
    return { ingest: (message) => made.ingest(message), state: made.state, lab: made };
  };
})((window.Sequoia = window.Sequoia || {}));
