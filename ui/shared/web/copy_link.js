/* The "Copy link" buttons of the forms, which Gradio draws. */
import { copyLink } from "./page_link.js";

/**
 * Copy a link to what a tab shows.
 * @param {string} tab
 * @returns {any[]} the outputs that Gradio expects: none
 */
export function copy(tab) {
  copyLink(tab);
  return [];
}
