/* Zooming and moving a picture in a box that scrolls. Knows nothing of what is in it. */

const ZOOM = [0.25, 5];

export class PanAndZoom {
  /**
   * `view` has the box `scroller` with its inner `size` {w, h}, the picture's `frame` {width, height} at its readable size, the
   * present `zoom`, and `scale()`, which gives the picture its size. `changed()` is called after a zoom; `head` px of the box
   * are not the picture's.
   */
  constructor(view, changed, head = 0) {
    this.view = view;
    this.changed = changed;
    this.head = head;
    this.dragged = false; // the press that ends now was none
    view.scroller.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.drag(view.scroller);
  }

  /** Zoom about a point of the window, or about the middle of what is in view. */
  zoomTo(zoom, at) {
    const { view } = this;
    const { scroller } = view;
    const before = view.zoom;
    const next = Math.max(ZOOM[0], Math.min(ZOOM[1], zoom));
    if (!view.frame || next === before) return;
    const box = scroller.getBoundingClientRect();
    const px = at ? at.x - box.left : scroller.clientWidth / 2;
    const py = at ? at.y - box.top : scroller.clientHeight / 2;
    const x = (scroller.scrollLeft + px) / before;
    const y = (scroller.scrollTop + py) / before;
    view.zoom = next;
    view.scale();
    scroller.scrollLeft = x * next - px;
    scroller.scrollTop = y * next - py;
    this.changed();
  }

  zoomBy(factor) {
    this.zoomTo(this.view.zoom * factor);
  }

  /** The whole picture in the box; once more: back to the size at which it can be read. */
  zoomFit() {
    const { frame, size, zoom } = this.view;
    if (!frame) return;
    const whole = Math.min(1, size.w / frame.width, (size.h - this.head) / frame.height);
    this.zoomTo(Math.abs(zoom - whole) < 0.001 ? 1 : whole);
  }

  wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.zoomTo(this.view.zoom * Math.exp(-event.deltaY * 0.002), {
      x: event.clientX,
      y: event.clientY,
    });
  }

  /** Dragging moves what is in view; a press that moved is no click. Touch scrolls by itself. */
  drag(scroller) {
    let start = null;
    scroller.addEventListener("pointerdown", (event) => {
      this.dragged = false;
      if (event.button || event.pointerType === "touch") return;
      start = {
        x: event.clientX + scroller.scrollLeft,
        y: event.clientY + scroller.scrollTop,
        id: event.pointerId,
      };
    });
    scroller.addEventListener("pointermove", (event) => {
      if (!start) return;
      const dx = start.x - event.clientX - scroller.scrollLeft;
      const dy = start.y - event.clientY - scroller.scrollTop;
      if (!this.dragged && Math.hypot(dx, dy) < 5) return;
      if (!this.dragged) scroller.setPointerCapture(start.id);
      this.dragged = true;
      scroller.scrollLeft += dx;
      scroller.scrollTop += dy;
    });
    for (const name of ["pointerup", "pointercancel"])
      scroller.addEventListener(name, () => {
        start = null;
      });
  }
}
