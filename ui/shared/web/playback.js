/* What everything that plays shares. */

/** A frame advances by at most this many seconds, so that a tab that slept does not jump ahead. */
export const SLOWEST_FRAME = 0.25;

/** @returns {boolean} whether the visitor's system asks for no motion */
export const prefersStillness = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
