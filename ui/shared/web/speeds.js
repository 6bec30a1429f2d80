/* The speeds at which steps are played: slowed for reading, or at a share of real time. */

/** @typedef {"slow" | "x0.02" | "x0.05" | "x0.1" | "x0.25" | "x0.5" | "x1"} StepRate */

/** Speeds as shares of real time, all below 1, the slowest first. */
export const SHARES = [0.02, 0.05, 0.1, 0.25, 0.5];

/** @type {[StepRate, string]} */
export const SLOW = ["slow", "slow motion"];

/** @type {[StepRate, string]} */
export const REAL = ["x1", "real speed"];

/**
 * The menu's entry for a share of real time.
 * @param {number} share
 * @returns {[StepRate, string]}
 */
export const slowed = (share) => [
  /** @type {StepRate} */ ("x" + share),
  `1/${Math.round(1 / share)} of real speed`,
];

/** @type {[StepRate, string][]} all speeds for playing one step, each with its name */
export const STEP_RATES = [SLOW, ...SHARES.map(slowed), REAL];
