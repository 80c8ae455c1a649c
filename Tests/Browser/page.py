"""The dashboard in a real browser, as those see it who read it or hear it: by roles, names and texts."""

from __future__ import annotations

import ctypes
import shutil
import signal
import sys
from importlib.resources import files

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

# Seconds, for stories that fail.
PATIENCE = 30

# Presses an element if a pointer would reach it in its middle. It is one script, so that nothing moves in between.
PRESS = """
const [target] = arguments;
target.scrollIntoView({ block: "center", behavior: "instant" });
const box = target.getClientRects()[0];
const top = box && document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
const isUnable = target.disabled || target.getAttribute("aria-disabled") || target.getAttribute("aria-busy");
if (isUnable || !target.contains(top)) return false;
target.focus();
target.click();
return true;
"""


# Chromium without its own windows and menus, which take most of its time to start. The script of this name in /usr/bin passes no
# signal on: a browser that it had started would outlive its driver.
BROWSER = "/usr/lib/chromium/chromium-headless-shell"


def die_with_the_story() -> None:
    """Asks the kernel to end the driver when this process ends, however it does (prctl(2), PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def say(text: str) -> None:
    """Tells the test that began the story how far it is."""
    print(text, flush=True)


class Page:
    def __init__(self, url: str, width: int = 1280, height: int = 900, before: str = ""):
        """before: a script that runs before those of the page do."""
        options = webdriver.ChromeOptions()
        options.binary_location = BROWSER
        for argument in ("--no-sandbox", "--disable-dev-shm-usage", f"--window-size={width},{height}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = Service(shutil.which("chromedriver"), popen_kw={"preexec_fn": die_with_the_story})
        self.driver = webdriver.Chrome(options=options, service=service)
        self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": before})
        self.driver.get(url)
        # What would be lost with a reload, and what the policy forbade.
        self.run(
            "window.mark = 'here all along'; window.forbidden = [];"
            "document.addEventListener('securitypolicyviolation', (event) => window.forbidden.push(event.violatedDirective));"
        )

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *failure: object) -> None:
        if failure[0] is not None:
            self._tell_what_there_is()
        self.driver.quit()

    def _tell_what_there_is(self) -> None:
        print(self.driver.find_element(By.TAG_NAME, "body").text[:3000], file=sys.stderr)
        focused = self.run("return `${document.hasFocus()} ${document.activeElement?.outerHTML.slice(0, 300)}`")
        print(f"The page has the focus, and this element of it: {focused}", file=sys.stderr)
        for line in self.driver.get_log("browser"):
            print(line["message"], file=sys.stderr)

    def run(self, script: str, *arguments: object) -> object:
        return self.driver.execute_script(script, *arguments)

    # Finding

    def find(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[WebElement]:
        return [found for found in self.driver.find_elements(By.CSS_SELECTOR, selector) if found.is_displayed()]

    def named(self, selector: str, name: str) -> WebElement | None:
        """The element that a screen reader calls so."""
        # Each question to the browser takes a while: only those are asked for their names whose words it could be.
        candidates = self.run(
            "return [...document.querySelectorAll(arguments[0])].filter((found) => found.checkVisibility()"
            " && [found.ariaLabel, found.textContent, found.labels?.[0]?.textContent]"
            " .some((text) => text?.replace(/\\s+/g, ' ').includes(arguments[1])))",
            selector, name,
        )  # fmt: skip
        return next((found for found in candidates if found.accessible_name == name), None)

    def row(self, name: str) -> WebElement | None:
        return self.run(
            "return [...document.querySelectorAll('#job-rows tr')]"
            ".find((row) => row.querySelector('[data-part=name]').textContent === arguments[0])", name,
        )  # fmt: skip

    def names(self) -> list[str]:
        """The names of the downloads in the order of the rows."""
        return self.run("return [...document.querySelectorAll('#job-rows [data-part=name]')].map((name) => name.textContent)")

    def row_text(self, name: str, part: str) -> str:
        row = self.row(name)
        return row.find_element(By.CSS_SELECTOR, f"[data-part={part}]").text if row else ""

    def bar(self, name: str) -> float | None:
        row = self.row(name)
        meter = row.find_element(By.CSS_SELECTOR, "[role=progressbar]") if row else None
        value = meter.get_attribute("aria-valuenow") if meter else None
        return None if value is None else float(value) / 100

    @property
    def focused(self) -> WebElement:
        return self.driver.switch_to.active_element

    # Waiting

    def until(self, what: str, condition) -> object:
        """Waits for a condition; rows may come and go while it is looked at."""
        waiting = WebDriverWait(
            self.driver, PATIENCE, poll_frequency=0.05, ignored_exceptions=(StaleElementReferenceException,)
        )
        return waiting.until(lambda _: condition(), f"Waited in vain until {what}.")

    def until_state(self, name: str, state: str) -> None:
        self.until(f"{name} is {state}", lambda: self.row_text(name, "state") == state)

    # Acting

    def show(self, view: str) -> None:
        """One of the views of the dashboard: downloads, sessions, webhooks or settings."""
        self.run("arguments[0].click()", self.find(f"#views a[data-view='{view}']"))
        self.until(f"the view {view} is shown", lambda: self.find(f"#view-{view}").is_displayed())

    def press(self, *keys: str) -> None:
        """On whatever has the focus, as a keyboard does."""
        webdriver.ActionChains(self.driver).send_keys(*keys).perform()

    def tab_to(self, name: str, most: int = 80) -> WebElement:
        """Walks there with the keyboard alone."""
        for _ in range(most):
            if self.focused.accessible_name == name:
                return self.focused
            self.press(Keys.TAB)
        raise AssertionError(f"Tab does not lead to '{name}'.")

    def click(self, selector: str, name: str) -> None:
        self.until(f"'{name}' can be clicked", lambda: self._press(self.named(selector, name)))

    def click_first(self, selector: str) -> None:
        self.until(f"{selector} can be clicked", lambda: self._press(next(iter(self.all(selector)), None)))

    def _press(self, element: WebElement | None) -> bool:
        return element is not None and bool(self.run(PRESS, element))

    # Judging

    def require(self, what: str, holds: object) -> None:
        if not holds:
            raise AssertionError(what)

    def require_no_harm(self) -> None:
        """Nothing that the policy forbids was tried, and no error of ours was thrown."""
        self.require(f"The policy was violated: {self.run('return window.forbidden')}", not self.run("return window.forbidden"))
        # An answer that is an error is logged by the browser itself; those are part of the stories.
        faults = [line["message"] for line in self.driver.get_log("browser") if line["level"] == "SEVERE"]
        faults = [fault for fault in faults if "Failed to load resource" not in fault]
        self.require(f"The browser has logged errors: {faults}", not faults)

    def require_accessible(self, where: str, rules: tuple[str, ...] = ()) -> None:
        """What axe-core finds by the Web Content Accessibility Guidelines 2.2, levels A and AA; by some rules, or by all."""
        if not self.run("return Boolean(window.axe)"):
            source = files("selenium_axe_python") / "axe-core" / "axe.min.js"
            # Past the policy, which would not let the page itself do it.
            self.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": source.read_text(encoding="utf-8")})
        found = self.driver.execute_async_script(
            "const done = arguments[1];"
            "axe.run(document, {runOnly: arguments[0].length ? arguments[0]"
            " : ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations']})"
            ".then((result) => done(result.violations.map((v) => [v.id, v.help, v.nodes.slice(0, 3).map((n) => n.html + n.failureSummary)])))"
            ".catch((error) => done([['axe', String(error), []]]));", rules,
        )
        self.require(f"{where}: {found}", not found)

    def prefer(self, scheme: str) -> None:
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme},
                                                        {"name": "prefers-reduced-motion", "value": "reduce"}]}
        )  # fmt: skip

    def resize(self, width: int, height: int) -> None:
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500},
        )
