/* Joins the Lab tab's component to its view. */
import { connectComponent } from "../../shared/web/connect_component.js";
import { watchJob } from "../../shared/web/job_watch.js";
import { copyLink } from "../../shared/web/page_link.js";
import { linkLab } from "./lab_link.js";
import { mountLab } from "./lab_view.js";
import { saveLab } from "./save_lab.js";

/**
 * Called from the component's js_on_load with the arguments that Gradio passes.
 * @param {HTMLElement} element
 * @param {{value?: string}} props
 * @param {(name: string, changed: () => void) => void} watch
 * @param {(name: string, data: object) => void} trigger
 */
export function connect(element, props, watch, trigger) {
  /** @type {HTMLElement} */
  const root = element.querySelector(".sq-lab");
  const view = mountLab(root, {
    trigger,
    save: saveLab,
    copy: () => copyLink("lab"),
  });
  const isBusy = () => view.lab.editor.counting.busy;
  const job = watchJob({ isBusy, ask: (asked) => trigger("ask", asked) });
  // `false` is right for every message: if the message is about a running job, the view has made
  // `isBusy()` true by now, and then `job.take` ignores its argument.
  const taken = () => job.take(false);
  connectComponent(root, props, watch, { ...view, take: view.ingest }, { taken });
  linkLab(view.lab);
}
