/* The form beside a view, which can be hidden: each tab's by itself. The button in the page's
   header says whether that of the open tab is shown. */

const HIDDEN = "is-alone"; // of a page without its form

/** @type {() => HTMLElement | undefined} */
function openPage() {
  /** @type {NodeListOf<HTMLElement>} */
  const pages = document.querySelectorAll(".pg-page");
  return [...pages].find((page) => page.offsetParent);
}

/**
 * Show or hide the form beside a view.
 * @param {Element} view
 * @param {boolean} isShown
 */
export function showForm(view, isShown) {
  const page = view.closest(".pg-page");
  if (!page || page.classList.contains(HIDDEN) === !isShown) return;
  page.classList.toggle(HIDDEN, !isShown);
  followForm();
  window.dispatchEvent(new Event("resize"));
}

/** Show or hide the form of the open tab. */
export function toggleForm() {
  const page = openPage();
  if (page) showForm(page, page.classList.contains(HIDDEN));
}

function followForm() {
  const button = document.querySelector(".pg-top [data-act=panel]");
  const page = openPage();
  if (page) button?.setAttribute("aria-expanded", String(!page.classList.contains(HIDDEN)));
}

document.addEventListener("click", (event) => {
  const tab = /** @type {Element} */ (event.target).closest?.("[role=tab]");
  if (tab) requestAnimationFrame(followForm);
});
