/* Paints at most once per frame. Independent of the DOM. */

/** A state with painters. */
export class Painted {
  playing = false; // whether every frame is painted
  frame = 0; // id of the requested animation frame; 0: none
  /** @type {((store: any) => void)[]} */
  listeners = [];

  /**
   * Called before a frame is painted, while `playing`.
   * @param {number} _now time of the frame in ms
   */
  advance(_now) {
    throw new Error("a subclass must define advance()");
  }

  /** @param {Record<string, any>} values of fields */
  set(values) {
    Object.assign(this, values);
    this.changed();
  }

  /** @param {(store: any) => void} listener */
  onPaint(listener) {
    this.listeners.push(listener);
  }

  /** Have the next frame painted. Several calls before that frame cause only one paint. */
  changed() {
    if (!this.frame) this.frame = requestAnimationFrame((now) => this.paint(now));
  }

  /** @param {number} now time of the frame in ms */
  paint(now) {
    this.frame = 0;
    if (this.playing) this.advance(now);
    for (const listener of this.listeners) listener(this);
    if (this.playing) this.changed();
  }
}
