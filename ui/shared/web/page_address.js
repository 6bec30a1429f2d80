/* The address of the page names the run or race on screen, so that a reload shows it again. */

/**
 * Put the name of a run that was made here into the address under `kind`; a recorded one takes it
 * out.
 * @param {Record<string, any>} message with the name under `kind`
 * @param {"run" | "race"} kind
 */
export function rememberInAddress(message, kind) {
  if (!message[kind] || !message.meta) return;
  const url = new URL(window.location.href);
  if (["measured", "simulated"].includes(message.meta.label))
    url.searchParams.set(kind, message[kind]);
  else url.searchParams.delete(kind);
  if (url.href !== window.location.href) history.replaceState(null, "", url);
}
