/* Prints the page as it is on screen, scaled to the paper: pictures and charts keep the width for
   which they were drawn. The style sheet print.css does the rest. */

const PAPER = 700; // px between the margins of the narrowest usual paper, A4

window.addEventListener("beforeprint", () => {
  const { clientWidth: width, style } = document.documentElement;
  style.setProperty("--print-width", width + "px");
  style.setProperty("--print-zoom", String(Math.min(1, PAPER / width)));
});
