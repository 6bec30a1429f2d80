/* Figures: Plotly asked for when one is first wanted, and pictures of figures and trees for the visitor to keep. All in the browser. */
(function (S) {
  "use strict";

  const { el, button } = S.dom;
  const SCALE = 2; // pixels of a PNG for each of the page
  const SIDE = 16384,
    AREA = 1e8; // pixels of a PNG at most, which every browser can make
  const LINE = 17; // px that a line of a caption takes
  let loading = null;

  /** Plotly, fetched once a page. `path` is relative to where the page is served. */
  S.plotly = function (path) {
    const base =
      location.origin === "null"
        ? location.href
        : location.origin + location.pathname.replace(/\/?$/, "/");
    loading ||= new Promise((done, failed) => {
      if (window.Plotly) return done(window.Plotly);
      const script = el("script", { src: new URL(path, base).href });
      script.addEventListener("load", () => done(window.Plotly));
      script.addEventListener(
        "error",
        () => ((loading = null), failed(new Error("the figures' library could not be loaded"))),
      );
      document.head.append(script);
    });
    return loading;
  };

  /** Hand `address` to the browser as a file. */
  function keep(name, address) {
    el("a", { href: address, download: name }).click();
    if (address.startsWith("blob:")) setTimeout(() => URL.revokeObjectURL(address), 10000);
  }

  /** What stands behind `node`: a picture has no page below it to show through. */
  function ground(node) {
    for (let at = node; at; at = at.parentElement) {
      const { backgroundColor } = getComputedStyle(at);
      if (!/^(transparent|rgba\(.*, 0\))$/.test(backgroundColor)) return backgroundColor;
    }
    return "#ffffff";
  }

  /** Keep the Plotly figure drawn in `node`, in the colours and on the ground of the page, below the lines of a `caption`: away from
      the page nothing else says what it shows. */
  async function figure(node, format, name, caption = []) {
    const colour = ground(node),
      head = caption.length && LINE * (caption.length + 1),
      size = { width: node.clientWidth, height: node.clientHeight + head };
    const face = { ...node.layout.font, family: "sans-serif" }; // a picture is drawn without the page's own, and would not have room for what that measures
    const layout = {
      ...node.layout,
      ...size,
      font: face,
      paper_bgcolor: colour,
      plot_bgcolor: colour,
      autosize: false,
    };
    if (head) {
      const { margin = {} } = layout,
        lines = caption.map(plain);
      layout.margin = { ...margin, t: (margin.t ?? 100) + head };
      layout.title = {
        text: [`<b>${lines[0]}</b>`, ...lines.slice(1)].join("<br>"),
        x: 0,
        xref: "container",
        xanchor: "left",
        y: 1,
        yref: "container",
        yanchor: "top",
        pad: { l: 12, t: LINE },
        font: { size: 11.5 },
      };
    }
    keep(
      `${name}.${format}`,
      await window.Plotly.toImage(
        { data: node.data, layout },
        { format, ...size, scale: format === "png" ? SCALE : 1 },
      ),
    );
  }

  /** A text that Plotly shows as it is, and takes no part of for one of its tags. */
  const plain = (words) =>
    words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

  /** Keep an SVG text of `width` x `height` as PNG. */
  async function raster(source, width, height, name) {
    const address = URL.createObjectURL(new Blob([source], { type: "image/svg+xml" })),
      image = new Image();
    image.src = address;
    await image.decode().finally(() => URL.revokeObjectURL(address));
    canvas(width, height, (pen) => pen.drawImage(image, 0, 0, width, height), name);
  }

  /** Keep as PNG what `draw` puts on a canvas of `width` x `height`. */
  function canvas(width, height, draw, name) {
    const scale = Math.min(SCALE, SIDE / width, SIDE / height, Math.sqrt(AREA / width / height)),
      sheet = el("canvas", { width: Math.ceil(width * scale), height: Math.ceil(height * scale) });
    const pen = sheet.getContext("2d");
    pen.scale(scale, scale);
    draw(pen);
    sheet.toBlob((blob) => keep(`${name}.png`, URL.createObjectURL(blob)), "image/png");
  }

  /** Plotly's own tools would lie over the legend: the panel has buttons in their place. */
  const CONFIG = { displayModeBar: false, responsive: false };

  /** Buttons that keep what `drawn()` answers, a node with a Plotly figure, or null while there is none, below the lines of `caption()`;
      and one for the whole figure. */
  function buttons(host, drawn, name, { reset, caption } = {}) {
    if (reset)
      button(host, {
        icon: "fit",
        label: "The whole figure",
        hint: S.tooltips["button whole figure"],
      }).addEventListener("click", reset);
    formats(
      host,
      "figure",
      (format) => drawn() && figure(drawn(), format, "sequoia-" + name, caption?.()),
    );
  }

  /** Two buttons that call `save` with "svg" or "png". `what` is saved, in words. */
  function formats(host, what, save) {
    const group = el(
      "span",
      { class: "sq-segments", role: "group", "aria-label": "Save the " + what },
      host,
    );
    return ["svg", "png"].map((format) => {
      const one = button(group, {
        text: format.toUpperCase(),
        hint: `Save the ${what} as ${format.toUpperCase()}`,
      });
      one.dataset.save = format;
      one.addEventListener("click", () => save(format));
      return one;
    });
  }

  /** Keep an `svg` element of its own size in `format`. */
  function drawing(svg, format, name) {
    const source = new XMLSerializer().serializeToString(svg),
      [width, height] = ["width", "height"].map((side) => Number(svg.getAttribute(side)));
    if (format === "png") return raster(source, width, height, name);
    keep(name + ".svg", URL.createObjectURL(new Blob([source], { type: "image/svg+xml" })));
  }

  S.pictures = { CONFIG, keep, ground, raster, canvas, drawing, buttons, formats };
})((window.Sequoia = window.Sequoia || {}));
