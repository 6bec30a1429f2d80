/* The controls that play one step. */
import { attr, button, el, setIcon, show } from "./dom.js";
import { STEP_RATES } from "./speeds.js";

/**
 * @import { StepRate } from "./speeds.js"
 * @import { StepPlayer } from "./step_player.js"
 */

/** Back, play or pause, and the menu of speeds. */
export class StepButtons {
  /**
   * @param {StepPlayer} player
   * @param {Element} host
   */
  constructor(player, host) {
    this.player = player;
    this.root = el("div", { class: "sq-step-buttons", "data-part": "step-buttons" }, host);
    const back = () => player.turn(-1);
    const label = "Previous frame of the step (,)";
    button(this.root, { icon: "back", label, part: "step-back", act: back });
    const toggle = () => player.toggle();
    this.play = button(this.root, { icon: "play", part: "step-play", act: toggle });
    const look = { class: "sq-input sq-speed", "aria-label": "Playback speed of the step" };
    this.speed = el("select", { ...look, "data-part": "step-speed" }, this.root);
    for (const [value, name] of STEP_RATES) el("option", { value, text: name }, this.speed);
    this.speed.addEventListener("change", () =>
      player.setRate(/** @type {StepRate} */ (this.speed.value)),
    );
  }

  paint() {
    const { step, playing, rate } = this.player;
    setIcon(this.play, playing ? "pause" : "play");
    const label = playing ? "Pause (space)" : "Play the step (space)";
    attr(this.play, "aria-label", label);
    attr(this.play, "title", label);
    for (const one of this.root.querySelectorAll("button")) one.disabled = !step;
    if (this.speed.value !== rate) this.speed.value = rate;
    // A step without times plays only in slow motion, so it needs no menu of speeds.
    show(this.speed, !step || Boolean(step.step.seconds));
  }
}
