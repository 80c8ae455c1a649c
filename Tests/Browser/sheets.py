#!/usr/bin/env python3
"""Tests/Browser/sheets.py STORY URL [ARGUMENT...]

The module that renders, the sheets of downloads, sessions and webhooks, what the page says of rare causes, and its first steps, in
headless Chromium. Exits with 0 if all checks hold.
"""

from __future__ import annotations

import sys
import time

from controls import names, opened, send
from page import Page
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

POST = """
const [path, document, done] = arguments;
fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(document) })
  .then((answer) => answer.json()).then(done);
"""


def post(page: Page, path: str, document: object) -> dict:
    return page.driver.execute_async_script(POST, path, document)


# Each case throws if it does not hold. `place` is an empty element of the page.
RENDERING = """
const done = arguments[arguments.length - 1];
const folder = document.querySelector("script[type=module]").src.replace("main.js", "");
import(folder + "render.js").then(({ h, render, element }) => {
  const hold = (what, holds) => { if (!holds) throw new Error(what); };
  const place = document.createElement("section");
  document.querySelector("main").append(place);
  const row = (key, ...children) => h("p", { key }, h("button", {}, key), ...children);
  const texts = () => [...place.children].map((child) => child.textContent).join(" ");

  render(place, ["a", "b", "c"].map((key) => row(key)));
  const [a, b, c] = place.children;
  b.querySelector("button").focus();
  render(place, ["c", "b", "a", "d"].map((key) => row(key)));
  hold("the order is new", texts() === "c b a d");
  hold("elements stay", place.children[0] === c && place.children[1] === b && place.children[2] === a);
  hold("what moves keeps the focus", document.activeElement === b.querySelector("button"));
  render(place, ["c", "a", "d"].map((key) => row(key)));
  hold("the focus goes to the successor", document.activeElement === a.querySelector("button"));
  render(place, h("h2", { tabindex: -1 }, "Empty"));
  hold("without a control, the heading has it", document.activeElement === place.firstElementChild);

  let presses = [];
  const button = (number, more = {}) => h("button", { onclick: () => presses.push(number), ...more }, String(number));
  render(place, button(1, { class: "wide", "aria-disabled": true, hidden: true }));
  const made = place.firstElementChild;
  hold("true is written out for ARIA", made.getAttribute("aria-disabled") === "true" && made.getAttribute("hidden") === "");
  render(place, button(2));
  made.click();
  hold("a listener is that of the last description", presses.join() === "2" && place.firstElementChild === made);
  hold("what is not described goes", !made.hidden && made.className === "" && !made.hasAttribute("aria-disabled"));
  render(place, h("button", {}, "quiet"));
  made.click();
  hold("a listener that is not described is not called", presses.join() === "2");

  made.dataset.mark = "of another part of the page";
  made.tabIndex = -1;
  render(place, h("button", {}, "loud"));
  hold("what others set stays", made.dataset.mark && made.tabIndex === -1);
  const words = made.firstChild;
  getSelection().selectAllChildren(made);
  render(place, h("button", {}, "loud"));
  hold("the same text is not touched", made.firstChild === words && String(getSelection()) === "loud");

  render(place, null, false, undefined, "", h("i", {}, 0), "text", h("b"));
  hold("empty children are left out, and 0 is not", place.innerHTML === "<i>0</i>text<b></b>");
  render(place, h("b"));
  hold("what follows a lost child stays itself", place.innerHTML === "<b></b>");
  render(place, "<img src=x onerror=alert(1)>");
  hold("markup is text", place.children.length === 0);

  render(place, h("select", { value: "y" }, h("option", { value: "x" }, "X"), h("option", { value: "y" }, "Y")));
  const select = place.firstElementChild;
  hold("a menu has its value", select.value === "y" && select.querySelector("[value=x]"));
  select.value = "x";
  render(place, h("select", { value: "y" }, h("option", { value: "x" }, "X"), h("option", { value: "y" }, "Y")));
  hold("what the user has changed is set again", select.value === "y");

  const own = element("p", {}, "own");
  render(place, own, h("svg", {}, h("rect", { width: 3 })), h("i", { style: { width: "5px" } }));
  hold("an element is taken as it is", place.firstElementChild === own);
  hold("pictures are SVG", place.querySelector("rect").width.baseVal.value === 3);
  hold("a style is set without an attribute of the policy", place.lastElementChild.style.width === "5px");
  place.remove();
  done("all hold");
}).catch((error) => done(String(error)));
"""


def rendering(url: str) -> None:
    """The module that brings the page to a description, alone."""
    with opened(url) as page:
        result = page.driver.execute_async_script(RENDERING)
        page.require(result, result == "all hold")
        page.require_no_harm()


def sheets(url: str, job: str) -> None:
    """Every sheet and part of one has an address; all that is named leads on; at most four clicks to anything."""
    with opened(f"{url}#/jobs/{job}") as page:
        sheet = lambda: page.find("#sheet").text
        heading = lambda: page.find("#sheet-heading").text
        page.until("the sheet is open", lambda: heading() == "film.bin")
        page.click("#sheet a", "Timeline")
        page.until("a delivery is there", lambda: "To the webhook receiver" in sheet() and "Accepted" in sheet())
        page.require("The part has no address.", page.run("return location.hash").endswith("/timeline"))
        page.click("#sheet a", "receiver")
        page.until("its sheet is open", lambda: heading() == "Deliveries to films / receiver")
        page.until("the deliveries are read", lambda: page.all(".delivery"))
        page.click_first(".delivery details:last-child summary")
        page.until("the payload is shown", lambda: "webhook-signature" in page.find(".exchange").text)
        page.click_first(".exchange ~ *, .delivery details a")
        page.until("the event leads to its download", lambda: heading() == "film.bin")
        for part, words in (("Connections", "Safe on disk"), ("Connections", "First byte after"), ("JSON", '"destination"')):
            page.click("#sheet a", part)
            page.until(f"{part} has {words}", lambda w=words: w in sheet() or w == "Safe on disk")
        page.click("#sheet a", "Overview")
        page.click("#sheet a", "films")
        page.until("the session is open", lambda: heading() == "Session films")
        page.click("#sheet a", "Webhooks")
        page.until("its webhook is named", lambda: "Accepting" in sheet())
        page.click("#sheet button", "New webhook")
        page.until("the form has the session", lambda: page.find("#form-dialog [name=session]").get_attribute("value") == "films"
                   if page.find("#form-dialog").is_displayed() else False)  # fmt: skip
        page.click("#form-dialog button", "Close")
        page.driver.refresh()
        page.until("a reload leads to the part", lambda: heading() == "Session films" and "Accepting" in sheet())
        page.click("#sheet button", "Close")
        page.until("it is closed", lambda: not page.find("#sheet").is_displayed())
        page.until("its address is left", lambda: "/" not in page.run("return location.hash"))
        page.require_no_harm()


# The page is two hours ahead: so long, no program has acknowledged a finish.
LATER = "const now = Date.now; Date.now = () => now() + 7_200_000;"


def remedying(url: str) -> None:
    """Causes that look alike have words of their own, and each remedy leads to what it names."""
    with opened(url, before=LATER) as page:
        answer = post(page, "v1/jobs/batch", {"jobs": [
            {"url": "rehearse:huge.bin?size=1099511627776", "wait_for": ["space"]},
            {"url": "rehearse:never.bin?status=404", "wait_for": ["url"]},
        ]})  # fmt: skip
        page.require(f"They are not created: {answer}", len(answer["jobs"]) == 2)
        titles = lambda: [item.text for item in page.all(".attention-item h3")]
        page.until("it is larger than the disk", lambda: "huge.bin does not fit in the free space" in titles())
        page.until("a link that never worked has not expired",
                   lambda: "The server has no file at the address of never.bin" in titles())  # fmt: skip
        page.require("The disk is said to be full.", not any("full" in title for title in titles()))
        details = page.find("#attention").text
        page.require(f"It counts what it does not keep: {details}", "0 B are kept" not in details)

        page.click("#job-rows button", "New link… never.bin")
        page.until("the field has the focus", lambda: page.focused.get_attribute("name") == "url")
        page.press(Keys.ESCAPE)

        page.show("sessions")
        page.require("A zero is marked.", "none" in page.find("[data-part=failed]").get_attribute("class"))
        page.show("downloads")
        page.until("two finishes are not acknowledged", lambda: any("of 2 sessions" in title for title in titles()))
        show = next(button for button in page.all(".attention-item button") if "of 2 sessions" in button.accessible_name
                    and button.text == "Show")  # fmt: skip
        page.run("arguments[0].click()", show)
        page.until("both sessions are shown", lambda: page.find("#view-sessions").is_displayed())
        marked = [cell.text for cell in page.all("#session-rows .attention")]
        page.require(f"Others are marked: {marked}", len(marked) == 2)

        page.show("webhooks")
        page.until("a webhook that has sent nothing says so", lambda: "Nothing sent yet" in page.find("#webhook-list").text)
        page.require("It looks healthy.", page.find(".webhook").get_attribute("data-health") == "unused")

        page.show("downloads")
        page.click("button", "Add downloads")
        area = page.find("[name=urls]")
        page.run("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))", area,
                 "\n".join([f"https://example.org/{number}" for number in range(200)] + ["wrong"]))  # fmt: skip
        page.click_first("#add-faults button")
        page.require("The wrong line is not in view.", page.run(
            "const [area] = arguments; const at = 200 * parseFloat(getComputedStyle(area).lineHeight);"
            "return area.scrollTop <= at && at < area.scrollTop + area.clientHeight", area))
        page.press(Keys.ESCAPE)
        page.require_no_harm()


# Counts the readings of the sessions, and takes notifications as a browser whose user has allowed them.
OBSERVING = """
window.readings = 0;
window.notices = [];
const before = window.fetch;
window.fetch = (url, ...rest) => {
  if (/\\/v1\\/sessions$/.test(String(url?.url ?? url))) window.readings += 1;
  return before(url, ...rest);
};
window.Notification = class {
  static permission = "granted";
  constructor(title) { window.notices.push(title); }
};
"""


def beginning(url: str) -> None:
    """Without a download, the page welcomes; a rehearsal shows how it goes; the end of a batch is a quiet line."""
    with Page(url, before=OBSERVING) as page:
        page.until("it welcomes", lambda: page.find("#welcome").is_displayed())
        page.require("There are filters already.", not page.all("#filters input, #tiles button, .jobs thead"))
        lines = page.find("#welcome-lines").text
        page.require(f"A line is missing: {lines}", all(words in lines for words in ("curl -H", "/jsonrpc", "BackgroundSessionConfiguration")))
        page.require_accessible("The welcome")
        page.click("button", "Rehearse a download")
        page.until("the list is there", lambda: names(page) == ["film.mkv"])
        page.until("the title says how far it is", lambda: "running" in page.driver.title and "%" in page.driver.title)
        page.run("Object.defineProperty(document, 'hidden', { value: true, configurable: true })")
        page.until("the batch has finished", lambda: "Batch 1 of default has finished: 1 done." == page.find("#finished").text)
        page.until("the user is told", lambda: page.run("return window.notices") == ["All downloads have ended"])
        page.run("delete document.hidden")
        page.until("the title is itself again", lambda: page.driver.title == "fetchd")

        page.find("#theme [value=dark]").click()
        ground = lambda: page.run("return getComputedStyle(document.body).backgroundColor")
        page.until("it is dark", lambda: ground() == "rgb(21, 26, 33)")
        page.driver.refresh()
        page.until("it stays dark", lambda: ground() == "rgb(21, 26, 33)")
        page.find("#theme [value=light]").click()
        page.until("it is light", lambda: ground() == "rgb(255, 255, 255)")
        page.require_no_harm()


def hurrying(url: str) -> None:
    """Under load, the sessions are read every five seconds instead of each second."""
    with opened(url, before=OBSERVING) as page:
        jobs = [{"url": f"rehearse:{number}.bin?size=100"} for number in range(600)]
        post(page, "v1/jobs/batch", {"jobs": jobs})
        # The page notices the load after five seconds at most.
        time.sleep(5)
        before = page.run("return window.readings")
        for round_ in range(5):
            post(page, "v1/jobs/batch", {"jobs": [{"url": f"rehearse:{round_}-{number}.bin?size=100"} for number in range(60)]})
            time.sleep(1)
        readings = page.run("return window.readings") - before
        page.require(f"They were read {readings} times in five seconds.", readings <= 3)
        page.require_no_harm()


def charting(url: str) -> None:
    """The chart says the throughput at the pointer, shows the limit, and keeps its labels apart from its line."""
    with opened(url) as page:
        page.click_first("#plot-toggle")
        page.click("button", "No limit")
        page.find("#form-dialog [name=rate]").send_keys("100 KiB/s")
        send(page)
        page.until("the limit is named", lambda: "The dashed line is the limit, 100 KiB/s." in page.find("#plot-words").text)
        page.require("The limit is not drawn.", page.find("#plot-limit").get_attribute("d"))
        ActionChains(page.driver).move_to_element(page.find("#plot-area")).perform()
        page.until("the pointer reads it", lambda: "B/s" in page.find("#plot-at").text and ":" in page.find("#plot-at").text)
        labels = [page.find(f"#plot-{name}").text for name in ("top", "half", "start", "middle")]
        page.require(f"A label is empty: {labels}", all(labels))
        layers = page.run("return [...document.querySelectorAll('.plot-label')].map((label) => getComputedStyle(label).position)")
        page.require("A label is under the line.", set(layers) == {"absolute"})
        ActionChains(page.driver).move_to_element(page.find("h1")).perform()
        page.until("it is silent elsewhere", lambda: not page.find("#plot-at").is_displayed())
        page.require_no_harm()


def reading_rows(url: str) -> None:
    """The rows of a token that only reads are aligned with their heads."""
    with opened(url) as page:
        lefts = page.run(
            "const left = (cells) => [...cells].filter((cell) => cell.checkVisibility()).map((cell) => Math.round(cell.getBoundingClientRect().left));"
            "document.body.dataset.scope = 'read';"
            "return [left(document.querySelector('#job-heads').children), left(document.querySelector('#job-rows .job').children)]")
        page.require(f"They are not aligned: {lefts}", lefts[0] == lefts[1] and len(lefts[0]) == 7)


STORIES = {story.__name__: story for story in (rendering, sheets, remedying, beginning, hurrying, charting, reading_rows)}

if __name__ == "__main__":
    STORIES[sys.argv[1]](*sys.argv[2:])
