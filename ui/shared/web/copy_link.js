/* The "Copy link" buttons of the forms, which Gradio draws. */
import { copyLink } from "./page_link.js";

/**
 * @param {string} tab
 * @returns {any[]} no outputs
 */
export function copy(tab) {
  copyLink(tab);
  return [];
}
