/* The settings, machine and date of a lane's run as short facts. */
import { count } from "../../shared/web/format.js";
import { sharedFacts } from "../../shared/web/run_facts.js";
import { sourced, verifier as nameOf } from "../../shared/web/run_words.js";

/**
 * @import { LaneRun } from "./lane_run.js"
 * @import { Fact, Meta } from "../../shared/web/run_facts.js"
 */

/**
 * @param {Meta} meta of the run or race
 * @param {LaneRun} [lane] of a race
 * @returns {Fact[]}
 */
export function runFacts(meta, lane) {
  const { nodes, levels, description, rates } = meta.tree ?? lane?.about ?? {};
  const verifier = meta.verifier ?? lane?.about.verifier;
  const words = sourced(description ?? "", rates);
  const sizes = [nodes && count(nodes, "node"), levels && count(levels, "level"), words];
  return sharedFacts(meta, [
    ["lane", lane?.about.name ? lane.title : ""],
    ["tree", nodes || description ? sizes.filter(Boolean).join(", ") : ""],
    ["verifier", verifier === "sequoia" ? "" : nameOf(verifier)],
  ]);
}
