/* Turns rows and columns of a tree into pixels: heights of rows, widths of columns, type size,
   paths of edges, and text cut to a width. Independent of the page, except for measuring text. */

/** Least height in px of a row, unless the tree is drawn as dots. */
export const LEAST_PITCH = 16;
const MOST_PITCH = 46;
const ROOMY = 38; // px; least height of a row with a line for q and p below each token
/** Type size in px of the line for q and p. */
export const NOTE_SIZE = 12;
const NOTE_HEIGHT = 14; // px of that line below a pill
const GUTTER = 13; // px between columns
const TIGHT = 9; // px between columns that are as narrow as their text
const PAD = 14; // px left and right of the tree; for dots, also above and below it
const CORNER = 4; // px, radius of an edge's corners
const SQUEEZE = 0.8; // a text may be squeezed to this share of its width before it is cut
const LEAST_SCALE = 0.7; // columns may be narrowed to this share of the width they want
/** Least type size in px. */
export const LEAST_SIZE = 12;
const MOST_SIZE = 14;
const LEAST_DRAWN = 8; // px; labels are hidden if their zoomed type is smaller
const NARROWEST = 50; // px, least width of a column whose text may be cut, if all columns then fit
const NARROW = 64; // px, least width of such a column if the box has to scroll anyway
const WIDEST = 190; // px, largest width to which spare room widens a column
/** Largest width of a text in px. */
export const MOST_TEXT = 240;
const MOST_WHOLE = { x: 84, y: 26 }; // most px between columns of dots (x) and between rows (y)
const WHOLE_LABEL = 36; // px that columns of dots leave free for labels, besides PAD
const INSIDE = 7; // px by which a pill is wider than its text
const CACHED = 20_000; // widths
/** @type {Map<string, number>} results of `widthOf` */
const widths = new Map();
let pen = null; // 2D context of a canvas, for measuring text

/**
 * A place in the grid.
 * @typedef {{row: number, col: number}} Place
 */

/**
 * A grid in pixels.
 * @typedef {object} Frame
 * @property {number} pitch height of a row, px
 * @property {number} pill height of a pill, px
 * @property {number} size type size, px
 * @property {boolean} roomy whether there is room for a note below each pill
 * @property {number} width px
 * @property {number} height px
 * @property {number} gutter px between columns
 * @property {number} corner radius of an edge's corners, px
 * @property {number} [column] width of a column in px, for a whole tree drawn as dots
 * @property {number} least room for a note in the narrowest column, px. A heading may also use the
 *   gutter
 * @property {(col: number) => number} x position of a column's left edge, px; for dots, their
 *   centre
 * @property {(col: number) => number} text width for text in a column, px
 * @property {(row: number) => number} y position of a row's middle, px
 */

/**
 * The width of `text` in px at a type size of 1 px.
 * @param {string} text
 * @param {string} family of fonts
 * @returns {number}
 */
export function widthOf(text, family) {
  const key = family + "\n" + text;
  let width = widths.get(key);
  if (width === undefined) {
    pen ||= document.createElement("canvas").getContext("2d");
    pen.font = "100px " + family;
    width = pen.measureText(text).width / 100;
    if (widths.size > CACHED) widths.clear();
    widths.set(key, width);
  }
  return width;
}

/**
 * Fit a text to a width. If it is too long, its letters are set closer. If that is not enough, it
 * is cut and ends with "…".
 * @param {string} text
 * @param {number} most px
 * @param {number} size of type, px
 * @param {string} family of fonts
 * @returns {[string, number, boolean]} the text, its width in px, and whether its letters must be
 *   set closer
 */
export function fit(text, most, size, family) {
  const full = widthOf(text, family) * size;
  if (full <= most) return [text, full, false];
  if (full * SQUEEZE <= most) return [text, most, true];
  const chars = [...text];
  const head = (length) => chars.slice(0, length).join("") + "…";
  let low = 0;
  let high = chars.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (widthOf(head(middle), family) * size <= most) low = middle;
    else high = middle - 1;
  }
  const cut = head(low);
  return [cut, Math.min(widthOf(cut, family) * size, most), false];
}

// Px of the narrowest column with room for a word in small type. `word`: its width at 1 px type.
const narrowest = (word) => word * LEAST_SIZE + TIGHT + INSIDE + 0.5;

/**
 * How many columns fit if each is as narrow as a word in small type.
 * @param {number} width px of the box
 * @param {number} word width of the word at a type size of 1 px
 * @param {number} tail px kept free after the last column
 * @returns {number}
 */
export const columns = (width, word, tail) =>
  Math.floor((width - 2 * PAD - tail) / narrowest(word));

/**
 * Whether the labels of a grid are hidden at a zoom because they would be too small to read.
 * @param {Frame} grid
 * @param {number} zoom
 * @returns {boolean}
 */
export const hidesLabels = ({ size }, zoom) => size * zoom < LEAST_DRAWN;

const between = (least, value, most) => Math.max(least, Math.min(most, value));

/**
 * Lay out a grid in a box.
 * @param {object} grid
 * @param {number} grid.rows
 * @param {number} grid.cols
 * @param {number} grid.width px of the box
 * @param {number} grid.height px of the box
 * @param {boolean} grid.focus whether this is the focus layout, which shows a part of a tree
 * @param {number[]} [grid.wants] only for the focus layout: px of each column's text in small type.
 *   If equal columns do not fit, each column gets a width according to its text
 * @param {number} [grid.word] not for the focus layout: width of the widest text at a type size of
 *   1 px. If given, each column has room for that text in small type
 * @param {number} [grid.tail] px kept free after the last column
 * @returns {Frame}
 */
export function makeFrame({ rows, cols, width, height, focus, wants, word, tail = 0 }) {
  const room = width - 2 * PAD - tail;
  const pitch = pitchOf(rows, height, focus);
  const roomy = !focus && pitch >= ROOMY;
  const pill = roomy ? 22 : pillOf(pitch);
  const isTight = word && cols * (word * LEAST_SIZE + GUTTER + INSIDE) > room;
  const gutter = isTight ? TIGHT : GUTTER;
  const column = focus
    ? between(86, room / Math.max(cols, 6), 150)
    : Math.max(leastColumn(cols, room, word), Math.min(WIDEST, room / Math.max(cols, 1)));
  const isCrowded = focus && cols * column - GUTTER > room;
  const largest = word ? (column - gutter - INSIDE) / word : Infinity; // type size that still fits
  const size = isCrowded
    ? LEAST_SIZE
    : between(LEAST_SIZE, Math.min(largest, pill * 0.78), MOST_SIZE);
  const lefts = Array.from({ length: cols + 1 }, (_, col) => PAD + col * column);
  if (isCrowded) pack(lefts, wants, room);
  const widthAt = (col) => lefts[col + 1] - lefts[col] - gutter;
  const middle = roomy ? pitch / 2 - 6 : pitch / 2;
  return {
    pitch,
    pill,
    size,
    roomy,
    gutter,
    corner: CORNER,
    width: Math.max(lefts[cols] - gutter + PAD + tail, 10),
    height: rows * pitch + 12,
    least: Math.min(...lefts.slice(1).map((_, col) => widthAt(col))),
    x: (col) => lefts[col],
    text: (col) => Math.min(widthAt(col) - INSIDE, MOST_TEXT),
    y: (row) => 6 + row * pitch + middle,
  };
}

/**
 * Lay out a whole tree as dots in the middle of a box.
 * @param {{rows: number, cols: number, width: number, height: number}} grid
 * @returns {Frame}
 */
export function wholeFrame({ rows, cols, width, height }) {
  const pitch = Math.min(MOST_WHOLE.y, (height - 2 * PAD) / rows);
  const steps = Math.max(cols - 1, 1);
  const column = Math.min(MOST_WHOLE.x, (width - 2 * PAD - WHOLE_LABEL) / steps);
  const corner = Math.min(CORNER, pitch / 2, column / 3);
  const left = (width - column * (cols - 1)) / 2;
  const top = (height - pitch * rows) / 2;
  return {
    pitch,
    column,
    corner,
    width,
    height,
    pill: pitch,
    size: LEAST_SIZE,
    roomy: false,
    gutter: Math.min(TIGHT, column / 2) + corner,
    least: column,
    x: (col) => left + col * column,
    text: () => column,
    y: (row) => top + (row + 0.5) * pitch,
  };
}

function leastColumn(cols, room, word) {
  if (word) return narrowest(word);
  return cols * NARROWEST <= room ? NARROWEST : NARROW;
}

function pitchOf(rows, height, focus) {
  const even = Math.floor((Math.max(height - 12, 0) / rows) * 4) / 4;
  return focus ? between(17, even, 30) : between(LEAST_PITCH, even, MOST_PITCH);
}

const pillOf = (pitch) => Math.min(Math.max(Math.round(pitch * 0.8), Math.min(pitch - 2, 15)), 24);

// Sets the left edges of columns that are as wide as their text. If they do not fit, they are
// narrowed, but not below LEAST_SCALE.
function pack(lefts, wants, room) {
  const spare = GUTTER + 9;
  const gaps = wants.length * spare;
  const whole = wants.reduce((sum, want) => sum + want, 0);
  const scale = between(LEAST_SCALE, (room - gaps) / whole, 1);
  wants.forEach((want, col) => {
    lefts[col + 1] = lefts[col] + Math.max(want * scale, 18) + spare;
  });
}

const points = (grid, from, to) => ({
  x0: grid.x(from.col),
  y0: grid.y(from.row),
  x1: grid.x(to.col),
  y1: grid.y(to.row),
  trunk: grid.x(from.col + 1) - grid.gutter + grid.corner, // x of the line down the gutter
});

/**
 * The path of the edge from a parent's cell to a child's. It runs along the parent's row, down the
 * gutter after the parent's column, and into the child's row.
 * @param {Frame} grid
 * @param {Place} from
 * @param {Place} to
 * @returns {string}
 */
export function edge(grid, from, to) {
  const { x0, y0, x1, y1, trunk } = points(grid, from, to);
  if (from.row === to.row) return `M${x0} ${y0}H${x1}`;
  const { corner: c } = grid;
  const out = `M${x0} ${y0}H${trunk - c}q${c} 0 ${c} ${c}`;
  return `${out}V${y1 - c}q0 ${c} ${c} ${c}H${x1}`;
}

/**
 * An edge without its part in the parent's row. If both cells are in the same row, the whole edge.
 * @param {Frame} grid
 * @param {Place} from
 * @param {Place} to
 * @returns {string}
 */
export function branch(grid, from, to) {
  if (from.row === to.row) return edge(grid, from, to);
  const { y0, x1, y1, trunk } = points(grid, from, to);
  const { corner: c } = grid;
  return `M${trunk} ${y0 + c}V${y1 - c}q0 ${c} ${c} ${c}H${x1}`;
}

/**
 * An edge that connects two cells of a row and runs above the cells between them. If the two cells
 * are in different rows, the result is that of `branch`.
 * @param {Frame} grid
 * @param {Place} from
 * @param {Place} to
 * @returns {string}
 */
export function lifted(grid, from, to) {
  if (from.row !== to.row) return branch(grid, from, to);
  const { x0, y0, x1, y1 } = points(grid, from, to);
  const { pitch, pill } = grid;
  const clear = grid.roomy ? (pitch - NOTE_HEIGHT) / 2 : Math.max(pill / 2 + 1.5, pitch / 2);
  const lift = y0 - clear; // between two rows, clear of their notes
  const out = x0 + 8;
  const back = x1 - 8;
  const c = Math.min(grid.corner, clear / 2);
  const up = `M${out} ${y0}V${lift + c}q0 ${-c} ${c} ${-c}`;
  return `${up}H${back - c}q${c} 0 ${c} ${c}V${y1 - c}q0 ${c} ${c} ${c}H${x1}`;
}
