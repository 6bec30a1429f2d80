/* Components that show HTML which the server wrote. Gradio puts it into the page. */

/** @import { Props } from "./connect_component.js" */

/** @type {Map<string, {props: Props | null, html: string | null}>} by the component's id; `props`
 * is null before the component is there, `html` before the first call of `showHtml` */
const hosts = new Map();

/** @type {(id: string) => {props: Props | null, html: string | null}} */
function hostOf(id) {
  if (!hosts.has(id)) hosts.set(id, { props: null, html: null });
  return hosts.get(id);
}

/**
 * @param {string} id of the component
 * @param {string | null} html written by the server; null to show what is there already
 */
export function showHtml(id, html) {
  const host = hostOf(id);
  host.html = html;
  if (host.props && html !== null && host.props.value !== html) host.props.value = html;
}

/**
 * Called from a component's js_on_load with what Gradio gives it.
 * @param {HTMLElement} element
 * @param {Props} props
 */
export function connect(element, props) {
  const { id } = element.closest("[id$='-view']");
  hostOf(id).props = props;
  showHtml(id, hostOf(id).html);
}
