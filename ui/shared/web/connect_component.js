/* Joins a Gradio HTML component to the view that draws its value. */

const ASK_MS = 2000; // a value that has not come by then is asked for

/**
 * Give `view.take` every new value of a component, parsed, or {error} where it is not JSON.
 * A tab that is built while the page loads can be too late for its first value: then `ask` is
 * called. `root.view` is set to the view, for tests and for a look from the console.
 * @param {HTMLElement} root
 * @param {{value?: string}} props what Gradio gives the component
 * @param {(name: string, changed: () => void) => void} watch Gradio's, called on each new value
 * @param {{take: (message: any) => void}} view
 * @param {() => void} [ask]
 */
export function connectComponent(root, props, watch, view, ask) {
  let last = "";
  const update = () => {
    if (!props.value || props.value === last) return;
    last = props.value;
    view.take(parsed(last));
  };
  Object.assign(root, { view });
  update();
  watch("value", update);
  if (ask) setTimeout(() => props.value || ask(), ASK_MS);
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (problem) {
    return { error: "A message from the server could not be read: " + problem.message };
  }
}

/**
 * Call `shown` each time `root` comes into view, as when its tab is opened.
 * @param {HTMLElement} root
 * @param {() => void} shown
 */
export function whenShown(root, shown) {
  let before = false;
  new IntersectionObserver((entries) => {
    const now = entries[entries.length - 1].isIntersecting;
    if (now && !before) shown();
    before = now;
  }).observe(root);
}
