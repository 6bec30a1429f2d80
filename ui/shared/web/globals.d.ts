/* Globals that scripts outside the modules put on the page. */
interface Window {
  Plotly: any;
}
