import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  {
    files: ["**/*.js"],
    languageOptions: {
      ecmaVersion: 2025,
      sourceType: "module",
      globals: { ...globals.browser, Plotly: "readonly" },
    },
    rules: {
      "one-var": ["error", "never"],
      "no-shadow": "error",
      "prefer-const": "error",
      "no-var": "error",
      eqeqeq: "error",
      "no-sequences": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "Text reaches the page through textContent." },
        { property: "outerHTML", message: "Text reaches the page through textContent." },
      ],
    },
  },
];
