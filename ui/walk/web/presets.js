/* Ready-made toys, each of which shows one property of the verifiers. */

/**
 * @typedef {object} Preset
 * @property {string} key
 * @property {string} label
 * @property {string} about
 * @property {import("./toy.js").Toy} toy
 * @property {number} seed gives a step that fits `about`
 */

/** @type {Preset[]} the tab opens with the first */
export const PRESETS = [
  {
    key: "second-child",
    label: "A second child is accepted",
    about:
      "The small model (q, draft) and the large model (p, target) prefer different words, so a " +
      "first child is often rejected.",
    toy: {
      p: [0.4, 0.3, 0.2, 0.1],
      q: [0.1, 0.2, 0.3, 0.4],
      children: [3, 2],
      verifier: "sequoia",
    },
    seed: 3,
  },
  {
    key: "specinfer-rejects",
    label: "SpecInfer rejects where Sequoia cannot",
    about:
      "SpecInfer draws both children independently: with probability 1/4 both are “dog”, which " +
      "the large model never writes. Sequoia’s children differ, so one is “cat”: accepted.",
    toy: { p: [1, 0], q: [0.5, 0.5], children: [2, 0], verifier: "specinfer" },
    seed: 5,
  },
  {
    key: "top-k-fails",
    label: "Top-k match rejects although p equals q",
    about:
      "Top-k match accepts the only child, “cat”, if the large model samples “cat” too: 60% of " +
      "the time. Sequoia tests p/q = 1 and always accepts.",
    toy: { p: [0.6, 0.4], q: [0.6, 0.4], children: [1, 0], verifier: "topk" },
    seed: 1,
  },
  {
    key: "all-accept",
    label: "Every verifier always accepts",
    about:
      "p equals q. With Top-k match every word is a child, so the large model’s word is one of " +
      "them. The other verifiers accept the first child.",
    toy: { p: [0.5, 0.3, 0.2], q: [0.5, 0.3, 0.2], children: [3, 0], verifier: "sequoia" },
    seed: 1,
  },
  {
    key: "q-runs-out",
    label: "Nothing is left of q",
    about:
      "The small model is certain of “cat”, which the large model never writes. Then nothing is " +
      "left of q: the second child is any other word, with equal probability.",
    toy: { p: [0, 0.5, 0.3, 0.2], q: [1, 0, 0, 0], children: [2, 0], verifier: "sequoia" },
    seed: 5,
  },
  {
    key: "whole-path",
    label: "Traversal tests whole paths",
    about:
      "Traversal starts at the leaves and tests whole paths. A word with p < q is kept more " +
      "often if the next word on its path has p > q.",
    toy: { p: [0.2, 0.5, 0.3], q: [0.6, 0.2, 0.2], children: [2, 1], verifier: "traversal" },
    seed: 8,
  },
  {
    key: "block-passes",
    label: "Block verification exceeds the limit of node-by-node verification",
    about:
      "On a chain Traversal is block verification. It tests both guesses together and accepts " +
      "more than any verifier that decides node by node: see “tokens per step” below.",
    toy: { p: [0.2, 0.5, 0.3], q: [0.6, 0.2, 0.2], children: [1, 1], verifier: "traversal" },
    seed: 2,
  },
  {
    key: "traversal-below",
    label: "Traversal accepts fewer guesses than Sequoia",
    about:
      "Here Traversal accepts 1.0625 guesses per step on average, Sequoia 1.125. After “dog” it " +
      "always keeps a first child “cat”, which uses up the probability of “cat”: so it never " +
      "keeps “cat” as the second child, the only one with a child of its own.",
    toy: {
      p: [0.75, 0.25],
      q: [0.25, 0.75],
      children: [1, 2],
      shape: "uneven",
      verifier: "traversal",
    },
    seed: 4,
  },
];
