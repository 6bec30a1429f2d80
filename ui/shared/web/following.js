/* What a page knows of following another visitor's run: whether it may, and whether the run on
   screen is someone else's. Independent of the DOM. */

/**
 * The fields of a message that say something of following. `wait`: the visitor's own run waits;
 * `follow`: one can be followed meanwhile; `followed`: the message is about someone else's run.
 * @typedef {{run?: string, race?: string | null, wait?: object, follow?: boolean,
 *   followed?: boolean, error?: string | null, notice?: string | null}} Message
 */

/** The state of following in one view. */
export class Following {
  canFollow = false; // there is a run to follow
  isFollowed = false; // the run on screen is someone else's
  isWaiting = false; // the visitor's own run waits
  isWanted = false; // since the visitor asked to follow, nothing else was opened

  /**
   * Note what a message says. Its words are not shown if they are about someone else's run.
   * @template {Message} M
   * @param {M} message
   * @param {string | null} notice the one on screen
   * @returns {M | null} the message to show; null for one of a run that left the screen, as the
   *   visitor opened another
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
   * Whether the button is of use: there is a run to follow, and it is not on screen already.
   * @param {boolean} isOver whether the run on screen has ended
   * @returns {boolean}
   */
  isOffered(isOver) {
    return this.canFollow && (!this.isFollowed || isOver);
  }
}
