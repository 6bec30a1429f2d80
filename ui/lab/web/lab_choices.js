/* What a person chose in the Lab: the acceptance vector, the tree and its limits, and the hardware
   profile. */
import { OWN } from "./acceptance_editor.js";
import * as shapes from "./tree_shapes.js";

/** @import { Lab } from "./lab_view.js" */
/** @import { Kinds, Origin } from "./lab_state.js" */

/**
 * @typedef {object} LabChoices
 * @property {string} [vector] key of a preset
 * @property {number[]} [rates] of a vector that is not a preset
 * @property {Origin} [origin] of `rates`
 * @property {number | null} [n] node budget; null: that of the planned tree
 * @property {number | null} [levels] level cap; null: none
 * @property {string} [shown] name of the tree shown, as in LabState
 * @property {number[]} [hand] parents of the tree drawn by hand
 * @property {Partial<Kinds>} [kinds] settings of the shapes
 * @property {string} [profile] key of a hardware profile
 */

/**
 * @param {Lab} lab
 * @returns {LabChoices}
 */
export function choicesOf({ state, editor, machine }) {
  const { rates, origin, n, levels, shown, hand, kinds } = state;
  const isPreset = editor.kind !== OWN;
  return {
    ...(isPreset ? { vector: editor.kind } : { rates, origin }),
    ...(state.isPlanned ? {} : { n, levels }),
    shown,
    ...(hand.length > 1 ? { hand } : {}),
    kinds,
    profile: machine.key,
  };
}

/**
 * Apply choices to the Lab. An absent choice leaves its part of the Lab unchanged.
 * @param {Lab} lab
 * @param {LabChoices} choices
 * @returns {string[]} the choices that this Lab does not offer, in words
 */
export function choose(lab, choices) {
  const { state, editor, machine } = lab;
  const { vector, rates, origin, profile, kinds, shown, ...rest } = choices;
  const unknown = [];
  if (rates || editor.has(vector)) lab.usual = null;
  if (rates) editor.take(rates, origin);
  else if (vector && editor.has(vector)) editor.choose(vector);
  else if (vector) unknown.push(`the acceptance vector “${vector}”`);
  if (profile && machine.has(profile)) machine.select(profile);
  else if (profile) unknown.push(`the hardware profile “${profile}”`);
  state.set({ ...rest, kinds: { ...state.kinds, ...kinds } });
  if (shown && isTree(shown)) state.set({ shown });
  else if (shown) unknown.push(`the tree “${shown}”`);
  return unknown;
}

const isTree = (name) =>
  ["best", "hand", "fitted"].includes(name) || Object.hasOwn(shapes.SHAPES, name);
