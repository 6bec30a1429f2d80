/* The HTML source of a saved page: one file that contains its scripts, styles and data. Pure. */

/**
 * @typedef {object} PageParts
 * @property {string} title
 * @property {string[]} facts lines below the title
 * @property {string} view the folder with the module `saved_page` that draws the page
 * @property {string} script the joined modules
 * @property {string} styles CSS
 * @property {string} packed the data, packed by packed_data.js
 * @property {string} nonce letters and digits that nobody can guess; the browser runs only scripts
 *   with this nonce
 */

/** @type {Record<string, string>} */
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

const escaped = (text) => String(text).replace(/[&<>"']/g, (letter) => ENTITIES[letter]);

// "</script" ends a script, even inside a string. But if "<!--" and then "<script" come before it,
// the browser skips it. A backslash after the "<" prevents both cases. The backslash does not
// change the meaning of a string, or of a regular expression without the flags u and v.
const inScript = (source) => source.replace(/<(?=\/script|!--)/gi, "<\\");

// "</style" ends a style element, even inside a string. In a CSS string, "\2f " is a slash.
const inStyle = (source) => source.replace(/<\/(?=style)/gi, "<\\2f ");

/**
 * @param {PageParts} parts
 * @returns {string} HTML
 */
export function pageSource({ title, facts, view, script, styles, packed, nonce }) {
  const rules = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    "style-src 'unsafe-inline'",
    "img-src data: blob:",
    "base-uri 'none'",
    "form-action 'none'",
  ];
  const lines = facts.map((fact) => `<p>${escaped(fact)}</p>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${rules.join("; ")}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<style>
${inStyle(styles)}
</style>
</head>
<body class="saved-page">
<header class="saved-head">
<div><h1>${escaped(title)}</h1>${lines.join("")}</div>
<button type="button" class="saved-theme" hidden>Light or dark</button>
</header>
<main class="saved-main"><div class="sq-stage">
<noscript><p>This page needs JavaScript.</p></noscript>
</div></main>
<script type="text/plain" id="saved-data">${escaped(packed)}</script>
<script type="module" nonce="${nonce}">
${inScript(script)}
modules["${view}/saved_page"].openPage();
</script>
</body>
</html>
`;
}
