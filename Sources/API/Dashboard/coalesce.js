// Combines many calls into a few.

/**
 * Returns a function that runs `work` soon after it is called. However often it is called, `work` never runs twice at the
 * same time, there is a pause between two runs, and one run starts after the last call.
 *
 * @param {() => any} work @param {number | (() => number)} pause milliseconds, or a function that returns them.
 */
export function coalesced(work, pause) {
  let isWanted = false;
  let isBusy = false;
  return async function want() {
    isWanted = true;
    if (isBusy) return;
    isBusy = true;
    try {
      while (isWanted) {
        isWanted = false;
        await work();
        await new Promise((resolve) => setTimeout(resolve, typeof pause === "function" ? pause() : pause));
      }
    } finally {
      isBusy = false;
    }
  };
}
