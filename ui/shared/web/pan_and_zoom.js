/* Zooms and moves a picture in a box that scrolls. Independent of what the picture shows. */

const LEAST_ZOOM = 0.25;
const MOST_ZOOM = 5;
const MOVED = 5; // px; a press that moves farther is a drag

/**
 * @typedef {object} ZoomedView
 * @property {HTMLElement} scroller the box
 * @property {{w: number, h: number}} size inner size of the box in px
 * @property {{width: number, height: number} | null} [frame] the picture's size at zoom 1, in px
 * @property {number} zoom
 * @property {() => void} scale resizes the picture to the current zoom
 */

/** Ctrl or ⌘ with the wheel zooms at the pointer; dragging moves the picture. */
export class PanAndZoom {
  /**
   * @param {ZoomedView} view
   * @param {() => void} changed called after a zoom
   * @param {number} [head] height at the top of the box that the picture cannot use, in px
   */
  constructor(view, changed, head = 0) {
    this.view = view;
    this.changed = changed;
    this.head = head;
    this.dragged = false; // the latest press was a drag
    view.scroller.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.drag(view.scroller);
  }

  /**
   * Zoom while one point of the picture stays in place.
   * @param {number} zoom
   * @param {{x: number, y: number}} [at] where in the window the point is; by default the middle
   *   of the box
   */
  zoomTo(zoom, at) {
    const { view } = this;
    const { scroller } = view;
    const before = view.zoom;
    const next = Math.max(LEAST_ZOOM, Math.min(MOST_ZOOM, zoom));
    if (!view.frame || next === before) return;
    const box = scroller.getBoundingClientRect();
    const px = at ? at.x - box.left : scroller.clientWidth / 2;
    const py = (at ? at.y - box.top : scroller.clientHeight / 2) - this.head;
    const x = (scroller.scrollLeft + px) / before;
    const y = (scroller.scrollTop + py) / before;
    view.zoom = next;
    view.scale();
    scroller.scrollLeft = x * next - px;
    scroller.scrollTop = y * next - py;
    this.changed();
  }

  /** @param {number} factor */
  zoomBy(factor) {
    this.zoomTo(this.view.zoom * factor);
  }

  /** Zoom so that the whole picture fits the box, but never below LEAST_ZOOM or above 1. If the
   * picture has this zoom already, return to zoom 1. */
  zoomFit() {
    const { frame, size, zoom } = this.view;
    if (!frame) return;
    const fits = Math.min(1, size.w / frame.width, (size.h - this.head) / frame.height);
    const whole = Math.max(LEAST_ZOOM, fits);
    this.zoomTo(Math.abs(zoom - whole) < 0.001 ? 1 : whole);
  }

  wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const at = { x: event.clientX, y: event.clientY };
    this.zoomTo(this.view.zoom * Math.exp(-event.deltaY * 0.002), at);
  }

  // Moves the picture with the mouse. Touch needs no code: the browser scrolls.
  drag(scroller) {
    let start = null;
    const end = () => {
      start = null;
    };
    scroller.addEventListener("pointerdown", (event) => {
      this.dragged = false;
      if (event.button || event.pointerType === "touch") return;
      const x = event.clientX + scroller.scrollLeft;
      const y = event.clientY + scroller.scrollTop;
      start = { x, y, id: event.pointerId };
    });
    scroller.addEventListener("pointermove", (event) => {
      if (!event.buttons) end(); // released outside the box, before the pointer was captured
      if (!start) return;
      const dx = start.x - event.clientX - scroller.scrollLeft;
      const dy = start.y - event.clientY - scroller.scrollTop;
      if (!this.dragged && Math.hypot(dx, dy) < MOVED) return;
      if (!this.dragged) scroller.setPointerCapture(start.id);
      this.dragged = true;
      scroller.scrollLeft += dx;
      scroller.scrollTop += dy;
    });
    scroller.addEventListener("pointerup", end);
    scroller.addEventListener("pointercancel", end);
  }
}
