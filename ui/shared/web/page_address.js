/* The address of the page names the run or race on screen if the server has stored it, so that a
   reload shows it again. */

/**
 * Put the name of a stored run into the address under `kind`; one that is not stored, such as the
 * recorded example, takes it out.
 * @param {Record<string, any>} message with the name under `kind`
 * @param {"run" | "race"} kind
 */
export function rememberInAddress(message, kind) {
  if (!message[kind] || !message.meta) return;
  const url = new URL(window.location.href);
  if (message.stored) url.searchParams.set(kind, message[kind]);
  else url.searchParams.delete(kind);
  if (url.href !== window.location.href) history.replaceState(history.state, "", url);
}
