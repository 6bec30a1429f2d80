/* Stores a visitor's place in the tour, with the answers so far, in the browser. */
const KEY = "sequoia-tour";

/** @returns {string | null} the stored place, as written by tour_state.js; null if there is none */
export function keptPlace() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** @param {string} place as written by tour_state.js */
export function keepPlace(place) {
  try {
    localStorage.setItem(KEY, place);
  } catch {
    // the browser may refuse to store anything
  }
}
