/* Saves files that are made in the browser: text, tables and pictures. */
import { el } from "./dom.js";

const KEEP_MS = 10_000; // before a blob is released; by then the browser has read it

/**
 * Save the content at an address as a file.
 * @param {string} name of the file
 * @param {string} address a blob: or data: address
 */
export function saveAddress(name, address) {
  el("a", { href: address, download: name }).click();
  if (address.startsWith("blob:")) setTimeout(() => URL.revokeObjectURL(address), KEEP_MS);
}

/**
 * Save a text as a file.
 * @param {string} name of the file
 * @param {string} text
 * @param {string} [type] its MIME type
 */
export function saveText(name, text, type = "application/json") {
  saveAddress(name, URL.createObjectURL(new Blob([text], { type })));
}

const cell = (value) =>
  /[",\r\n]/.test(String(value)) ? '"' + String(value).replace(/"/g, '""') + '"' : String(value);

/**
 * Rows of values as CSV text (RFC 4180).
 * @param {any[][]} rows
 * @returns {string}
 */
export const csv = (rows) => rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
