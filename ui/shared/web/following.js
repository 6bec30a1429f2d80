/* The state of following another visitor's run: whether there is a run to follow, and whether the
   run on screen is someone else's. Independent of the DOM. */

/**
 * The fields of a message that matter for following. `wait`: the visitor's own run is waiting;
 * `follow`: another visitor's run can be followed; `followed`: the message is about another
 * visitor's run.
 * @typedef {{run?: string, race?: string | null, wait?: object, follow?: boolean,
 *   followed?: boolean, error?: string | null, notice?: string | null}} Message
 */

/** The state of following in one view. */
export class Following {
  canFollow = false; // there is another visitor's run to follow
  isFollowed = false; // the run on screen is another visitor's
  isWaiting = false; // the visitor's own run is waiting
  isWanted = false; // the visitor asked to follow; reset by a message with any run not followed

  /**
   * Update the state from a message. The error and the notice of a message about another visitor's
   * run are removed; while the visitor's own run waits, the notice on screen takes their place.
   * @template {Message} M
   * @param {M} message
   * @param {string | null} notice that is on screen
   * @returns {M | null} the message to show; null if it is about another visitor's run that
   *   the visitor does not follow, or no longer follows
   */
  note(message, notice) {
    if (message.followed) return this.noteFollowed(message, notice);
    if (message.run ?? message.race) {
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
   * Whether to show the button that starts following: there is a run to follow, and the run on
   * screen is not a followed one or has ended.
   * @param {boolean} isOver whether the run on screen has ended
   * @returns {boolean}
   */
  isOffered(isOver) {
    return this.canFollow && (!this.isFollowed || isOver);
  }
}
