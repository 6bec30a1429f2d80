/* Stands in for the browser's storage where that is blocked: reading `window.localStorage` then
   throws, and Gradio would leave the page empty. */

/** What a page stores until it is closed. */
export class MemoryStorage {
  /** @type {Map<string, string>} */
  #items = new Map();
  get length() {
    return this.#items.size;
  }
  /** @type {(place: number) => string | null} */
  key(place) {
    return [...this.#items.keys()][place] ?? null;
  }
  /** @type {(name: string) => string | null} */
  getItem(name) {
    return this.#items.get(String(name)) ?? null;
  }
  /** @type {(name: string, value: string) => void} */
  setItem(name, value) {
    this.#items.set(String(name), String(value));
  }
  /** @type {(name: string) => void} */
  removeItem(name) {
    this.#items.delete(String(name));
  }
  clear() {
    this.#items.clear();
  }
}

/**
 * Replace the storages that cannot be used.
 * @param {any} page the window
 */
export function replaceBlockedStorage(page) {
  for (const name of ["localStorage", "sessionStorage"])
    if (!works(page, name))
      Object.defineProperty(page, name, { value: new MemoryStorage(), configurable: true });
}

function works(page, name) {
  const key = "sequoia-works";
  try {
    page[name].setItem(key, "yes");
    page[name].removeItem(key);
    return true;
  } catch {
    return false;
  }
}
