/* Makes elements and changes them. Text is always put into the page as plain text, never as HTML,
   here and in all other modules. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Attributes by name. The name `text` means the element's text. An attribute that is null or
 * undefined is omitted.
 * @typedef {Record<string, any>} Attributes
 */

/**
 * @template {Element} T
 * @param {T} node
 * @param {Attributes} [attributes]
 * @param {Element} [parent]
 * @returns {T}
 */
function dress(node, attributes = {}, parent) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") node.textContent = value;
    else if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  parent?.appendChild(node);
  return node;
}

/**
 * A new HTML element, appended to `parent` if that is given.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {Element} [parent]
 * @returns {HTMLElementTagNameMap[K]}
 */
export const el = (tag, attributes, parent) =>
  dress(document.createElement(tag), attributes, parent);

/**
 * A new SVG element, appended to `parent` if that is given.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {Element} [parent]
 * @returns {SVGElementTagNameMap[K]}
 */
export const svg = (tag, attributes, parent) =>
  dress(document.createElementNS(SVG, tag), attributes, parent);

/**
 * Set the text of a node, if it differs.
 * @param {Element} node
 * @param {string} value
 */
export function text(node, value) {
  if (node.textContent !== value) node.textContent = value;
}

/**
 * Set an attribute, if its value differs. The value null or false removes the attribute.
 * @param {Element} node
 * @param {string} name
 * @param {any} value
 */
export function attr(node, name, value) {
  if (value === null || value === false) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
  } else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/**
 * Show or hide an element.
 * @param {HTMLElement} node
 * @param {boolean} visible
 */
export function show(node, visible) {
  if (node.hidden === visible) node.hidden = !visible;
}

/**
 * Set the text of an element, and hide the element while it has none.
 * @param {HTMLElement} node
 * @param {string} [words]
 */
export function tell(node, words = "") {
  text(node, words);
  show(node, Boolean(words));
}

/**
 * A new button with an icon, a text or both, appended to `parent`.
 * @param {Element} parent
 * @param {{label?: string, icon?: string, text?: string, cls?: string, hint?: string,
 *   part?: string, act?: () => void}} look `label`: the button's name for screen
 *   readers; `icon`: a key of ICONS; `hint`: its tooltip, by default the label; `cls`: further
 *   classes; `part`: its name for tests and CSS; `act`: called when it is pressed
 * @returns {HTMLButtonElement}
 */
export function button(parent, { label, icon, text: words, cls = "", hint = label, part, act }) {
  const look = { class: "sq-btn " + cls, title: hint, "data-part": part };
  const made = el("button", { type: "button", ...look }, parent);
  if (act) made.addEventListener("click", act);
  if (label) made.setAttribute("aria-label", label);
  if (icon) drawIcon(made, icon);
  if (words) el("span", { text: words }, made);
  return made;
}

/**
 * A new group for joined buttons, appended to `parent`.
 * @param {Element} parent
 * @param {string} label for screen readers
 * @returns {HTMLSpanElement}
 */
export const segments = (parent, label) =>
  el("span", { class: "sq-segments", role: "group", "aria-label": label }, parent);

/**
 * A new icon, appended to `parent`.
 * @param {Element} parent
 * @param {string} name a key of ICONS
 * @returns {SVGSVGElement}
 */
function drawIcon(parent, name) {
  const box = svg("svg", { viewBox: "0 0 24 24", class: "sq-icon", "aria-hidden": "true" }, parent);
  svg("path", { d: ICONS[name] }, box);
  return box;
}

/**
 * Replace the icon in an element.
 * @param {Element} node which contains an icon
 * @param {string} name a key of ICONS
 */
export function setIcon(node, name) {
  attr(node.querySelector("path"), "d", ICONS[name]);
}

/**
 * A function that has `act` called in the next frame. Several calls before that frame cause only
 * one.
 * @param {() => void} act
 * @returns {() => void}
 */
export function oncePerFrame(act) {
  let isWaiting = false;
  return () => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      act();
    });
  };
}

/**
 * A list of elements that are reused. `take(count)` makes elements until there are `count`, shows
 * the first `count` and hides the rest. It returns all of them, including the hidden ones.
 * @template T an element, or an object with its element as `node`
 * @param {(i: number) => T} make
 * @returns {{items: T[], take: (count: number) => T[]}}
 */
export function pool(make) {
  /** @type {any[]} */
  const items = [];
  return {
    items,
    take(count) {
      while (items.length < count) items.push(make(items.length));
      items.forEach((item, i) => {
        const { style } = item.node || item;
        const display = i < count ? "" : "none";
        if (style.display !== display) style.display = display;
      });
      return items;
    },
  };
}

/**
 * The inner size of an element in px, at first 0. An observer updates it, so that reading it forces
 * no layout.
 * @param {Element} node
 * @param {() => void} onChange called after each change of the size
 * @returns {{w: number, h: number}}
 */
export function sized(node, onChange) {
  const size = { w: 0, h: 0 };
  new ResizeObserver((entries) => {
    const { width, height } = entries[entries.length - 1].contentRect;
    if (width === size.w && height === size.h) return;
    size.w = width;
    size.h = height;
    onChange();
  }).observe(node);
  return size;
}

const ICONS = {
  play: "M8 5.2v13.6L19 12z",
  pause: "M7 5h3.6v14H7zM13.4 5H17v14h-3.6z",
  first: "M6 5.5h2.4v13H6zM18.5 5.5v13L9.5 12z",
  last: "M15.6 5.5H18v13h-2.4zM5.5 5.5v13l9-6.5z",
  back: "M15.6 4.8 17.3 6.5 11.8 12l5.5 5.5-1.7 1.7L8.4 12z",
  next: "M8.4 4.8 6.7 6.5 12.2 12l-5.5 5.5 1.7 1.7L15.6 12z",
  plus: "M11 5h2v6h6v2h-6v6h-2v-6H5v-2h6z",
  minus: "M5 11h14v2H5z",
  fit: "M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4z",
  close:
    "M6.4 5 12 10.6 17.6 5 19 6.4 13.4 12l5.6 5.6-1.4 1.4-5.6-5.6L6.4 19 5 17.6 10.6 12 5 6.4z",
  pin: "M9 3h6v2l-1 1v5l3 3v2h-4v5l-1 1-1-1v-5H7v-2l3-3V6L9 5z",
};

/**
 * A box that scrolls. It can be focused, so that the arrow keys scroll it.
 * @param {Element} host
 * @param {string} label for screen readers
 * @param {Attributes} look
 * @returns {HTMLDivElement}
 */
export const scrollBox = (host, label, look) =>
  el("div", { ...look, tabindex: "0", role: "region", "aria-label": label }, host);
