/* The axis of a chart that is drawn without Plotly: maps values to px and chooses ticks. Pure. */

const TICKS = 5; // on an axis, approximately
const NICE = [1, 2, 5, 10];
const ROOM = 0.05; // left free beyond the outermost values, as a share of the range

/**
 * An axis in a Plotly layout. The ends of the `range` of a logarithmic axis are exponents of 10.
 * @typedef {object} AxisLayout
 * @property {string} [type] "log", else linear
 * @property {number[]} [range]
 * @property {string} [rangemode] "tozero": without `range`, the axis starts at 0, or lower if a
 *   value is negative
 * @property {number[]} [tickvals]
 * @property {string[]} [ticktext]
 * @property {string} [ticksuffix]
 * @property {{text?: string}} [title]
 */
/**
 * @typedef {object} Axis
 * @property {(value: number) => number} at the position in px of a value
 * @property {{at: number, text: string}[]} ticks inside the range; `at` is in px
 * @property {string} title
 */

/**
 * @param {AxisLayout} layout
 * @param {(number | null)[]} values of the traces on this axis; null for a missing value
 * @param {number} from px where the range starts
 * @param {number} to px where the range ends
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

// The range of the finite values, with some room at both ends. In mode "tozero" it starts at 0 or
// at the least value, whichever is lower, and has room only above. Without finite values: [0, 1].
function fitted(values, mode) {
  const finite = values.filter((value) => value !== null && Number.isFinite(value));
  if (!finite.length) return [0, 1];
  const least = Math.min(...finite);
  const most = Math.max(...finite);
  const room = (most - least || Math.abs(most) || 1) * ROOM;
  return [mode === "tozero" ? Math.min(0, least) : least - room, most + room];
}

// The powers of ten within a range of exponents.
const powers = (low, high) =>
  Array.from({ length: Math.max(0, Math.floor(high) - Math.ceil(low) + 1) }, (_, i) =>
    Number("1e" + (Math.ceil(low) + i)),
  );

// Values within a range that are multiples of a round step: 1, 2 or 5 times a power of ten.
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
