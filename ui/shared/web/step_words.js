/* Plain sentences about one step and one node, and the words of the badge: a view in, text out; every number in them is the step's own. */
import * as dom from "./dom.js";
import { apart, count, known, ms, percent, short } from "./format.js";

const STATES = {
  root: "last token so far",
  accepted: "accepted",
  rejected: "rejected",
  untested: "not tried",
  never: "never reached",
  bonus: "target’s own token",
  correction: "target’s own token",
};

// Why a run ended: as its verb, and by itself.
const ENDS = {
  eos: ["finished at the end of text", "end of text"],
  length: ["finished at its token limit", "token limit reached"],
  context: ["finished with its context full", "context is full"],
  stopped: ["stopped", "stopped"],
  time: ["stopped at its time limit", "time limit reached"],
  paused: ["paused", "paused"],
  broken: ["broken off", "broken off"],
};

const VERIFIERS = { sequoia: "Sequoia", specinfer: "SpecInfer", topk: "top-k match" };

const token = (view, node) => "“" + view.label(node) + "”";

function accepted(view, trial) {
  if (trial.u === null) return "The target drew this very token, so the walk goes down to it.";
  if (view.greedy)
    return "The target’s own most probable token is exactly this one, so it is accepted.";
  const ratio = trial.p / trial.q;
  if (!known(ratio) || ratio >= 1) {
    return (
      "At its trial the target gives this token at least the share the draft gives it (" +
      percent(trial.p) +
      " against " +
      percent(trial.q) +
      "): accepted whatever u is."
    );
  }
  const [u, bound] = apart(trial.u, ratio);
  return "u = " + u + " is below p/q = " + bound + ", so the token is accepted.";
}

function rejected(view, trial) {
  if (trial.u === null) return "The target drew another token, so this one is not followed.";
  if (view.greedy)
    return "At temperature 0 only the target’s most probable token can be accepted, and that is another one.";
  const [u, bound] = apart(trial.u, trial.q > 0 ? trial.p / trial.q : 0);
  return (
    "At its trial the target gives this token " +
    percent(trial.p) +
    ", the draft " +
    percent(trial.q) +
    "; u = " +
    u +
    " is " +
    (trial.p === 0 ? "not below 0" : "above " + bound) +
    ": rejected, and the draft’s share is taken out of the target’s law."
  );
}

function untested(view, node) {
  const parent = view.topo.parents[node];
  const taken = view.topo.children[parent].find((child) => view.state[child] === "accepted");
  if (taken === undefined) return "Not tried: the walk ended before it.";
  return "Not tried: an earlier sibling, " + token(view, taken) + ", was accepted.";
}

/** The nearest ancestor whose fate decided that the walk never came here. */
function never(view, node) {
  const { parents } = view.topo;
  let above = parents[node];
  while (above > 0 && view.state[above] === "never") above = parents[above];
  const where = above === parents[node] ? "its parent " : "its ancestor ";
  const why =
    view.state[above] === "rejected"
      ? " was rejected."
      : " was not tried: an earlier sibling was accepted.";
  return "Never reached: " + where + token(view, above) + why;
}

function own(view) {
  if (view.kind === "bonus") {
    return view.topo.n === 1
      ? "Nothing was drafted: the target decodes this token alone, as plain decoding does."
      : view.path.length === view.topo.levels
        ? "All drafted levels were accepted: the target adds one token for free."
        : "The accepted path ends at a leaf of the tree: the target adds one token for free.";
  }
  const end = view.path[view.path.length - 1];
  const children = view.topo.children[end].length;
  if (view.matched)
    return (
      "None of the " +
      count(children, "child", "children") +
      " was the token the target drew: it emits its own."
    );
  if (view.greedy) {
    return (
      "None of the " +
      count(children, "child", "children") +
      " was the target’s most probable token: the target emits it itself."
    );
  }
  return (
    (children === 1
      ? "The only child was rejected"
      : "All " + children + " children were rejected") +
    ": the target corrects with a token from what is left of its law."
  );
}

export const states = STATES;

/** Why a node (or "bonus") has the state it has. */
export function why(view, node) {
  if (node === "bonus") return own(view);
  const trial = view.trial(node);
  switch (view.state[node]) {
    case "root":
      return "The last token known before this step. What the draft proposes hangs below it.";
    case "accepted":
      return trial ? accepted(view, trial) : "On the accepted path.";
    case "rejected":
      return rejected(view, trial);
    case "untested":
      return untested(view, node);
    default:
      return never(view, node);
  }
}

/** What a step did, in one line. */
export function step(view) {
  const drafted = view.topo.n - 1;
  if (!drafted) return "Nothing drafted; the target decoded one token.";
  const path = view.path.length - 1;
  const tried = view.trials.length;
  return (
    count(drafted, "token") +
    " drafted, " +
    tried +
    " tried, " +
    path +
    " accepted" +
    (view.kind === "none"
      ? "; the run ended inside the accepted path."
      : ", and one from the target itself.")
  );
}

/** A time with where it comes from. */
export const sourced = (time, word) => time + (word ? " (" + word + ")" : "");

/** Where the numbers of a `kind` come from, into its badge; without `meta` there is none. What was measured was so on the server's machine. */
export function paintBadge(node, meta, done, kind) {
  const label = meta?.label || "";
  const at = /^\d{4}-\d\d-\d\d (\d\d:\d\d)/.exec(String(meta?.date ?? ""));
  const over = label === "measured" && done;
  dom.text(
    node,
    !meta
      ? "no " + kind + " yet"
      : over
        ? "measured here" + (at ? ", " + at[1] : "")
        : label === "measured"
          ? "measured live"
          : label || kind,
  );
  dom.attr(node, "title", over && at ? "Measured on this machine, " + at[0] : null);
  node.dataset.label = meta ? label : "none";
}

/** A verifier as the menus call it. */
export function verifier(name) {
  return VERIFIERS[name] || name;
}

export function finish(reason) {
  return ENDS[reason]?.[1] || reason;
}

/** A line for screen readers when a run ends. */
export function summary(totals, end, word) {
  return (
    "Run " +
    (ENDS[end]?.[0] || "ended") +
    ": " +
    count(totals.tokens, "token") +
    " in " +
    count(totals.steps, "step") +
    ", " +
    short(totals.tokensPerStep) +
    " tokens a step, " +
    sourced(ms(totals.seconds), word) +
    " in all."
  );
}
