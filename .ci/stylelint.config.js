/* The sizes that style sheets may use; the variables are in ui/shared/web/tokens.css. */
const TYPE = "var\\(--type-(12|14|16|20|28|40)\\)";
const SPACE = "var\\(--space-(4|8|12|16|24|32|48)\\)";
const SPACES = `(0|auto|${SPACE}|calc\\(-1 \\* ${SPACE}\\)|var\\(--sq-table-gap, ${SPACE}\\))`;
const RADIUS = "(0|var\\(--radius-(4|8|round)\\))";
const WIDTHS = ["480px", "720px", "960px", "1400px"];
const only = (pattern) => [new RegExp(`^${pattern}$`)];

export default {
  rules: {
    "declaration-property-value-allowed-list": {
      "font-size": ["inherit", ...only(TYPE)],
      "font-weight": ["400", "700"],
      font: ["inherit", ...only(`(700 )?${TYPE}( / [\\d.]+)? [^\\d]+`)],
      "/^(margin|padding|gap|(row|column)-gap)(-|$)/": only(`${SPACES}( ${SPACES})*`),
      "--sq-table-gap": only(SPACE),
      "/radius$/": only(`${RADIUS}( ${RADIUS})*`),
    },
    "media-feature-name-value-allowed-list": {
      "/width$/": WIDTHS,
      "max-height": ["480px"],
    },
    "at-rule-prelude-no-invalid": [true, { ignoreAtRules: [/^(?!container)/] }],
  },
  // `media-feature-name-value-allowed-list` does not check the queries of containers.
  languageOptions: {
    syntax: {
      atRules: {
        container: {
          prelude: `sq-stage ( [ min-width | max-width ] : [ ${WIDTHS.join(" | ")} ] )`,
        },
      },
    },
  },
};
