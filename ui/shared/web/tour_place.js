/* Stores a visitor's place in the tour, with the answers so far, in the browser. */
const KEY = "sequoia-tour";

/** @returns {string | null} the stored place, as written by tour_state.js; null if there is none */
export const keptPlace = () => localStorage.getItem(KEY);

/** @param {string} place as written by tour_state.js */
export function keepPlace(place) {
  localStorage.setItem(KEY, place);
}
