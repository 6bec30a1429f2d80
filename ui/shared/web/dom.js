/* Making elements. Text reaches the page through textContent only, here and everywhere in these files. */

const SVG = "http://www.w3.org/2000/svg";
const STAYS = 300; // ms

function dress(node, attributes, parent) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "text") node.textContent = value;
    else if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  if (parent) parent.appendChild(node);
  return node;
}

export const el = (tag, attributes, parent) =>
  dress(document.createElement(tag), attributes, parent);
export const svg = (tag, attributes, parent) =>
  dress(document.createElementNS(SVG, tag), attributes, parent);

/** Set text only where it differs, so that an unchanged view costs nothing. */
export function text(node, value) {
  if (node.textContent !== value) node.textContent = value;
}
export function attr(node, name, value) {
  if (value === null || value === false) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
  } else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}
export function show(node, visible) {
  if (node.hidden === visible) node.hidden = !visible;
}

/** A button with a drawn icon and a name for those who cannot see it. */
export function button(parent, { label, icon, text, cls, hint }) {
  const button = el(
    "button",
    { type: "button", class: "sq-btn " + (cls || ""), title: hint || label },
    parent,
  );
  if (label) button.setAttribute("aria-label", label);
  if (icon) drawIcon(button, icon);
  if (text) el("span", { text }, button);
  return button;
}
export function drawIcon(parent, name) {
  const box = svg("svg", { viewBox: "0 0 24 24", class: "sq-icon", "aria-hidden": "true" }, parent);
  svg("path", { d: ICONS[name] }, box);
  return box;
}
export function setIcon(button, name) {
  attr(button.querySelector("path"), "d", ICONS[name]);
}

/** A list of elements that grows when needed and hides what is left over. */
export function pool(make) {
  const items = [];
  return {
    items,
    take(count) {
      while (items.length < count) items.push(make(items.length));
      items.forEach((item, i) => {
        const node = item.node || item;
        const display = i < count ? "" : "none";
        if (node.style.display !== display) node.style.display = display;
      });
      return items;
    },
  };
}

/** The inner size of an element, kept by an observer so that painting never has to ask for a layout. */
export function sized(node, onChange) {
  const size = { w: 0, h: 0 };
  new ResizeObserver((entries) => {
    const box = entries[entries.length - 1].contentRect;
    if (box.width === size.w && box.height === size.h) return;
    Object.assign(size, { w: box.width, h: box.height });
    onChange();
  }).observe(node);
  return size;
}

/** What costs time and is only looked at further down the page waits until half of `node` is in sight, and stays there: what is
        scrolled past, or has not come to its place yet, is left alone. */
export function onceVisible(node, then) {
  let timer = 0;
  const eye = new IntersectionObserver(
    (entries) => {
      clearTimeout(timer);
      if (entries[entries.length - 1].isIntersecting)
        timer = setTimeout(() => (eye.disconnect(), then()), STAYS);
    },
    { threshold: 0.5 },
  );
  eye.observe(node);
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
