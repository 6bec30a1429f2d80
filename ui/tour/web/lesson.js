/* The settings and sentences of the tour. */
import TOUR from "../../../assets/lessons/tour.json" with { type: "json" };

/** @type {Record<string, any>} */
export const LESSON = TOUR;
