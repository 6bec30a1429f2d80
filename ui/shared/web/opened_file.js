/* A run that is opened whole, such as an example or a file, is read from its top. */

/**
 * @param {{run?: string | null, done?: boolean}} message
 * @param {{name: string | null}} store what it shows now
 * @returns {boolean} whether the message brings a whole run that is not on screen
 */
export const isOpened = ({ run, done }, { name }) => Boolean(done && run && run !== name);

/**
 * Scroll the page to its top, if the view is on screen.
 * @param {HTMLElement} root the view
 */
export function showTop(root) {
  if (root.offsetParent) scrollTo(0, 0);
}
