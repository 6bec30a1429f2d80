/* A view that shows one message at a time, the component's value, and is told when it comes into sight. Knows no view. */
(function (S) {
  "use strict";

  /** Let `board.take(message)` have each new value, or {error}; `comes()` is called each time `root` comes into sight. */
  S.follow = function (root, board, props, watch, comes) {
    let last = null,
      seen = false;
    const take = () => {
      if (!props.value || props.value === last) return;
      last = props.value;
      try {
        board.take(JSON.parse(last));
      } catch (problem) {
        board.take({ error: "a message could not be shown: " + problem.message });
      }
    };
    take();
    watch("value", take);
    new IntersectionObserver((entries) => {
      const now = entries[entries.length - 1].isIntersecting;
      if (now && !seen) comes();
      seen = now;
    }).observe(root);
  };
})((window.Sequoia = window.Sequoia || {}));
