// A fake page, for tests without a browser. It has as much of `document` and `matchMedia` as the
// tested modules need when they are imported, so import this file before them. Its elements keep
// what is written to them.

const listens = { addEventListener() {} };

globalThis.document = /** @type {any} */ ({ ...listens, documentElement: listens });
globalThis.matchMedia = /** @type {any} */ (() => ({ ...listens, matches: false }));

/** A fake element. It has no children, but `querySelector` returns a new element on each call. */
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
 * An object of the class `kind`, made without calling the constructor, which would need a browser.
 * @template T
 * @param {{prototype: T}} kind
 * @param {object} fields
 * @returns {any}
 */
export const made = (kind, fields) => Object.assign(Object.create(kind.prototype), fields);

/**
 * What the navigation needs of a document whose views have been built.
 * @param {(view: string) => boolean} [isBuilt]
 */
export const navigable = (isBuilt = () => true) => ({
  getElementById: (id) => isBuilt(id.split("-")[1]) && { click() {} },
  querySelector: () => ({ parentElement: { children: [], matches: () => false } }),
  querySelectorAll: () => [],
  dispatchEvent() {},
});
Object.assign(globalThis, {
  scrollTo() {},
  location: { hash: "", href: "http://localhost/" },
});
