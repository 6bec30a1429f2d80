// Buttons that open another tab of the page. A button is hidden if the page has no such tab.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { connectTabButtons } from "../../ui/shared/web/tabs.js";

/** A page with `tabs`, and a button for each of `opens`. */
function pageWith(tabs, opens) {
  const clicked = [];
  const all = tabs.map((name) => ({ textContent: ` ${name} `, click: () => clicked.push(name) }));
  globalThis.document = /** @type {any} */ ({ querySelectorAll: () => all });
  globalThis.scrollTo = () => clicked.push("top");
  const buttons = opens.map((name) => ({
    dataset: { opens: name },
    hidden: true,
    addEventListener(_, act) {
      this.press = act;
    },
  }));
  connectTabButtons(/** @type {any} */ ({ querySelectorAll: () => buttons }));
  return { buttons, clicked };
}

afterEach(() => {
  delete globalThis.document;
  delete globalThis.scrollTo;
});

test("a button opens its tab and scrolls to the top", () => {
  const { buttons, clicked } = pageWith(["Decode", "Experiments"], ["Experiments"]);
  assert.equal(buttons[0].hidden, false);
  buttons[0].press();
  assert.deepEqual(clicked, ["Experiments", "top"]);
});

test("a button stays hidden if the page does not have its tab", () => {
  const { buttons } = pageWith(["Decode", "Experiments too"], ["Experiments", "Decode"]);
  assert.deepEqual(
    buttons.map(({ hidden }) => hidden),
    [true, false],
  );
});
