// Made by .ci/schema_types.py from the types in sequoia/saved_files. Do not edit.

export interface Again {
  runs: number;
  seconds: number;
}

export interface Bar {
  name: string;
  value: number;
  loss: number;
  words: string;
}

export interface Cell {
  text: string | null;
  more: boolean;
  share: number;
  seen: number;
}

export interface Elsewhere {
  clock: string;
  ratio: number;
}

export interface ExpectedSteps {
  tokens: number[];
  steps: number[][];
}

export interface LaneLog {
  name: string;
  description: string;
  verifier: string;
  plain: boolean;
  most: number;
  changes: boolean;
  run: Run;
  prompt_name?: string;
}

export interface Lossless {
  kind: "exact" | "tie" | "bug" | "undecided" | "fits" | "poor" | "blind" | "none";
  words: string;
  label: "measured" | "recorded";
  index?: number | null;
  p_value?: number | null;
  count?: SampleCount | null;
}

export interface Opening {
  median: number;
  range: [number, number];
  prompts: [string, number][];
}

export interface PaperResult {
  ratio: number;
  target: string;
  draft: string;
  machine: string;
  source: string;
}

export interface Params {
  temperature?: number;
  top_p?: number;
  max_new_tokens?: number;
  seed?: number;
  ignore_eos?: boolean;
}

export interface Phases {
  draft: number;
  verify: number;
  overhead: number;
}

export interface PlainRun {
  seconds: number[];
  text: string[];
  same: number;
  finish: "eos" | "length" | "context" | "time";
  limit: number;
}

export interface Pool {
  runs?: PooledRun[];
  verdicts?: number;
  stopped?: boolean;
}

export interface PooledLane {
  counts: number[];
  seconds: number[];
  tokens: number[];
  expected_steps?: ExpectedSteps | null;
}

export interface PooledRun {
  prompt: string;
  seed: number;
  lanes: PooledLane[];
  second_prompt?: string;
}

export interface RaceFields {
  label?: "measured" | "recorded" | "simulated";
  title?: string;
  about?: string;
  target?: string;
  draft?: string;
  device?: string;
  dtype?: string;
  prompt?: string;
  prompt_tokens?: [string, boolean][];
  chat?: boolean;
  params?: Params;
  date?: string;
  clock?: string;
  clock_machine?: string;
  clock_note?: string;
  hypothetical?: boolean;
  paper?: PaperResult;
  versions?: Record<string, string>;
  second_prompt?: string;
  notes?: string[];
  elsewhere?: Elsewhere;
}

export interface RaceLog {
  meta: RaceFields;
  lanes: LaneLog[];
  results?: (Result | null)[] | null;
  pool?: Pool | null;
  expected_steps?: (ExpectedSteps | null)[] | null;
}

export interface Remedy {
  words: string;
  predicted: number;
  label: "predicted" | "predicted, what if" | "run";
  parents?: number[] | null;
}

export interface ResidualHead {
  tokens: number[];
  p: number[];
  q?: number[];
}

export interface Result {
  time_breakdown?: TimeBreakdown | null;
  what_to_try?: WhatToTry | null;
  lossless?: Lossless | null;
}

export interface Run {
  meta: RunFields;
  pieces: Record<string, string>;
  steps: StepTrace[];
}

export interface RunFields {
  label?: "measured" | "recorded" | "simulated";
  title?: string;
  about?: string;
  target?: string;
  draft?: string;
  device?: string;
  dtype?: string;
  prompt?: string;
  prompt_tokens?: [string, boolean][];
  chat?: boolean;
  params?: Params;
  date?: string;
  clock?: string;
  clock_machine?: string;
  clock_note?: string;
  hypothetical?: boolean;
  paper?: PaperResult;
  versions?: Record<string, string>;
  verifier?: string;
  tree?: TreeMeta;
  plain_seconds?: number | null;
  plain?: PlainRun;
  plain_lane?: boolean;
  verdict?: SpeedupMeta;
  opening?: Opening;
  again?: Again;
  acceptance?: number[];
}

export interface SampleCount {
  draws: number;
  wanted: number;
  going: boolean;
  position: number;
  lane: number;
  bits: number;
  rule: string;
  context: string;
  freedom: number;
  cells: Cell[];
  statistic?: number | null;
  detectable_difference?: number | null;
}

export interface SpeedupMeta {
  code: "win" | "slower" | "no_clear_difference";
  ratio: number;
  low: number | null;
  high: number | null;
  runs: number;
  seconds: [number, number];
  label: "measured" | "recorded" | "simulated";
}

export interface StepTrace {
  index: number;
  prefix_len: number;
  tree: number;
  tokens: number[];
  draft_p: (number | null)[];
  target_p: (number | null)[];
  verdict: Verdict;
  emitted: number[];
  seconds: Phases;
  finish?: "eos" | "length" | "context" | null;
  clock?: string;
  level_seconds?: number[];
  residual_heads?: ResidualHead[];
  text?: string[];
}

export interface TimeBreakdown {
  bars: Bar[];
}

export interface TreeMeta {
  description?: string;
  why?: string;
  request?: (string | number | number)[];
  nodes?: number;
  levels?: number;
  rates?: "measured" | "recorded";
}

export interface Trial {
  node: number;
  token: number;
  p: number;
  q: number;
  u: number | null;
  accepted: boolean;
  mass?: number | null;
}

export interface Verdict {
  path: number[];
  bonus: number;
  trials: Trial[];
}

export interface WhatToTry {
  speedup: number;
  words: string;
  remedies: Remedy[];
  loss?: string | null;
}
