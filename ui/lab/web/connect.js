/* Joins the Lab's component to its view. */
import { choicesOf } from "./lab_choices.js";
import { linkLab } from "./lab_link.js";
import { Lab } from "./lab_view.js";
import { acceptanceLine, recordedOrigin, timesLine } from "./sources.js";
import * as shapes from "./tree_shapes.js";
import { connectComponent } from "../../shared/web/connect_component.js";
import { count } from "../../shared/web/format.js";
import { copyLink } from "../../shared/web/page_link.js";
import * as planner from "../../shared/web/planner.js";
import { recordedLabel } from "../../shared/web/recorded.js";
import { savePage } from "../../shared/web/save_page.js";

/**
 * Called from the component's js_on_load with the arguments that Gradio passes.
 * @param {HTMLElement} element
 * @param {{value?: string}} props
 * @param {(name: string, changed: () => void) => void} watch
 * @param {(name: string, data: object) => void} trigger
 * @param {import("../../shared/web/connect_component.js").Server} server
 */
export function connect(element, props, watch, trigger, server) {
  /** @type {HTMLElement} */
  const root = element.querySelector(".sq-lab");
  const lab = new Lab(root, {
    trigger,
    save: saveLab,
    copy: () => copyLink("lab"),
    readTree: async (text) => JSON.parse(await server.read_tree(text)),
  });
  const job = { trigger, isBusy: () => lab.editor.counting.busy };
  connectComponent(root, props, watch, lab, { job });
  linkLab(lab);
}

/**
 * Save the Lab. If that fails, the reason is shown below the answer.
 * @param {Lab} lab
 * @returns {Promise<void>}
 */
export async function saveLab(lab) {
  try {
    await savePage({
      view: "lab",
      name: "sequoia-lab.html",
      title: "Sequoia: a tree by design",
      data: { ...labData(lab), facts: labFacts(lab) },
    });
  } catch (failure) {
    lab.answer.say(`Not saved: ${failure.message}`);
  }
}

/**
 * What the saved page needs to show the same acceptance vector, tree and hardware profile.
 * @param {Lab} lab
 * @returns {any}
 */
function labData(lab) {
  const { survey, surveyed, profile, profiles, most } = lab.known;
  const { rates, origin } = lab.state;
  const times = { profile: recordedProfile(profile), profiles };
  const known = { survey: survey ?? {}, surveyed, ...times, most };
  const { vector, ...choices } = choicesOf(lab);
  const own = vector?.startsWith("own-") || !vector;
  const acceptance = own ? { rates, origin: recordedOrigin(origin) } : { vector };
  return { known, choices: { ...choices, ...acceptance } };
}

const recordedProfile = (profile) =>
  profile ? { ...profile, source: recordedLabel(profile.source) } : null;

function labFacts({ state }) {
  const { parents, even, profile, shown, n, basis } = state;
  const name = shapes.label(shown, n, state);
  const tokens = planner.expectedTokens(parents, even).toFixed(3);
  const lines = [
    `${name}, ${count(parents.length, "node")}: ${tokens} tokens per step (expected)`,
    acceptanceLine(state),
  ];
  if (!profile) return lines;
  const { speedup } = planner.predict(parents, even, profile);
  return [...lines, `${basis}: ${speedup.toFixed(2)}× plain decoding`, timesLine(state)];
}
