// Made by .ci/schema_types.py from the types in sequoia/saved_files. Do not edit.

export interface AdviceShown {
  speedup: number;
  words: string;
  remedies: RemedyShown[];
}

export interface AnalysisShown {
  bars: BarShown[];
  advice: AdviceShown | null;
  lossless: string;
  rule: string;
}

export interface BarShown {
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

export interface ChainNote {
  code: "missing_chain";
  prompt_name: string;
  nodes: number;
  speedup: number;
  hypothetical: boolean;
}

export interface Diagnosis {
  costs: TimeBreakdown;
  good_tokens: number;
  losses: Loss[];
  remedies: Remedy[];
  noise: number;
  unclear?: Remedy[];
}

export interface Elsewhere {
  clock: string;
  ratio: number;
}

export interface ExpectedSteps {
  tokens: number[];
  steps: number[][];
}

export interface Headline {
  prompt_name: string;
  code: "wins" | "too_close" | "too_short";
  winner?: number;
  rival?: number;
  best?: string;
}

export interface InsteadNote {
  code: "instead";
  lanes: string[];
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
  rule?: "" | "chains" | "trees";
}

export interface LanePlace {
  place: number;
  tied: boolean;
}

export interface LaneShown {
  name: string;
  description: string;
  rule: string;
  verifier: string;
  plain: boolean;
  most: number;
  changes: boolean;
  prompt_name: string;
  kind: string | null;
  number: number | null;
  rates: string;
  nodes: number | null;
  levels: number | null;
  why: string;
  request: (string | number | number)[] | null;
}

export interface LaneSpeedup {
  over: number;
  code: "win" | "slower" | "no_clear_difference";
  ratio: number;
  low: number | null;
  high: number | null;
}

export interface Loss {
  name: "acceptance" | "draft" | "verify" | "overhead";
  without: number;
}

export interface Lossless {
  kind: "exact" | "tie" | "bug" | "undecided" | "fits" | "poor" | "blind" | "none";
  label: "measured" | "recorded";
  match?: TextMatch | null;
  p_value?: number | null;
  count?: SampleCount | null;
  why?: "" | "no_plain_text" | "two_prompts" | "not_requested" | "time_limit" | "other_run" | "stopped";
}

export interface Opening {
  median: number;
  range: [number, number];
  prompts: [string, number][];
}

export interface PairVerdict {
  faster: number;
  slower: number;
  ratio: number;
  least: number;
  most: number;
  per_step: number;
  step_time: number;
  p: number | null;
  apart: boolean;
  per_step_range: [number, number];
  step_time_range: [number, number];
  expected?: boolean;
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

export interface Place {
  index: number;
  margin: number;
  error: number;
}

export interface Pool {
  runs?: PooledRun[];
  verdicts?: number;
  stopped?: boolean;
}

export interface PoolShown {
  runs: RunShown[];
  more: number;
  more_seconds: number;
  most: number;
  kind: string;
  seeds: boolean;
  planned: number | null;
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
  floor_seconds?: number;
  versions?: Record<string, string>;
  opening?: Opening;
  second_prompt?: string;
  notes?: (RatesNote | ChainNote | RepeatNote | InsteadNote)[];
  elsewhere?: Elsewhere;
}

export interface RaceLog {
  meta: RaceFields;
  lanes: LaneLog[];
  results?: (Result | null)[] | null;
  pool?: Pool | null;
  expected_steps?: (ExpectedSteps | null)[] | null;
}

export interface RaceVerdict {
  order: number[];
  places: (LanePlace | null)[];
  pairs: PairVerdict[];
  prompts: number;
  races: number;
  tokens: number;
  stopped: boolean;
  paired: boolean;
  more_races: number | null;
  looks?: number;
  clock?: string;
  speedup_ratios?: SpeedupRatio[];
  headlines?: Headline[];
  speedups?: (LaneSpeedup | null)[];
}

export interface RateSource {
  prompt_name: string;
  label: "measured" | "recorded";
  kind: string;
  has_prompt: boolean;
}

export interface RatesNote {
  code: "rates";
  sources: RateSource[];
}

export interface Remedy {
  change: "plain" | "fastest_tree" | "smaller_draft" | "larger_target";
  predicted: number;
  tree?: number[] | null;
}

export interface RemedyShown {
  words: string;
  predicted: number;
  label: string;
  parents: number[] | null;
}

export interface RepeatNote {
  code: "repeat";
  prompt_name: string;
  lane: string;
  other: string;
  nodes: number;
  levels: number;
}

export interface ResidualHead {
  tokens: number[];
  p: number[];
  q?: number[];
}

export interface Result {
  time_breakdown?: TimeBreakdown | null;
  what_to_try?: Diagnosis | null;
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
  floor_seconds?: number;
  versions?: Record<string, string>;
  verifier?: string;
  tree?: TreeMeta;
  acceptance?: number[];
}

export interface RunShown {
  prompt: string;
  seed: number | null;
  seconds: (number | null)[];
}

export interface SampleCount {
  draws: number;
  wanted: number;
  going: boolean;
  limit: number;
  lane: number;
  position: number;
  looked: number;
  bits: number;
  context: string;
  freedom: number;
  cells: Cell[];
  statistic?: number | null;
  detectable_difference?: number | null;
}

export interface SpeedupRatio {
  name: string;
  larger: string;
  smaller: string;
  ratio: number;
  least: number;
  most: number;
}

export interface StepCosts {
  tokens: number;
  draft: number;
  verify: number;
  overhead: number;
  plain: number;
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

export interface TextMatch {
  verdict: "exact" | "tie" | "bug" | "undecided";
  compared: number;
  dtype: string;
  index?: number | null;
  first?: Place | null;
  later?: Place | null;
  problem?: string;
}

export interface TimeBreakdown {
  step: StepCosts;
  token: StepCosts;
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
