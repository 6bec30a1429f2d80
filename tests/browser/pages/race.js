/* The Race view alone, with a simulated race. ?lanes=2, &noplain, &tokens=512, &dark, &live
   (steps arrive bit by bit, as from a running engine), &empty. */
import { mountRace } from "../../../ui/race/web/race_view.js";
import { cannedRace, deliver } from "./canned_race.js";

window.modules = { cannedRace, deliver };
const query = new URLSearchParams(location.search);
const said = [];
document.body.classList.toggle("dark", query.has("dark"));
const stage = mountRace(document.querySelector(".sq-stage"), {
  trigger: (name, data) => said.push([name, data]),
});
Object.assign(window, { said, stage });
if (!query.has("empty")) {
  const race = cannedRace({
    lanes: Number(query.get("lanes")) || 4,
    tokens: Number(query.get("tokens")) || 128,
    plain: !query.has("noplain"),
  });
  if (query.has("live")) deliver(stage, race, 3, 30);
  else stage.ingest(race);
}
