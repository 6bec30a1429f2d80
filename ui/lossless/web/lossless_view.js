/* The Lossless view. It notes when the form has changed since the test that is shown. */
import { connectComponent } from "../../shared/web/connect_component.js";
import { DecoderTest } from "../../shared/web/decoder_test.js";
import { el, show } from "../../shared/web/dom.js";
import { canStop } from "../../shared/web/form_buttons.js";

/**
 * @import { Props, Trigger, Watch } from "../../shared/web/connect_component.js"
 * @import { Message } from "../../shared/web/decoder_test.js"
 */

const EARLIER = "An earlier test: the form has changed since.";

class LosslessView extends DecoderTest {
  hasTest = false;
  hasChanged = false; // a field, since the test began

  /**
   * @param {HTMLElement} root
   * @param {(bug: string) => void} test
   */
  constructor(root, test) {
    super(root, test);
    this.earlier = el("p", { text: EARLIER, "data-part": "earlier", hidden: "" });
    this.tests.before(this.earlier);
  }

  /** @param {Message} message */
  take(message) {
    const wasGoing = this.isGoing;
    super.take(message);
    if (!wasGoing && (this.isGoing || message.shown)) this.hasChanged = false;
    this.hasTest ||= Boolean(message.shown);
    this.note();
  }

  // The visitor changed a field. The test on screen, or the one that is going on, is an earlier one
  // from now on.
  formChanged() {
    this.hasChanged = true;
    this.note();
  }

  note() {
    show(this.earlier, this.hasTest && this.hasChanged && !this.isGoing);
  }
}

/**
 * Called from the component's js_on_load with the arguments that Gradio passes.
 * @param {HTMLElement} element
 * @param {Props} props
 * @param {Watch} watch
 * @param {Trigger} trigger
 */
export function connect(element, props, watch, trigger) {
  /** @type {HTMLElement} */
  const root = element.querySelector(".sq-stage");
  const isGoing = ({ share }) => typeof share === "number";
  const job = { trigger, isBusy: () => canStop("ls"), isGoing };
  const view = new LosslessView(root, (bug) => trigger("fill", { bug }));
  connectComponent(root, props, watch, view, { job });
  document.getElementById("ls-side").addEventListener("input", () => view.formChanged());
}
