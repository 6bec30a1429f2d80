/* Components that show HTML which the server wrote. Gradio puts it into the page. */

/** @import { Props } from "./connect_component.js" */

/** @type {Map<string, {props: Props | null, html: string}>} by the component's id; `props` is null
 * before the component is there */
const hosts = new Map();

/** @type {(id: string) => {props: Props | null, html: string}} */
function hostOf(id) {
  if (!hosts.has(id)) hosts.set(id, { props: null, html: "" });
  return hosts.get(id);
}

/**
 * @param {string} id of the component
 * @param {string} html written by the server
 */
export function showHtml(id, html) {
  const host = hostOf(id);
  host.html = html;
  if (host.props && host.props.value !== html) host.props.value = html;
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
