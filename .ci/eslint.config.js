import js from "@eslint/js";
import jsdoc from "eslint-plugin-jsdoc";
import globals from "globals";

const noMarkup = (property) => ({
  property,
  message: "Put text on the page through textContent. Markup comes only from ui/shared/markup.py.",
});

export default [
  { ignores: ["**/.venv/**", "**/node_modules/**"] },
  js.configs.recommended,
  {
    files: ["**/*.js"],
    plugins: { jsdoc },
    languageOptions: {
      ecmaVersion: 2025,
      sourceType: "module",
      globals: { ...globals.browser },
    },
    rules: {
      eqeqeq: "error",
      "no-sequences": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "no-shadow": "error",
      "no-var": "error",
      "one-var": ["error", "never"],
      "prefer-const": "error",
      "max-len": [
        "error",
        {
          code: 100,
          ignoreUrls: true,
          ignoreStrings: true,
          ignoreTemplateLiterals: true,
          ignoreRegExpLiterals: true,
        },
      ],
      "no-restricted-properties": ["error", noMarkup("innerHTML"), noMarkup("outerHTML")],
      "preserve-caught-error": "off", // the new error's message names the cause
    },
  },
  {
    // Every exported function has a comment on its parameters and return value. Exported classes
    // have a comment too.
    files: ["**/ui/**/*.js"],
    plugins: { jsdoc },
    rules: {
      "jsdoc/require-jsdoc": [
        "error",
        {
          publicOnly: true,
          require: {
            ArrowFunctionExpression: true,
            ClassDeclaration: true,
            FunctionDeclaration: true,
          },
        },
      ],
      "jsdoc/require-param": ["error", { checkDestructured: false, checkDestructuredRoots: true }],
      "jsdoc/require-param-type": "error",
      "jsdoc/require-returns": ["error", { checkGetters: false }],
      "jsdoc/require-returns-type": "error",
      "jsdoc/check-param-names": ["error", { checkDestructured: false }],
      "jsdoc/check-types": "error",
    },
  },
  { files: ["**/tests/**/*.js"], languageOptions: { globals: { ...globals.node } } },
];
