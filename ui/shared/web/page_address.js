/* Puts the name of the run or race on screen into the page's address, so that a reload shows it
   again. */

/**
 * Put the name of the run or race that a message is about into the address, under `kind`. If the
 * server has not stored that run or race, remove the earlier name instead. A message without a name
 * or without `meta` changes nothing.
 * @param {Record<string, any>} message with the name, if it has one, under `kind`
 * @param {"run" | "race"} kind
 */
export function rememberInAddress(message, kind) {
  if (!message[kind] || !message.meta) return;
  const url = new URL(window.location.href);
  if (message.stored) url.searchParams.set(kind, message[kind]);
  else url.searchParams.delete(kind);
  if (url.href !== window.location.href) history.replaceState(history.state, "", url);
}
