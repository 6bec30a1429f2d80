/* The axis of a chart that is drawn without Plotly: from values to px, and its ticks. Pure. */

const TICKS = 5; // about as many as an axis has
const NICE = [1, 2, 5, 10];
const ROOM = 0.05; // of the range, beyond the outermost values

/**
 * What a layout says of an axis, as Plotly takes it; ends of a logarithmic `range` are exponents.
 * @typedef {object} AxisLayout
 * @property {string} [type] "log", else linear
 * @property {number[]} [range]
 * @property {string} [rangemode] "tozero": from 0 on
 * @property {number[]} [tickvals]
 * @property {string[]} [ticktext]
 * @property {string} [ticksuffix]
 * @property {{text?: string}} [title]
 */
/**
 * @typedef {object} Axis
 * @property {(value: number) => number} at px of a value
 * @property {{at: number, text: string}[]} ticks inside the range
 * @property {string} title
 */

/**
 * @param {AxisLayout} layout
 * @param {(number | null)[]} values of the traces on it
 * @param {number} from px of the range's start
 * @param {number} to px of its end
 * @returns {Axis}
 */
export function makeAxis(layout, values, from, to) {
  const isLog = layout.type === "log";
  const scale = isLog ? Math.log10 : (value) => value;
  const [low, high] = layout.range ?? fitted(values.map(scale), layout.rangemode);
  const at = (value) => from + ((scale(value) - low) / (high - low || 1)) * (to - from);
  const text = labelled(layout);
  const inside = (value) => scale(value) >= low - 1e-9 && scale(value) <= high + 1e-9;
  const all = layout.tickvals ?? (isLog ? powers(low, high) : steps(low, high));
  const ticks = all.flatMap((value, i) =>
    inside(value) ? [{ at: at(value), text: text(value, i) }] : [],
  );
  return { at, ticks, title: layout.title?.text ?? "" };
}

// The range of finite values, with some room; a chart without values has a range, too.
function fitted(values, mode) {
  const finite = values.filter((value) => value !== null && Number.isFinite(value));
  if (!finite.length) return [0, 1];
  const least = Math.min(...finite);
  const most = Math.max(...finite);
  const room = (most - least || Math.abs(most) || 1) * ROOM;
  return [mode === "tozero" ? Math.min(0, least) : least - room, most + room];
}

const powers = (low, high) =>
  Array.from({ length: Math.max(0, Math.floor(high) - Math.ceil(low) + 1) }, (_, i) =>
    Number("1e" + (Math.ceil(low) + i)),
  );

// Multiples of 1, 2 or 5 times a power of ten.
function steps(low, high) {
  const rough = (high - low) / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = NICE.find((one) => one * power >= rough) * power;
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.max(0, Math.floor(high / step + 1e-9) - first + 1);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toFixed(digits)));
}

/** @type {(layout: AxisLayout) => (value: number, i: number) => string} */
const labelled = ({ tickvals, ticktext, ticksuffix = "" }) => {
  const isNamed = tickvals && ticktext?.length === tickvals.length;
  return (value, i) => (isNamed ? ticktext[i] : value.toLocaleString("en-US")) + ticksuffix;
};
