/* Where the browser keeps a visitor's place in the tour. */
const KEPT = "sequoia-tour";

/** @returns {string | null} the kept place; null where there is none */
export function keptPlace() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

/** @param {string} place */
export function keepPlace(place) {
  try {
    localStorage.setItem(KEPT, place);
  } catch {
    // a browser may refuse to keep anything; the tour then begins anew after a reload
  }
}
