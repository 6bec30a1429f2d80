/* Packs and unpacks the data of a saved page: JSON, gzipped, as base64. Works in a browser and in
   Node. */

const CHUNK = 0x8000; // bytes passed to one call of fromCharCode, which has a limit

/**
 * @param {any} value that can be written as JSON
 * @returns {Promise<string>} base64
 */
export async function pack(value) {
  const plain = new Blob([JSON.stringify(value)]).stream();
  const zipped = new Response(plain.pipeThrough(new CompressionStream("gzip")));
  return toBase64(new Uint8Array(await zipped.arrayBuffer()));
}

/**
 * The inverse of `pack`.
 * @param {string} text base64
 * @returns {Promise<any>} the value; rejected if the text is damaged
 */
export async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const zipped = new Blob([bytes]).stream();
  return new Response(zipped.pipeThrough(new DecompressionStream("gzip"))).json();
}

/** @type {(bytes: Uint8Array) => string} */
function toBase64(bytes) {
  let letters = "";
  for (let from = 0; from < bytes.length; from += CHUNK)
    letters += String.fromCharCode(...bytes.subarray(from, from + CHUNK));
  return btoa(letters);
}
