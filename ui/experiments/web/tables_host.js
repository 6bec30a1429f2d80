/* Shows the tables of a result, which the server wrote as HTML, in a component of their own: Gradio
   puts them into the page. */

/** @import { Props } from "../../shared/web/connect_component.js" */

/** @type {{props: Props | null, html: string}} `props` is null before the component is there */
const host = { props: null, html: "" };

/** @param {string} html written by ui/experiments/tables.py */
export function showTables(html) {
  host.html = html;
  if (host.props && host.props.value !== html) host.props.value = html;
}

/**
 * Called from the component's js_on_load with what Gradio gives it.
 * @param {HTMLElement} _element
 * @param {Props} props
 */
export function connect(_element, props) {
  host.props = props;
  showTables(host.html);
}
