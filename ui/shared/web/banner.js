/* The line of a view with an error or a notice. */
import { attr, el, show, text } from "./dom.js";

/**
 * A new banner, appended to `host`. It is hidden while it has no words.
 * @param {HTMLElement} host
 * @returns {(words: string, isError: boolean) => void} a function that shows words
 */
export function makeBanner(host) {
  const look = { class: "sq-banner", role: "status", "data-part": "banner", hidden: "" };
  const banner = el("p", look, host);
  return (words, isError) => {
    const isNew = banner.textContent !== words;
    text(banner, words);
    show(banner, Boolean(words));
    attr(banner, "role", isError ? "alert" : "status");
    banner.classList.toggle("sq-banner-error", isError);
    // the visitor may have scrolled to a part of the form from which the banner is not visible
    if (isError && isNew) banner.scrollIntoView({ block: "nearest" });
  };
}
