/* Globals that are defined by scripts other than the modules. */
interface Window {
  Plotly: any;
}
