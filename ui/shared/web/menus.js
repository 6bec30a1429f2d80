/* Which option of a menu was chosen (see ui/shared/menus.py, which calls these). */

/** @type {Record<string, any>} the option each menu had when it got the focus, or chosen since */
const before = {};

/** A menu with that id got the focus while `option` was chosen. */
export function opened(menu, option) {
  before[menu] = option;
  return [];
}

/** `option` where it is another one than the menu had, else null. */
export function chosen(menu, option) {
  if (before[menu] === option) return null;
  before[menu] = option;
  return option;
}
