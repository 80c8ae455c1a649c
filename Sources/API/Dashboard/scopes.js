// What the caller may do. Controls that need more are hidden by the style sheet: `needs-jobs`, `needs-sessions`, `needs-admin`.

const order = ["read", "jobs", "sessions", "admin"];

/** @param {{ scope: string, sessions?: string[] | null }} caller `GET /v1/sign-in`. */
export function showCaller({ scope, sessions }) {
  document.body.dataset.scope = scope;
  // A token that is bound to sessions does not see what concerns the whole service.
  document.body.classList.toggle("bound", !isAll(sessions));
  document.dispatchEvent(new CustomEvent("scoped"));
}

/**
 * Before the service has said what the caller may do, everything is offered.
 * @param {string} scope
 */
export function mayUse(scope) {
  return order.indexOf(document.body.dataset.scope ?? "admin") >= order.indexOf(scope);
}

export function isBound() {
  return document.body.classList.contains("bound");
}

/** @param {string[] | null | undefined} sessions */
function isAll(sessions) {
  return !Array.isArray(sessions) || sessions.length === 0 || sessions.includes("*");
}
