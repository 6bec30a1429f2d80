/* Whether a visitor follows another visitor's run while the own one waits. */

/**
 * The fields of a message that matter for following. `wait`: the visitor's own run is waiting;
 * `follow`: another visitor's run can be followed; `followed`: the message is about another
 * visitor's run.
 * @typedef {{run?: string | null, wait?: object, follow?: boolean, followed?: boolean,
 *   error?: string | null, notice?: string | null}} Message
 */

/** The state of following in one view. */
export class Following {
  canFollow = false; // whether there is another visitor's run to follow
  isFollowed = false; // whether the run on screen is another visitor's
  isWaiting = false; // whether the visitor's own run is waiting
  // whether the visitor asked to follow; reset when a run is shown that is not another visitor's
  isWanted = false;

  /**
   * Update the state from a message. Errors and notices about another visitor's run are not shown.
   * While the visitor's own run waits, the notice on screen is kept.
   * @template {Message} M
   * @param {M} message
   * @param {string | null} notice that is on screen
   * @returns {M | null} the message to show; null if it is about another visitor's run and the
   *   visitor does not want to follow
   */
  note(message, notice) {
    if (message.followed) return this.noteFollowed(message, notice);
    if (message.run) {
      this.isFollowed = false;
      this.isWanted = false;
    }
    this.canFollow = Boolean(message.follow);
    this.isWaiting = Boolean(message.wait);
    return message;
  }

  noteFollowed(message, notice) {
    if (!this.isWanted) return null;
    this.isFollowed = true;
    return { ...message, error: undefined, notice: this.isWaiting ? notice : undefined };
  }

  /**
   * Whether to offer to follow a run.
   * @param {boolean} isOver whether the run on screen has ended or paused
   * @returns {boolean}
   */
  isOffered(isOver) {
    return this.canFollow && (!this.isFollowed || isOver);
  }
}
