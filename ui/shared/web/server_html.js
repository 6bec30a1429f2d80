/* HTML that the server wrote, with all text escaped (ui/shared/markup.py). */

/**
 * Put it into an element, in place of what is there.
 * @param {Element} host
 * @param {string} html
 */
export function putHtml(host, html) {
  host.replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
}
