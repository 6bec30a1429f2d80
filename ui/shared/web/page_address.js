/* Changes the page's address. It contains the name of the run or race on screen, so that a reload
   shows it again. */

/**
 * Show `address` as the page's address, if the browser allows it: some forbid it in frames, or
 * after many changes in a short time.
 * @param {URL | string} address
 * @param {"pushState" | "replaceState"} [how] "pushState": the Back button returns to the old one
 */
export function showAddress(address, how = "replaceState") {
  try {
    history[how](history.state, "", address);
  } catch (problem) {
    console.debug(problem);
  }
}

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
  if (url.href !== window.location.href) showAddress(url);
}
