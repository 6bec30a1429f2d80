/* Hides and shows the form beside a view, for each tab separately. In a narrow window the form is a
   drawer over the view, closed at first, so that the result is visible. */
import { onOpened, openView } from "./navigation.js";

const HIDDEN = "is-alone"; // class of a tab's page whose form is hidden, in a wide window
const DRAWN = "is-drawn"; // class of a tab's page whose drawer is open, in a narrow window
const FRAMES = 120; // most frames to wait until Run is shown
const NARROW = matchMedia("(max-width: 960px)"); // as in page.css

/** @type {() => HTMLElement | undefined} */
function openPage() {
  /** @type {NodeListOf<HTMLElement>} */
  const pages = document.querySelectorAll(".pg-page");
  return [...pages].find((page) => page.offsetParent);
}

/** @type {(page: Element) => boolean} */
const isShown = ({ classList }) =>
  NARROW.matches ? classList.contains(DRAWN) : !classList.contains(HIDDEN);

/**
 * Show or hide the form of a tab.
 * @param {Element} view the tab's view, or any other element of the tab
 * @param {boolean} wanted whether to show the form
 */
export function showForm(view, wanted) {
  const page = view.closest(".pg-page");
  if (!page || isShown(page) === wanted) return;
  page.classList.toggle(NARROW.matches ? DRAWN : HIDDEN);
  followForm();
  window.dispatchEvent(new Event("resize"));
}

/** Show or hide the form of the open tab. */
export function toggleForm() {
  const page = openPage();
  if (page) showForm(page, !isShown(page));
}

/** Make the header's button indicate whether the form of the open tab is shown. */
export function followForm() {
  const button = document.querySelector(".pg-top [data-act=panel]");
  const page = openPage();
  const isOpen = page ? isShown(page) : !NARROW.matches;
  button?.setAttribute("aria-expanded", String(isOpen));
  button?.toggleAttribute("data-unused", !page); // the open view has no form
}

// Closes the drawer when the visitor clicks beside it, or on a button that starts or stops
// something.
function press(event) {
  const target = /** @type {Element} */ (event.target);
  if (!NARROW.matches) return;
  const page = target.closest?.(`.pg-page.${DRAWN}`);
  if (page && (target === page || target.closest(".pg-go button"))) showForm(page, false);
}

function closeByKey(event) {
  const page = openPage();
  if (event.key !== "Escape" || !NARROW.matches || !page || !isShown(page)) return;
  // Ignore an Escape that was handled already, and one that menus.js sends to close a menu.
  if (event.defaultPrevented || !event.isTrusted) return;
  event.preventDefault();
  showForm(page, false);
  /** @type {HTMLElement | null} */
  const button = document.querySelector(".pg-top [data-act=panel]");
  button?.focus();
}

onOpened(() => requestAnimationFrame(followForm));
document.addEventListener("click", press);
document.addEventListener("keydown", closeByKey);
NARROW.addEventListener("change", followForm);

const TOURING = "is-from-tour"; // class of the page while Run shows its way back to the tour

/** @param {boolean} wanted whether Run shows its way back to the tour */
export function markFromTour(wanted) {
  document.body.classList.toggle(TOURING, wanted);
}

/** Open Run with its form, and focus its main button. */
export function goToForm() {
  openView("run");
  focusWhenShown(FRAMES);
}

// Gradio makes and shows the view some frames later, and a hidden element cannot have the focus.
function focusWhenShown(frames) {
  const view = document.querySelector("#pg-view .sq-stage");
  if (view) showForm(view, true);
  const run = document.getElementById("pg-run");
  if (run?.offsetParent) run.focus();
  else if (frames) requestAnimationFrame(() => focusWhenShown(frames - 1));
}
