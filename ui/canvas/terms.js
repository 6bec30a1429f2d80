/* Words with an explanation in place: a dotted line below, and a sentence for the pointer, the focus and a tap. Knows no view. */
(function (S) {
  "use strict";

  const { el, attr, text } = S.dom;
  const GAP = 6, EDGE = 8; // px to the word, and to the edges of the window

  const TERMS = (S.TERMS = {
    "law": "A law is how probable the target holds each possible next token to be, after temperature and top-p. A decoder is lossless if its tokens follow the target’s law.",
    "clock": "Each lane has a clock of its own, which counts the time of its own steps only, as if it had the machine to itself. Lanes move in turns, the one furthest behind first.",
    "tokens a step": "Tokens emitted for each pass of the target. Plain decoding makes one.",
    "per token": "Time on the lane’s clock for each token emitted.",
    "mean nodes": "Nodes of the lane’s trees, the root included, in the mean over its steps. The target checks all of them in one pass.",
    "from the draft": "Share of the tokens that the draft proposed and the target accepted; the others are the target’s own.",
    "repeats": "Share of the runs of eight tokens (8-grams) that stood in this text before. What repeats is easy to draft, so a text that loops flatters every speculative decoder.",
    "draft": "Time the small model takes to propose the tree.",
    "verify": "Time of the target’s one pass over the whole tree.",
    "overhead": "All other time of a step: choosing tokens, keeping what was accepted, bookkeeping.",
    "range": "Where the speed-up of this text lies, about 95 % sure, from how much the pace changes between eight stretches of each run. A range that includes 1 shows no clear difference. A machine that is slower for the whole of one run than of the other is not in it.",
    "place": "The order in which lanes reached the finish line, or the end of their own text, on their clocks. A lane’s place counts the lanes that came earlier and were clearly faster: where the difference may be chance, lanes share a place.",
    "verifier": "How the target decides which drafted tokens to keep. All three keep its law; they differ in how many they accept. Sequoia: children are drawn without replacement, and each is tried against what the ones before it left of the target’s law. SpecInfer: drawn with replacement, so one token may stand in several children. Top-k match: the draft’s likeliest tokens; the target draws its own, and the child that carries it is kept.",
    "tree": "What the draft proposes in each step: several continuations at once, sharing their beginnings. Planned for this machine: of the trees predicted within 1 % of the fastest, the one with the most tokens a step.",
    "on": "Where the models ran. On a CPU the app leaves one core free for the page itself, so that of two cores they use one thread.",
    "temperature": "0 always takes the most probable token; higher values draw more freely.",
    "top-p": "Only the most probable tokens that together have this share are drawn from; 1 keeps all.",
    "tokens": "Tokens to make at most.",
    "seed": "Fixes the random draws: the same seed, settings and tree make the same text. A tree planned for this machine follows its times, which differ from one measurement to the next; for a demonstration that repeats, choose one whose size is given.",
    "lossless": "Whether the lane’s text is the target’s own: token by token at temperature 0, by the law of its tokens above.",
    "bits": "Entropy: how uncertain a law is. A fair coin has 1 bit, a certain token 0.",
    "chi-square": "How far the counts are from what the law lets expect: the squared differences, each over its expectation, added up. d.f. are its degrees of freedom, the rows less one.",
    "p-value": "The chance that a right decoder is off by this much or more. Under a right law it can be any number from 0 to 1; below one in a thousand the fit is called poor, and below one in a million the law is called different: it is looked at again and again, and a right law falls below any milder bound sooner or later.",
    "decisive trial": "The last token that was tried in this step: its acceptance or rejection ended the walk down the tree. Point at another node, or press it, to see that one.",
    "no trial in this step": "Nothing was drafted, so there was nothing to accept or to reject.",
    "pinned": "This node was chosen by a press and stays here until another is, or until Escape.",
    "under the pointer": "The node that the pointer is on; without one, the decisive trial is shown.",
    "tokens per step": "Tokens emitted for each pass of the target. Plain decoding makes one.",
    "tokens per second": "Tokens emitted over the time of the steps so far, draft and target together.",
    "speed-up": "How many times as fast as plain decoding of the same prompt on the same machine. Its range is about 95 % sure, from how much the pace of both runs changes along them; one that includes 1 shows no clear difference.",
    "accepted per step": "Drafted tokens that the target accepted, in the mean over the steps. The target adds one of its own to them.",
    "tokens emitted": "Tokens of the text so far, as far as the step shown.",
    "lane": "One way to decode the prompt. Choose what proposes its tokens: nothing (plain decoding), a chain, or a tree of one of these shapes.",
    "tree size": "How large the tree is. Larger trees are accepted further and take longer to draft and to check.",
    "chat": "The prompt is put into the models’ own template for messages, which models trained to chat expect.",
    "waterfall": "From tokens a step down to the measured speed-up: what each part of a step’s time takes off.",
    "predicted": "By the planner, from this run’s own times and acceptance.",
    "what if": "With a draft or a target that is not there.",
    "compare": "Afterwards the same prompt is decoded plainly for a moment, to say how much faster the run was.",
    "check": "After the race, at temperatures above 0: a step is made again and again with other seeds, and its first tokens are counted against the target’s law. Stop ends it.",
  });

  /** A word of `TERMS` with its explanation; `key` where the word itself is another. */
  S.term = function (host, word, key = word, cls = "") {
    return mark(el("button", { type: "button", class: ("sq-term " + cls).trim(), text: word }, host), key);
  };

  /** Explain `node` as the term `key`, or no longer, without one. */
  function mark(node, key) {
    const known = Boolean(key) && Object.hasOwn(TERMS, key);
    attr(node, "data-term", known ? key : null);
    attr(node, "aria-describedby", known ? described(key) : null);
    return node;
  }
  S.term.mark = mark;

  /** The id of the explanation, which stands in the page once for those who hear it. */
  function described(key) {
    const id = "sq-term-" + key.replace(/\W+/g, "-");
    if (!document.getElementById(id)) el("span", { id, hidden: "", text: TERMS[key] }, document.body);
    return id;
  }

  // -- the card -------------------------------------------------------------------------------------------------------------

  let card = null, shown = null, spot = null; // the word it belongs to, and where that stood

  function open(node) {
    card ||= el("div", { class: "sq-explains", popover: "manual", "aria-hidden": "true" }, document.body);
    shown = node;
    text(card, TERMS[node.dataset.term]);
    card.showPopover();
    place();
  }

  /** Below the word, or above it where there is no room. */
  function place() {
    const word = (spot = shown.getBoundingClientRect()), box = card.getBoundingClientRect();
    const below = word.bottom + GAP + box.height < innerHeight - EDGE;
    card.style.left = Math.max(EDGE, Math.min(word.left, innerWidth - box.width - EDGE)) + "px";
    card.style.top = (below ? word.bottom + GAP : Math.max(word.top - GAP - box.height, EDGE)) + "px";
  }

  function close() {
    if (shown) card.hidePopover();
    shown = null;
  }

  const found = (event) => event.target.closest?.("[data-term]");

  for (const name of ["pointerover", "focusin"]) {
    document.addEventListener(name, (event) => {
      const node = found(event);
      if (node !== shown) close();
      if (node && node !== shown) open(node);
    });
  }
  S.term.open = open;
  document.addEventListener("focusout", close);
  document.addEventListener("scroll", () => {
    if (!shown) return;
    const now = shown.getBoundingClientRect();
    if (now.top === spot.top && now.left === spot.left) return; // something else scrolled
    if (shown === document.activeElement) place(); // the focus may have brought its word into sight
    else close();
  }, { capture: true, passive: true });
  document.documentElement.addEventListener("pointerleave", close);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !shown) return;
    close();
    event.preventDefault(); // or the same key would stop a run
  }, { capture: true });
})((window.Sequoia = window.Sequoia || {}));
