// Many wishes, few answers.

/**
 * A function that has `work` done soon after it is called, however often: never twice at once, with a pause between,
 * and always once more after the last call.
 *
 * @param pause milliseconds, or a function that says them.
 */
export function coalesced(work, pause) {
  let isWanted = false;
  let isBusy = false;
  return async function want() {
    isWanted = true;
    if (isBusy) return;
    isBusy = true;
    while (isWanted) {
      isWanted = false;
      await work();
      await new Promise((resolve) => setTimeout(resolve, typeof pause === "function" ? pause() : pause));
    }
    isBusy = false;
  };
}
