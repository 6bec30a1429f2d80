/* From rows and columns to pixels: pitch, type size, column width, edge paths, and text cut to a width. No state but a cache. */

export const LEAST_PITCH = 13;
const MOST_PITCH = 46;
const ROOMY = 38; // px a row; from ROOMY on there is a line for q and p below each token
export const NOTE_SIZE = 9.5;
const NOTE_HEIGHT = 13; // of that line, and how far it reaches below its pill
const GUTTER = 13;
const TIGHT = 9;
const PAD = 14;
const CORNER = 4;
const SQUEEZE = 0.8;
const LEAST_SCALE = 0.7;
const LEAST_SIZE = 9.5;
const INSIDE = 7; // px of type; px of a pill around its text
const widths = new Map();
let pen = null;

/** Width in px of `text` at 1 px of type size, in the page's monospaced face. */
export function widthOf(text, family) {
  const key = family + "\n" + text;
  let width = widths.get(key);
  if (width === undefined) {
    pen ||= document.createElement("canvas").getContext("2d");
    pen.font = "100px " + family;
    width = pen.measureText(text).width / 100;
    if (widths.size > 20000) widths.clear();
    widths.set(key, width);
  }
  return width;
}

/**
 * `text`, or as much of it as fits with "…"; answers [text, width in px, squeezed]. Before anything is cut the letters may
 * stand a little closer. Bisection on what the face really measures.
 */
export function fit(text, most, size, family) {
  const full = widthOf(text, family) * size;
  if (full <= most) return [text, full, false];
  if (full * SQUEEZE <= most) return [text, most, true];
  const chars = [...text];
  let low = 0;
  let high = chars.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (widthOf(chars.slice(0, middle).join("") + "…", family) * size <= most) low = middle;
    else high = middle - 1;
  }
  const cut = chars.slice(0, low).join("") + "…";
  return [cut, Math.min(widthOf(cut, family) * size, most), false];
}

/** Px of the narrowest column for a word of that width at 1 px of type size. */
const thinnest = (word) => word * LEAST_SIZE + TIGHT + INSIDE + 0.5;

/** How many columns of such words fit into `width` px with `tail` px behind them. */
export const columns = (width, word, tail) => Math.floor((width - 2 * PAD - tail) / thinnest(word));

/**
 * Pixels for a grid of `rows` and `cols` in a box. `wants(size)`, given for the focus layout, tells how wide each column's
 * text is: where equal columns would not fit, each gets what it wants. `word`, the widest text of a cell at 1 px of type size,
 * lets equal columns be as narrow as that text in small type, and no text is cut; `tail` px are kept free behind the last column.
 */
export function makeFrame({ rows, cols, width, height, focus, wants, word, tail = 0 }) {
  const most = focus ? 30 : MOST_PITCH;
  const least = focus ? 17 : LEAST_PITCH;
  const pitch = Math.max(
    least,
    Math.min(most, Math.floor((Math.max(height - 12, 0) / rows) * 4) / 4),
  );
  const room = width - 2 * PAD - tail;
  const tight = word && cols * (word * LEAST_SIZE + GUTTER + INSIDE) > room;
  const gutter = tight ? TIGHT : GUTTER;
  const thin = word ? thinnest(word) : 50;
  const column = focus
    ? Math.max(86, Math.min(150, room / Math.max(cols, 6)))
    : Math.max(thin, Math.min(190, room / Math.max(cols, 1)));
  const roomy = !focus && pitch >= ROOMY;
  const pill = roomy
    ? 22
    : Math.min(Math.max(Math.round(pitch * 0.8), pitch - 2 < 12 ? pitch - 2 : 12), 24);
  const crowded = focus && cols * column - GUTTER > room;
  const whole = word ? (column - gutter - INSIDE) / word : Infinity; // type in which the widest word stands unsqueezed
  const size = Math.min(crowded ? 11 : 13.5, Math.max(LEAST_SIZE, Math.min(whole, pill * 0.78)));
  const lefts = Array.from({ length: cols + 1 }, (_, col) => PAD + col * column);
  if (crowded) packed(lefts, wants(size), room);
  return {
    pitch,
    pill,
    size,
    roomy,
    width: Math.max(lefts[cols] - gutter + PAD + tail, 10),
    height: rows * pitch + 12,
    gutter,
    x: (col) => lefts[col],
    least: Math.min(...lefts.slice(1).map((left, col) => left - lefts[col])) - gutter, // px of text in the narrowest column
    text: (col) => Math.min(lefts[col + 1] - lefts[col] - gutter - INSIDE, 240),
    y: (row) => 6 + row * pitch + (roomy ? pitch / 2 - 6 : pitch / 2),
  };
}

/** Left edges for columns as wide as their text wants, made narrower together where even that is too much, within reason. */
function packed(lefts, wants, room) {
  const spare = GUTTER + 9;
  const whole = wants.reduce((sum, want) => sum + want + spare, 0);
  const scale = Math.max(
    LEAST_SCALE,
    Math.min(1, (room - wants.length * spare) / (whole - wants.length * spare)),
  );
  wants.forEach((want, col) => {
    lefts[col + 1] = lefts[col] + Math.max(want * scale, 18) + spare;
  });
}

/** From a parent's cell to a child's: along the row, down the gutter before the child's column, round the corner. */
export function edge(frame, from, to) {
  const x0 = frame.x(from.col);
  const y0 = frame.y(from.row);
  const x1 = frame.x(to.col);
  const y1 = frame.y(to.row);
  if (from.row === to.row) return `M${x0} ${y0}H${x1}`;
  const trunk = frame.x(from.col + 1) - frame.gutter + CORNER;
  return `M${x0} ${y0}H${trunk - CORNER}q${CORNER} 0 ${CORNER} ${CORNER}V${y1 - CORNER}q0 ${CORNER} ${CORNER} ${CORNER}H${x1}`;
}

/** The child's own part only: from the trunk it shares with its siblings into its cell. */
export function branch(frame, from, to) {
  if (from.row === to.row) return edge(frame, from, to);
  const x1 = frame.x(to.col);
  const y1 = frame.y(to.row);
  const y0 = frame.y(from.row);
  const trunk = frame.x(from.col + 1) - frame.gutter + CORNER;
  return `M${trunk} ${y0 + CORNER}V${y1 - CORNER}q0 ${CORNER} ${CORNER} ${CORNER}H${x1}`;
}

/** To the target's own token. After a leaf the row is free; otherwise out at the cell's top and along between two rows. */
export function bonus(frame, from, to, straight) {
  const x0 = frame.x(from.col);
  const y0 = frame.y(from.row);
  const x1 = frame.x(to.col);
  const y1 = frame.y(to.row);
  if (straight) return edge(frame, from, to);
  const lift =
    frame.y(from.row) -
    (frame.roomy
      ? (frame.pitch - NOTE_HEIGHT) / 2
      : Math.max(frame.pill / 2 + 1.5, frame.pitch / 2)); // between two rows, clear of their notes
  const out = x0 + 8;
  const back = x1 - 8;
  const c = Math.min(CORNER, (y0 - lift) / 2);
  return `M${out} ${y0}V${lift + c}q0 ${-c} ${c} ${-c}H${back - c}q${c} 0 ${c} ${c}V${y1 - c}q0 ${c} ${c} ${c}H${x1}`;
}
