/* What the words of the Lab and Hardware tabs mean, for terms.js. */
(function (S) {
  "use strict";

  Object.assign(S.TERMS, {
    // acceptance
    "acceptance": "How often a step goes on to the child of each rank: a[1] to the first one drawn, a[2] to the second, and so on. Trees are planned with these shares.",
    "sum of rates": "What the sum leaves to 1 is the chance that no child is accepted and the target puts a token of its own there.",
    "exponent": "How fast rates fall in a power law: child k has first · k^−exponent.",
    "first rate": "The rate of the first child; the others follow from it.",
    "ranks": "How many children the vector has rates for.",
    "smoothed": "Counts of small shares rise here and there by chance. Trees are planned with the nearest vector that never rises from one rank to the next.",
    "power-law fit": "The curve first · k^−exponent that comes nearest to the rates, looked at on logarithmic scales.",
    "interval": "Where the true share lies, about 95 % sure, given how many times the rank was tried (Wilson’s interval).",
    "way decode": "On-policy: decode with 16 children at the root of every step and count the rank that is accepted, with the very sampler that decodes.",
    "way levels": "On-policy: decode with a tree of five levels and count by rank and level. The table shows where acceptance depends on the level, which planning takes it not to do.",
    "way own": "Teacher-forced: the target writes on by plain decoding. At each place of its text the laws of target and draft are compared, without a tree.",
    "way text": "Teacher-forced: target and draft are compared at each place of the prompt itself, read once. The cheapest way, in contexts the target did not write.",
    "counted prompts": "What is decoded or read while acceptance is counted. Code is easier to draft than prose.",
    // trees
    "levels": "How deep a tree is, its root included. Each level but the first costs a pass of the draft.",
    "budget": "Nodes of the tree, the root included. The target checks all of them in one pass.",
    "expected": "Worked out from the acceptance vector alone, for any machine: the root counts 1, every other node the chance that a step accepts it.",
    "predicted here": "Worked out from the acceptance vector and the times named above. Nothing was run.",
    "draft pass": "One pass of the draft over all nodes of a level that have children; its rows are those nodes.",
    "gain against cost": "Gain: tokens a step that the n-th node adds. Cost: the tokens that its time would have made with the other nodes. Where gain is above cost, one node more makes decoding faster.",
    "of best": "Expected tokens a step, as a share of those of the best tree with as many nodes.",
    "ceiling": "What a shape’s tokens a step come near to with ever more nodes and never pass. Trees that branch by worth have none as low.",
    "shape best": "The tree with the most expected tokens of all with this many nodes and at most that many levels, as the paper’s dynamic programming finds it.",
    "shape fitted": "The best tree under the level cap that is predicted to be fastest with the times chosen above.",
    "shape hand": "Your own tree, drawn with “By hand” above.",
    "shape sequences": "Chains side by side below the root: independent continuations of the same text.",
    "shape kary": "Every node has k children, level after level, until the nodes are used up.",
    "shape chain": "One continuation: every node has one child. Speculative decoding as it began.",
    // the table of the planner
    "DP table": "T[n, levels, b]: the most expected tokens of a tree with n nodes on at most that many levels, whose root has b children. Each cell is made from smaller ones (dynamic programming), from the acceptance vector alone.",
    "regret": "Tokens a step that are lost by taking this b and not the best one for the same n and levels. 0 at the best b.",
    "gain": "Tokens a step gained over the cell with one node less and the same b.",
    "value": "Expected tokens a step of the best tree of this cell.",
    "best b": "How many children the root of the best tree with n nodes has.",
    "traceback": "From a cell back through those it was made of: each step takes the last child off a node, until the whole tree is known.",
    // times
    "predicted speed-up": "Expected tokens a step, times the time of a plain token, over the predicted time of a step. 1× is plain decoding.",
    "fastest tree": "Of all sizes and level caps looked at, the best tree with the largest predicted speed-up.",
    "time a step": "Predicted: the draft’s passes, one pass of the target over the whole tree, and the overhead.",
    "plain token": "Time of a token of plain decoding: one pass of the target over one node, and the overhead.",
    "knee": "The fewest nodes over which a pass of the target takes twice as long as over one. Up to there more nodes are cheap to check, beyond it they cost nearly in proportion.",
    "t(n)": "Time of one pass of the target over n nodes of a tree.",
    "spread": "Half the distance between the quartiles of the times measured: half of them lie within about this much of the middle one.",
    "speed-up map": "Each cell is the best tree of that size under that level cap: the darker, the faster it is predicted to be. The square marks the fastest.",
    "overhead by nodes": "Draft pass: time of the small model over the nodes of a level. Overhead: all of a step outside both models, by the nodes of the step; what each drafted level adds to it is said below, where it was measured by itself.",
    "prefix": "Tokens of text that stood before the tree while times were taken. A longer text makes every pass slower.",
    "number type": "How the models’ numbers are stored and multiplied, which decides how fast a pass is.",
    "atlas": "Counts of real steps by rank (rows) and depth (columns): of the times the walk stood at a node of a depth, how often it went on to child k.",
    "positional assumption": "Planning takes it that a child’s chance depends on its rank alone and not on its depth. Where the counts contradict that, the sentence below a table says so.",
    "prediction of a run": "The latest run’s tree, timed by this machine’s profile and with recorded acceptance, against what the run did.",
  });
})((window.Sequoia = window.Sequoia || {}));
