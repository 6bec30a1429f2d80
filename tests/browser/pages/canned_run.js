/* An invented run of several lanes for the test page. Its random numbers depend only on the seed,
   so the same seed always gives the same run. */

const WORDS =
  "def mean ( values ) : \n     total = 0 \n     for value in values : \n         total += value \n     return total / len ( values ) \n\n".split(
    " ",
  );
const PLAIN = 0.018; // seconds per token of plain decoding
const KINDS = [
  {
    name: "Sequoia, planned",
    kind: "planned",
    how: "planned for this machine",
    verifier: "sequoia",
    nodes: 64,
    mean: 3.4,
    draft: 1.1,
    verify: 1.5,
    over: 0.12,
  },
  {
    name: "Plain",
    kind: "plain",
    how: "no draft",
    verifier: "sequoia",
    nodes: 1,
    mean: 1,
    draft: 0,
    verify: 0.93,
    over: 0.07,
    plain: true,
  },
  {
    name: "Chain of 5",
    kind: "chain",
    how: "chain",
    verifier: "sequoia",
    nodes: 5,
    mean: 2.5,
    draft: 0.75,
    verify: 1.1,
    over: 0.08,
  },
  {
    name: "Grown at run time",
    kind: "dynamic",
    how: "grown along the draft's distributions",
    verifier: "naive",
    nodes: 32,
    mean: 1.35,
    draft: 0.9,
    verify: 1.4,
    over: 0.2,
    changes: true,
  },
];

/** A function that returns random numbers between 0 and 1 (Park and Miller's generator). */
function chance(seed) {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

function step(kind, lane, left, dice, at, index) {
  const n = Math.max(
    1,
    Math.min(Math.round(kind.plain ? 1 : kind.mean + (dice() - 0.5) * 3), left),
  );
  const noise = 0.9 + 0.2 * dice();
  const path = Array.from({ length: n }, (_, node) => node);
  const tokens = Array.from({ length: kind.nodes }, (_, node) => (at + node) % WORDS.length);
  return {
    index,
    prefix_len: at,
    tree: lane,
    tokens,
    draft_p: tokens.map(() => 0.5),
    target_p: tokens.map(() => 0.5),
    verdict: { path, bonus: (at + n) % WORDS.length, trials: [] },
    emitted: Array.from({ length: n }, (_, k) => (at + k) % WORDS.length),
    finish: n === left ? "length" : null,
    text: Array.from({ length: n }, (_, k) => WORDS[(at + k) % WORDS.length] + " "),
    seconds: {
      draft: PLAIN * kind.draft * noise,
      verify: PLAIN * kind.verify * noise,
      overhead: PLAIN * kind.over,
    },
  };
}

/** All steps in order. Of the lanes that are not done, the one with the least total time makes the
    next step. */
function steps(kinds, tokens, dice) {
  const clocks = kinds.map(() => 0);
  const done = kinds.map(() => 0);
  const made = kinds.map(() => 0);
  const all = [];
  const lanes = [];
  while (done.some((count) => count < tokens)) {
    let lane = -1;
    clocks.forEach(
      (clock, i) => done[i] < tokens && (lane < 0 || clock < clocks[lane]) && (lane = i),
    );
    const one = step(kinds[lane], lane, tokens - done[lane], dice, done[lane], made[lane]);
    made[lane]++;
    done[lane] += one.text.length;
    clocks[lane] += one.seconds.draft + one.seconds.verify + one.seconds.overhead;
    all.push(one);
    lanes.push(lane);
  }
  return { steps: all, step_lanes: lanes };
}

function analysis(kind) {
  const lossless = kind.changes ? "Differs at a near tie of the target's logits." : "";
  if (kind.plain) return { bars: [], advice: null, lossless, rule: "" };
  const ends = [
    1,
    kind.verify + 0.07,
    kind.verify + kind.draft + 0.07,
    kind.verify + kind.draft + kind.over,
  ].map((cost) => kind.mean / cost);
  const words = [
    "the speed-up if a step cost no more than a plain token.",
    "The target's pass over a tree takes longer than over one token.",
    "The tree has to be drafted.",
    "All the rest of a step.",
  ];
  const bars = ["tokens", "verify", "draft", "overhead"].map((name, i) => ({
    name,
    value: ends[i],
    loss: i ? ends[i - 1] - ends[i] : 0,
    words: words[i],
  }));
  const remedies = [
    {
      words: "A smaller tree of the same shape, 4 nodes on 4 levels",
      predicted: ends[3] * 1.2,
      label: "predicted",
      parents: [-1, 0, 1, 2],
    },
    {
      words: "A smaller draft: half the time, the same acceptance",
      predicted: ends[3] * 1.3,
      label: "predicted, what if",
      parents: null,
    },
  ];
  const words_of = ends[3].toFixed(2) + "× plain decoding. Largest loss: drafting.";
  const advice = { speedup: ends[3], words: words_of, remedies };
  return { bars, advice, lossless, rule: "" };
}

const result = (kind) => ({
  lossless: {
    kind: kind.changes ? "tie" : kind.plain ? "none" : "exact",
    match: { index: kind.changes ? 41 : null },
  },
});

/** A whole run as one message. */
export function cannedRun({ lanes = 4, tokens = 128, plain = true, seed = 7 } = {}) {
  const kinds = KINDS.filter((kind) => plain || !kind.plain).slice(0, lanes);
  return {
    v: 1,
    run: "demo-" + [lanes, tokens, plain, seed].join("-"),
    from: 0,
    meta: {
      label: "recorded",
      title: "simulated",
      target: "synthetic-target",
      draft: "synthetic-draft",
      device: "no device",
      dtype: "float32",
      prompt: "def mean(values):\n",
      date: "2026-11-21",
      params: { temperature: 0, top_p: 1, max_new_tokens: tokens, seed: 0, ignore_eos: true },
      versions: {},
    },
    lanes: kinds.map(
      ({ name, kind, how, verifier, nodes, plain: bare = false, changes = false }) => ({
        name,
        kind,
        description: how,
        verifier,
        plain: bare,
        most: nodes,
        changes,
      }),
    ),
    trees: kinds.map(({ nodes }) => Array.from({ length: nodes }, (_, node) => node - 1)),
    pieces: Object.fromEntries(WORDS.map((word, id) => [id, word + " "])),
    ...steps(kinds, tokens, chance(seed)),
    done: true,
    error: null,
    notice: null,
    results: kinds.map(result),
    analysis: kinds.map(analysis),
  };
}

/** Send `run` to `stage` as if it were running: every `pause` ms a batch of `size` steps. */
export function deliver(stage, run, size, pause) {
  return new Promise((over) => {
    let from = 0;
    const timer = setInterval(() => {
      const { lanes, trees, pieces } = run;
      const head = from ? {} : { meta: { ...run.meta, label: "measured" }, lanes, trees, pieces };
      const done = from + size >= run.steps.length;
      stage.ingest({
        v: 1,
        run: run.run,
        from,
        ...head,
        steps: run.steps.slice(from, from + size),
        step_lanes: run.step_lanes.slice(from, from + size),
        done,
        error: null,
        notice: null,
        ...(done ? { results: run.results, analysis: run.analysis } : {}),
      });
      from += size;
      if (!done) return;
      clearInterval(timer);
      over();
    }, pause);
  });
}
