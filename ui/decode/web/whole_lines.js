/* Scrolling a text so that its first visible line is not cut. */

// The padding below the text in px, as in base.css. It lets the text scroll until its first visible
// line is whole.
const SPARE = 30;
const MARGIN = 8; // least px between a piece of text and the lower edge of the box

/**
 * Scroll `box` to its end.
 * @param {HTMLElement} box
 */
export function scrollToEnd(box) {
  showAbove(box, box.scrollHeight - SPARE);
}

/**
 * Scroll `box` as little as needed to show what lies between `top` and `bottom`, in px from the
 * start of the text.
 * @param {HTMLElement} box
 * @param {number} top
 * @param {number} bottom
 */
export function scrollToPiece(box, top, bottom) {
  const line = lineHeight(box);
  if (top < box.scrollTop) box.scrollTop = Math.floor(top / line) * line;
  else if (bottom + MARGIN > box.scrollTop + box.clientHeight) {
    showAbove(box, bottom);
    box.scrollTop = Math.min(box.scrollTop, top - 2); // the last lines may be higher than others
  }
}

/**
 * Scroll `box` up by less than a line, so that its first visible line is whole: a box that grew may
 * have been scrolled by the browser.
 * @param {HTMLElement} box
 */
export function scrollToWholeLine(box) {
  const line = lineHeight(box);
  box.scrollTop = Math.floor(box.scrollTop / line) * line;
}

function showAbove(box, bottom) {
  const line = lineHeight(box);
  box.scrollTop = Math.ceil((bottom + MARGIN - box.clientHeight) / line) * line;
}

function lineHeight(box) {
  return parseFloat(getComputedStyle(box).lineHeight);
}
