// Light or dark, as the system or as the user wants it. The choice stays in the browser.

import { byID } from "./dom.js";

export function prepareTheme() {
  const choice = byID("theme");
  const show = () => (document.documentElement.dataset.theme = choice.value);
  choice.value = stored();
  show();
  choice.addEventListener("change", () => {
    show();
    // Without a place to store it, the choice holds until the page is closed.
    try {
      localStorage.setItem("theme", choice.value);
    } catch {}
  });
}

function stored() {
  try {
    const theme = localStorage.getItem("theme");
    return theme === "light" || theme === "dark" ? theme : "system";
  } catch {
    return "system";
  }
}
