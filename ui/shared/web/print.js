/* Prints the page as it is on screen, scaled to the paper: pictures and charts keep the width for
   which they were drawn. The style sheet print.css does the rest. */

const PAPER = 700; // px between the margins of the narrowest usual paper, A4

window.addEventListener("beforeprint", () => {
  const stages = [...document.querySelectorAll(".sq-stage")];
  const width = Math.max(...stages.map((stage) => stage.clientWidth)) || PAPER;
  const { style } = document.documentElement;
  style.setProperty("--print-width", width + "px");
  style.setProperty("--print-zoom", String(Math.min(1, PAPER / width)));
  for (const split of document.querySelectorAll(".sq-tree-split")) fitTree(split);
});

// On screen a wide tree is scrolled; on paper it is scaled to its panel.
function fitTree(split) {
  const { scrollWidth } = split.querySelector(".sq-tree-scroll");
  const share = split.parentElement.clientWidth / scrollWidth;
  split.style.setProperty("--print-zoom-tree", String(Math.min(1, share || 1)));
}
