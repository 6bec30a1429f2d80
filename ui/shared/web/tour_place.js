/* Stores a visitor's place in the tour in the browser. */
const KEPT = "sequoia-tour";

/** @returns {string | null} the stored place; null if there is none */
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
    // a browser may refuse to store anything; then the tour starts over after a reload
  }
}
