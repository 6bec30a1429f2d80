/* A run or race that is opened whole, such as an example or a file, is read from its top. */

/**
 * @param {Record<string, any>} message
 * @param {"run" | "race"} what
 * @param {Record<string, any>} store what it shows now
 * @returns {boolean} whether the message brings a whole run or race that is not on screen
 */
export const isOpened = (message, what, store) =>
  Boolean(message.done && message[what] && message[what] !== store.name);

/**
 * Scroll the page to its top, if the view is on screen.
 * @param {HTMLElement} root the view
 */
export function showTop(root) {
  if (root.offsetParent) scrollTo(0, 0);
}
