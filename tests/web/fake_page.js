// A page without a browser: as much of `document` and `matchMedia` as modules need when they are
// imported, and elements that keep what is written to them. Import it before those modules.

const listens = { addEventListener() {} };

globalThis.document = /** @type {any} */ ({ ...listens, documentElement: listens });
globalThis.matchMedia = /** @type {any} */ (() => ({ ...listens, matches: false }));

/** An element without children. Nevertheless, `querySelector` finds a new element each time. */
export class FakeNode {
  attributes = {};
  dataset = {};
  hidden = false;
  textContent = "";
  classList = { toggle() {} };
  getAttribute(name) {
    return this.attributes[name] ?? null;
  }
  setAttribute(name, value) {
    this.attributes[name] = String(value);
  }
  hasAttribute(name) {
    return name in this.attributes;
  }
  removeAttribute(name) {
    delete this.attributes[name];
  }
  addEventListener() {}
  querySelector() {
    return new FakeNode();
  }
}

/**
 * An object of a class, made without its constructor, which would need a browser.
 * @template T
 * @param {{prototype: T}} kind
 * @param {object} fields
 * @returns {any}
 */
export const made = (kind, fields) => Object.assign(Object.create(kind.prototype), fields);
