#!/usr/bin/env python3
"""Tests/Browser/controls.py STORY URL [ARGUMENT...]

Controls a service with the dashboard at URL as a person would, in headless Chromium. Exits with 0 if all checks hold. The tests
in EndToEndTests/Dashboard start the stories, and check afterwards what the service has.
"""

from __future__ import annotations

import http.client
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from page import Page, say
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys


# Before the list is read, both texts are empty or say so.
LIST_IS_READ = """
const [count, empty] = ["#jobs-count", "#jobs-empty"].map((selector) => document.querySelector(selector).textContent);
return count ? !count.includes("so far") : empty.startsWith("There are no downloads yet");
"""


def opened(url: str, **options: object) -> Page:
    page = Page(url, **options)
    page.until("it is connected", lambda: page.find("#connection-words").text.startswith("Live"))
    page.until("the list is read", lambda: page.run(LIST_IS_READ))
    return page


def names(page: Page) -> list[str]:
    return page.run("return [...document.querySelectorAll('#job-rows [data-part=name]')].map((name) => name.textContent)")


def selected(page: Page) -> str:
    return page.find("#selection-words").text


def box(page: Page, name: str):
    return page.named("#job-rows input", f"Select {name}")


def fill(page: Page, **values: str) -> None:
    """Fills the fields of the form that is open, by their names."""
    for name, value in values.items():
        field = page.find(f"dialog[open] [name='{name}']")
        details = page.run("return arguments[0].closest('details:not([open])')", field)
        if details:
            page.click_first("dialog[open] details:not([open]) > summary")
        if field.tag_name != "select":
            field.clear()
        field.send_keys(value)


def send(page: Page) -> None:
    page.click_first("#form-submit")
    page.until("the form is closed", lambda: not page.find("#form-dialog").is_displayed())


def selecting(url: str) -> None:
    """Selects by click, with Shift, all, all that failed and by keyboard; and acts on what is selected."""
    with opened(url) as page:
        page.until("all have failed", lambda: page.named("button", "7 Failed"))
        page.until("there is nothing else", lambda: page.find("#jobs-count").text == "37 downloads")
        page.click("button", "Select all failed (7)")
        page.until("they are selected", lambda: selected(page) == "7 selected")
        page.require("A queued download is selected.", not box(page, "later-3.bin").is_selected())
        pause = page.named("[data-bulk]", "Pause")
        page.require("What failed can be paused.", pause.get_attribute("aria-disabled"))
        page.click("[data-bulk]", "Retry")
        page.until("it says how many", lambda: "7 downloads retried." in page.find("#notices").text)
        failures = ("return fetch('v1/events?limit=1000').then((answer) => answer.json())"
                    ".then(({ events }) => events.filter(({ type }) => type === 'job.failed').length)")  # fmt: skip
        page.until("they have failed again", lambda: page.run(failures) == 14)
        page.click("#selection button", "Clear the selection")
        page.require("Something is still selected.", selected(page) == "Select all")

        # A click, and with Shift a range; with Ctrl one more.
        page.find("#filters [name=state] [value=queued]").click()
        page.until("only the queued are there", lambda: len(names(page)) == 30)
        page.click("#job-rows input", "Select later-20.bin")
        ActionChains(page.driver).key_down(Keys.SHIFT).click(box(page, "later-16.bin")).key_up(Keys.SHIFT).perform()
        page.require(f"It is {selected(page)}.", selected(page) == "5 selected")
        page.click("[data-bulk]", "Pause")
        page.until("five are paused", lambda: page.named("button", "5 Paused"))
        page.click("button", "Show all")
        page.click("[data-bulk]", "Resume")
        page.until("they are queued", lambda: page.named("button", "0 Paused"))

        # The keyboard alone.
        page.click("#selection button", "Clear the selection")
        page.run("arguments[0].focus()", page.named("#job-rows button", "later-27.bin"))
        # On a name, too, it does not open.
        page.press(Keys.SPACE)
        page.require("It has opened.", not page.find("#sheet").is_displayed())
        page.require(f"It is {selected(page)}.", selected(page) == "1 selected")
        page.run("arguments[0].focus()", box(page, "later-27.bin"))
        ActionChains(page.driver).key_down(Keys.SHIFT).send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN).key_up(Keys.SHIFT).perform()
        page.require(f"It is {selected(page)}.", selected(page) == "3 selected")
        page.require("The focus did not follow.", page.focused.accessible_name == "Select later-29.bin")
        page.press(Keys.END)
        page.require("End does not lead to the end.", page.focused == page.all("#job-rows input")[-1])
        page.press(Keys.TAB, Keys.TAB, Keys.TAB, Keys.TAB)
        page.require("Tab does not leave the list.", not page.run("return document.activeElement.closest('#job-rows')"))

        # The queue: the service starts the one at the top first.
        page.click("[data-bulk]", "Move to bottom")
        page.until("three are moved", lambda: "3 downloads moved to the bottom of the queue." in page.find("#notices").text)
        page.find("#filters [name=order] [value=queue]").click()
        queued = [f"later-{number}.bin" for number in [*range(27), 27, 28, 29]]
        page.until("they are at the bottom", lambda: names(page)[:30] == queued)
        page.click("[data-bulk]", "Move to top")
        page.until("they are at the top", lambda: names(page)[:4] == ["later-27.bin", "later-28.bin", "later-29.bin", "later-0.bin"])
        page.find("#filters [name=order] [value=first]").click()
        # A drag of one of the selected moves all of them.
        page.run(DRAG, "later-27.bin", "later-2.bin")
        page.until("they are moved", lambda: names(page)[:6] == [f"later-{number}.bin" for number in (0, 1, 27, 28, 29, 2)])
        page.run(DRAG, "later-5.bin", "later-0.bin")
        page.until("it is moved", lambda: names(page)[:3] == ["later-5.bin", "later-0.bin", "later-1.bin"])

        # Priority of the downloads, and the rate of their session.
        page.click("[data-bulk]", "Change…")
        fill(page, priority="low", sessionRate="fast")
        page.click_first("#form-submit")
        page.until("the mistake is named", lambda: "such as 500 KiB/s" in page.find("#form-error").text)
        page.require("Its field is not marked.", page.focused.get_attribute("name") == "sessionRate")
        fill(page, sessionRate="512 KiB/s")
        send(page)
        page.until("three are changed", lambda: "3 downloads changed." in page.find("#notices").text)
        page.until("the session is limited", lambda: "limited to 512 KiB/s" in page.find("#notices").text)

        # All; Escape clears; Delete asks first.
        page.run("arguments[0].focus()", box(page, "later-29.bin"))
        ActionChains(page.driver).key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL).perform()
        page.require(f"It is {selected(page)}.", selected(page) == "37 selected")
        page.press(Keys.ESCAPE)
        page.require(f"It is {selected(page)}.", selected(page) == "Select all")
        page.click("button", "Select all failed (7)")
        page.run("arguments[0].focus()", page.named("#job-rows button", "gone-1.bin"))
        page.press(Keys.DELETE)
        page.until("it asks", lambda: "Remove 7 downloads?" in page.find("#question-dialog").text)
        page.click("#question-dialog button", "Remove 7")
        page.until("they are gone", lambda: page.find("#jobs-count").text == "30 downloads")
        page.require("What is gone is selected.", selected(page) == "Select all")
        page.require_no_harm()


DRAG = """
const [from, to] = [...arguments].map((name) => [...document.querySelectorAll("#job-rows [data-job]")]
  .find((row) => row.querySelector("[data-part=name]").textContent === name));
const transfer = new DataTransfer();
const send = (type, row) => {
  const { left, top } = row.getBoundingClientRect();
  const event = { dataTransfer: transfer, bubbles: true, cancelable: true, clientX: left + 5, clientY: top + 5 };
  row.dispatchEvent(new DragEvent(type, event));
};
send("dragstart", from); send("dragover", to); send("drop", to); send("dragend", from);
"""


def linking(url: str) -> None:
    """What is shown has an address: Back, a reload and a link lead to it."""
    with opened(url) as page:
        page.until("all are there", lambda: len(names(page)) == 6)
        address = lambda: page.run("return location.hash")
        page.find("#filters [name=session] [value=films]").click()
        page.until("only those of films are there", lambda: len(names(page)) == 3)
        page.find("#filters [name=text]").send_keys("film-1")
        page.until("only one is there", lambda: names(page) == ["film-1.bin"])
        page.require(f"The address is {address()}.", address() == "#downloads?text=film-1&session=films")
        page.click("button", "film-1.bin")
        page.until("it is open", lambda: page.find("#sheet").is_displayed())
        job = address()
        page.require(f"The address is {job}.", job.startswith("#/jobs/job_"))
        page.press(Keys.ESCAPE)
        page.until("it is closed", lambda: not page.find("#sheet").is_displayed())
        page.until("the address is that of the list", lambda: address() == "#downloads?text=film-1&session=films")
        page.require("The focus is lost.", page.focused.accessible_name == "film-1.bin")
        page.driver.back()
        page.until("all are there again", lambda: len(names(page)) == 6)
        page.driver.forward()
        page.until("only one is there", lambda: names(page) == ["film-1.bin"])
        page.driver.refresh()
        page.until("only one is there", lambda: names(page) == ["film-1.bin"])
        page.show("sessions")
        page.show("downloads")
        page.require("The filter is lost.", names(page) == ["film-1.bin"])
        page.driver.get(url + "/" + job)
        page.driver.refresh()
        page.until("it is open", lambda: page.find("#sheet").is_displayed())
        page.until("it has its name", lambda: page.find("#sheet-heading").text == "film-1.bin")
        page.driver.execute_script("location.hash = 'sessions'")
        page.until("it is closed", lambda: not page.find("#sheet").is_displayed())
        page.driver.back()
        page.until("it is open again", lambda: page.find("#sheet").is_displayed())


def typing_keys(url: str) -> None:
    """Keys of one letter lead through the page, act on downloads, and can be turned off."""
    with opened(url) as page:
        page.until("all are there", lambda: len(names(page)) == 6)
        page.press("j", "j")
        page.require(f"It is at {page.focused.text}.", page.focused.text == names(page)[1])
        page.press("p")
        page.until("it is paused", lambda: page.named("button", "1 Paused"))
        page.press("r")
        page.until("it is queued", lambda: page.named("button", "0 Paused"))
        page.press("k", Keys.ENTER)
        page.until("it is open", lambda: page.find("#sheet").is_displayed())
        # The sheet has the actions, too; letters do nothing behind it.
        page.press("x")
        page.click("#sheet button", "Pause")
        page.until("it can be resumed", lambda: page.named("#sheet button", "Resume"))
        page.press(Keys.ESCAPE)
        page.until("it is closed", lambda: not page.find("#sheet").is_displayed())
        page.until("one is paused, and none cancelled", lambda: page.named("button", "1 Paused") and page.named("button", "5 Queued"))
        page.press("/", *"film-2")
        page.until("the list is narrow", lambda: names(page) == ["film-2.bin"])
        page.run("document.activeElement.blur()")
        page.press("g", "s")
        page.until("the sessions are shown", lambda: page.find("#view-sessions").is_displayed())
        page.press("n")
        page.until("the form is open", lambda: page.find("#add-dialog").is_displayed())
        page.press(Keys.ESCAPE)
        ActionChains(page.driver).key_down(Keys.CONTROL).send_keys("k").key_up(Keys.CONTROL).perform()
        page.until("the palette is open", lambda: page.find("#palette").is_displayed())
        page.require_accessible("The palette")
        page.press(*"other-1")
        page.until("a download is found", lambda: [option.text for option in page.all("#palette-list [role=option]")] == ["other-1.bin\nQueued"])
        page.press(Keys.ENTER)
        page.until("it is open", lambda: page.find("#sheet-heading").text == "other-1.bin")
        page.press(Keys.ESCAPE)
        page.until("it is closed", lambda: not page.find("#sheet").is_displayed())
        page.press("g", "s", "?")
        page.until("the keys are listed", lambda: page.find("#keys-dialog").is_displayed())
        page.click_first("#keys-on")
        page.press(Keys.ESCAPE)
        page.until("the list is closed", lambda: not page.find("#keys-dialog").is_displayed())
        page.press("?", "n", "g", "d")
        page.require("A key is on.", not page.all("dialog[open]") and page.find("#view-sessions").is_displayed())
        page.require_no_harm()


def sorting(url: str) -> None:
    """Each head sorts by its column, and once more in the other direction; a text, a session and a state narrow the list."""
    with opened(url) as page:
        page.until("all are there", lambda: len(names(page)) == 6)
        parts = ["part-1000.bin", "part-2000.bin", "part-3000.bin"]
        # What starts next comes first, and then the newest.
        first = ["film-0.bin", "film-1.bin", "film-2.bin", "part-2000.bin", "part-1000.bin", "part-3000.bin"]
        page.require(f"Not what runs first: {names(page)}", names(page) == first)
        page.click("#job-heads button", "Name")
        page.until("they are sorted by name", lambda: names(page)[3:] == parts)
        head = page.find("#job-heads [data-sort=name]")
        page.require("The order is not announced.", head.get_attribute("aria-sort") == "ascending")
        page.click("#job-heads button", "Name")
        page.until("the order is reversed", lambda: names(page)[:3] == parts[::-1])
        page.require("The order is not announced.", head.get_attribute("aria-sort") == "descending")
        for key in page.run("return [...document.querySelectorAll('#job-heads [data-sort]')].map((head) => head.dataset.sort)"):
            page.click_first(f"#job-heads [data-sort={key}] button")
            page.until(f"it is sorted by {key}", lambda k=key: page.find(f"#job-heads [data-sort={k}]").get_attribute("aria-sort"))
            page.require("One has got lost.", len(names(page)) == 6)
        order = page.find("#filters [name=order]")
        order.find_element(By.CSS_SELECTOR, "[value='size,descending']").click()
        page.until("the largest is first", lambda: names(page)[:3] == parts[::-1])
        page.find("[name=text]").send_keys("FILM-")
        page.until("the text narrows the list", lambda: len(names(page)) == 3 and "3 of 6" in page.find("#jobs-count").text)
        page.click("button", "Show all")
        page.find("#filters [name=session] [value=films]").click()
        page.until("the session narrows the list", lambda: names(page) and all("film" in name for name in names(page)))
        page.require_no_harm()


def organising(url: str) -> None:
    """Sessions are declared, changed, acknowledged, paused and deleted. A secret of the configuration is kept."""
    with opened(url) as page:
        page.show("sessions")
        page.click("button", "New session")
        fill(page, id="films", max_concurrent_jobs="2", rate="2 MiB/s", headers="Authorization: Bearer planted")
        page.click_first("dialog[open] [name=wait_url]")
        send(page)
        page.until("it is there", lambda: page.named("#session-rows button", "films"))
        page.require("Its limits are not shown.", "at most 2 MiB/s" in page.find("#session-rows").text)
        page.click("button", "New session")
        fill(page, id="films")
        page.click_first("#form-submit")
        page.until("the name is refused", lambda: "There is a session" in page.find("#form-error").text)
        fill(page, id="no/slash")
        page.click_first("#form-submit")
        page.until("the name is refused", lambda: page.find("#form-error").is_displayed() and "There is" not in page.find("#form-error").text)
        fill(page, id="spare", finish_delay_seconds="0")
        send(page)

        # A session with its webhook: the secret is shown once, after three clicks.
        page.click("button", "New session")
        fill(page, id="hooked", webhook="nowhere")
        page.click_first("#form-submit")
        page.until("the address is refused", lambda: "“Webhook”" in page.find("#form-error").text)
        fill(page, webhook="http://127.0.0.1:9/hook")
        page.click_first("#form-submit")
        page.until("the secret is shown", lambda: any(
            field.get_attribute("value").startswith("whsec_") for field in page.all("#form-dialog [name=secret]")))  # fmt: skip
        send(page)
        page.until("it is there", lambda: page.named("#session-rows button", "hooked"))

        page.click("button", "Edit session films")
        page.until("the form is open", lambda: page.find("#form-dialog").is_displayed())
        value = lambda name: page.find(f"dialog[open] [name={name}]").get_attribute("value")
        page.require("The form has other values.", value("rate") == "2 MiB/s" and value("max_concurrent_jobs") == "2")
        page.require("The secret is shown.", value("headers") == "Authorization: [secret]")
        page.require("The choice is lost.", page.find("dialog[open] [name=wait_url]").is_selected())
        fill(page, max_concurrent_jobs="3", proxy="nonsense")
        page.click_first("#form-submit")
        page.until("the mistake is named", lambda: "Proxy" in page.find("#form-error").text)
        fill(page, proxy="")
        send(page)
        page.until("it has changed", lambda: "3 at once" in page.find("#session-rows").text)

        page.click("#session-heads button", "Done")
        first = "return document.querySelector('#session-rows [data-part=name]').textContent"
        page.until("the session with most is first", lambda: page.run(first) == "default")
        page.click("button", "Acknowledge session default")
        page.until("it is acknowledged", lambda: "Batch 1 finished" in page.find("#session-rows").text and "not acknowledged" not in page.find("#session-rows").text)
        page.require("The focus has left the row.", page.focused.accessible_name == "Edit session default")
        page.click("button", "Delete session spare")
        page.click("#question-dialog button", "Delete")
        page.until("it is gone", lambda: page.named("#session-rows button", "spare") is None)
        page.find("#sessions-text").send_keys("film")
        page.until("the name narrows the table", lambda: len(page.all("#session-rows tr")) == 1)
        page.click("#session-rows button", "films")
        page.until("the sheet is open", lambda: page.find("#sheet-heading").text == "Session films")
        page.click_first("#sheet dl button")
        page.until("its downloads are shown", lambda: page.find("#view-downloads").is_displayed())
        page.require("The filter is another.", page.find("#filters [name=session]").get_attribute("value") == "films")
        page.driver.back()
        page.until("Back leads back", lambda: page.find("#view-sessions").is_displayed())
        page.require_no_harm()


# After `hold()`, the page gets the answers to PUT only after `release()`.
HOLDING = """
const asked = window.fetch;
window.hold = () => { window.held = new Promise((release) => (window.release = release)); };
window.fetch = async (url, options) => {
  const answer = await asked(url, options);
  if (options?.method === "PUT") await window.held;
  return answer;
};
"""


def posting(url: str, receiver: str) -> None:
    """Webhooks are declared, tested, changed, sent again and deleted. The secret is shown once."""
    with opened(url, before=HOLDING) as page:
        page.show("webhooks")
        page.click("button", "New webhook")
        fill(page, name="library", url="nonsense")
        page.click_first("#form-submit")
        page.until("the mistake is named", lambda: "Address" in page.find("#form-error").text)
        fill(page, url=receiver)
        # Escape does not close the form while its answer, with the secret, is on its way.
        page.run("hold()")
        page.click_first("#form-submit")
        page.until("it is sent", lambda: page.find("#form-submit").get_attribute("aria-busy"))
        page.press(Keys.ESCAPE, Keys.ESCAPE)
        page.run("release()")
        page.until("the secret is shown", lambda: "The secret of library" in page.find("#form-heading").text)
        secret = page.find("dialog[open] [name=secret]").get_attribute("value")
        page.require("It is not a secret.", secret.startswith("whsec_"))
        send(page)
        page.until("it is listed", lambda: page.all(".webhook"))
        page.require("The secret stays on the page.", secret not in page.run("return document.documentElement.outerHTML"))

        page.click("button", "Send a test: default / library")
        page.click("button", "Deliveries: default / library")
        page.until("its log has an address", lambda: page.run("return location.hash") == "#/webhooks/default/library")
        page.until("it was given up", lambda: "Given up" in page.find("#sheet").text)
        page.find("#sheet select [value=acknowledged]").click()
        page.until("nothing was accepted yet", lambda: "There are no deliveries" in page.find("#sheet").text)
        page.find("#sheet select [value='']").click()
        page.click("#sheet button", "Send all that were given up again")
        page.until("it is accepted", lambda: "Accepted" in page.find("#sheet").text)
        page.click("#sheet button", "Close")

        page.click("button", "Edit: default / library")
        page.until("the form is open", lambda: page.find("#form-dialog").is_displayed())
        page.click_first("dialog[open] [name='job.*']")
        send(page)
        page.until("it has changed", lambda: "session.*, job.*" in page.find(".webhook").text)
        page.click("button", "Edit: default / library")
        page.until("the form is open", lambda: page.find("#form-dialog").is_displayed())
        page.require("The form has former values.", page.find("dialog[open] [name='job.*']").is_selected())
        page.press(Keys.ESCAPE)
        page.until("the form is closed", lambda: not page.find("#form-dialog").is_displayed())
        page.click("button", "Replay from: default / library")
        page.until("the form is open", lambda: page.find("#form-dialog").is_displayed())
        send(page)
        page.until("events are sent again", lambda: "will be sent again" in page.find("#notices").text)
        page.click("button", "New secret: default / library")
        page.click("#question-dialog button", "Replace")
        page.until("another secret is shown", lambda: page.find("#form-dialog").is_displayed())
        page.require("It is the same.", page.find("dialog[open] [name=secret]").get_attribute("value") != secret)
        send(page)
        page.click("button", "Delete: default / library")
        page.click("#question-dialog button", "Delete")
        page.until("it is gone", lambda: not page.all(".webhook"))
        page.until("the consumer waits", lambda: "It has not acknowledged" in page.find("#consumer-list").text)
        page.require_accessible("consumers")
        page.click("button", "Delete indexer")
        page.click("#question-dialog button", "Delete")
        page.until("it is gone", lambda: not page.all("#consumers"))
        page.require_no_harm()


DROP = """
const [selector, kind, name, text] = arguments;
const transfer = new DataTransfer();
if (kind === "Files") transfer.items.add(new File([text], name)); else transfer.setData(kind, text);
for (const type of ["dragenter", "dragover", "drop"]) {
  document.querySelector(selector).dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }));
}
"""
PASTE = """
const transfer = new DataTransfer();
transfer.setData("text/plain", arguments[0]);
document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true }));
"""


def bringing(url: str) -> None:
    """Addresses are pasted, dropped as a link and as files; wrong and repeated lines are named, and can be removed."""
    with opened(url) as page:
        area = lambda: page.find("#add-form textarea").get_attribute("value")
        words = lambda: page.find("#add-preview-words").text
        page.run(PASTE, "http://127.0.0.1:1/one.bin\nhttp://127.0.0.1:1/two.bin http://127.0.0.1:2/two.bin")
        page.until("the form opens with what was pasted", lambda: page.find("#add-dialog").is_displayed())
        page.until("the preview counts it", lambda: words().startswith("2 downloads from 127.0.0.1:1"))
        page.run(DROP, "main", "text/uri-list", "", "http://127.0.0.1:1/three.bin")
        page.run(DROP, "main", "Files", "list.txt", "# a list\nhttp://127.0.0.1:1/four.bin\nftp://127.0.0.1/five\nhttp://127.0.0.1:1/one.bin\n\n")
        page.until("the first file is read", lambda: "four.bin" in area())
        page.run(DROP, "main", "Files", "link.url", "[InternetShortcut]\r\nURL=http://127.0.0.1:1/six.bin\r\n")
        page.until("all of it is there", lambda: "six.bin" in area() and "list" in area())
        page.until("the wrong lines are named", lambda: "2 lines are wrong" in words())
        faults = page.find("#add-faults").text
        page.require(f"It says {faults}", "Line 6: The address “ftp://127.0.0.1/five” cannot be downloaded: fetchd downloads http and https only."
                     in faults and "Line 7: The address is the same as in line 1." in faults)
        page.click("#add-form button", "Add")
        page.until("nothing is sent", lambda: page.find("#add-error").text.startswith("Line 6: "))
        page.require("The line is not selected.", page.run("return getSelection().toString()") == "ftp://127.0.0.1/five")
        page.click("#add-form button", "Remove these 2 lines")
        page.until("five are left", lambda: words().startswith("5 downloads"))
        fill(page, priority="high", tags="a, b", rate="fast")
        page.click_first("#add-form [name=paused]")
        page.click("#add-form button", "Add 5 downloads")
        page.until("the rate is refused", lambda: "such as 500 KiB/s" in page.find("#add-error").text)
        fill(page, rate="500 KiB/s")
        page.click("#add-form button", "Add 5 downloads")
        page.until("they are listed", lambda: page.find("#jobs-count").text == "5 downloads")
        page.until("they are paused", lambda: page.named("button", "5 Paused"))
        # What is not text is refused with a sentence.
        page.run(DROP, "main", "Files", "film.mkv", "\u0000\u0001")
        page.until("it says what to drop", lambda: "film.mkv is not a text file" in page.find("#notices").text)
        page.require("The form is open.", not page.find("#add-dialog").is_displayed())
        page.require_no_harm()


def needing(url: str, one: str, two: str) -> None:
    """Each entry has the action that ends it: a new link, credentials for several downloads at once, a retry."""
    with opened(url) as page:
        order = ("return fetch('v1/jobs/batch', {method: 'POST', headers: {'Content-Type': 'application/json'},"
                 " body: JSON.stringify({jobs: arguments[0]})}).then((answer) => answer.status)")  # fmt: skip
        status = page.run(order, [
            {"url": "rehearse:film.mkv?size=3000000&lose_at=1000000&then=403", "wait_for": ["url"], "retry": {"base_seconds": 0.01}},
            {"url": one, "wait_for": ["credentials"]}, {"url": two}, {"url": "rehearse:gone.bin?status=404"},
        ])  # fmt: skip
        page.require("They are not created.", status == 201)
        items = lambda: [item.text for item in page.all(".attention-item h3")]
        wanted = ("film.mkv", "2 downloads", "1 download failed")
        page.until("three things need a person", lambda: len(found := items()) == 3
                   and all(words in item for words, item in zip(wanted, found, strict=True)))  # fmt: skip
        page.show("sessions")
        page.click("button", "3 need you")
        page.until("they are in view", lambda: page.find("#attention").is_displayed())
        page.until("their heading has the focus", lambda: page.focused.get_attribute("id") == "attention-heading")

        page.click_first(".attention-item:nth-child(2) button")
        fill(page, username="ada")
        page.click_first("#form-submit")
        page.until("the password is missing", lambda: "Enter the password" in page.find("#form-error").text)
        fill(page, secret="lovelace")
        send(page)
        page.until_state("one", "Done")
        page.until_state("two", "Done")
        page.click_first(".attention-item button")
        field = page.until("it asks for a link", lambda: page.named("#sheet input", "Address"))
        field.send_keys("rehearse:film.mkv?size=3000000", Keys.ENTER)
        page.until("it is done", lambda: "Done" in page.find("#sheet dl").text)
        page.press(Keys.ESCAPE)
        page.until("only the failure is left", lambda: len(items()) == 1)
        page.click("button", "Show: 1 download failed")
        page.until("the failed are shown", lambda: names(page) == ["gone.bin"])
        page.click("#job-rows input", "Select gone.bin")
        page.click("[data-bulk]", "Remove…")
        page.click("#question-dialog button", "Remove 1")
        page.until("nothing is selected", lambda: selected(page) == "Select all")
        page.require("The focus is lost with the buttons.", page.focused.get_attribute("id") == "select-all")
        page.until("nothing needs a person", lambda: not page.find("#attention").is_displayed())
        page.require_no_harm()


def refusing(url: str, order: str) -> None:
    """A server that refuses requests has one line for all downloads that wait for it, and each of these says so."""
    host = urlsplit(order).netloc
    with opened(url) as page:
        add = ("return fetch('v1/jobs/batch', {method: 'POST', headers: {'Content-Type': 'application/json'},"
               " body: JSON.stringify({jobs: arguments[0]})}).then((answer) => answer.status)")  # fmt: skip
        page.require("It is not created.", page.run(add, [{"url": order}]) == 201)
        page.until_state("order", "Waiting")
        later = [{"url": f"{order}?{number}", "destination": {"filename": f"later-{number}"}} for number in range(3)]
        page.require("They are not created.", page.run(add, later) == 201)
        title = lambda: next((item.text for item in page.all(".attention-item h3")), "")
        page.until("the server is named", lambda: title().startswith(f"{host} is paused by the server until "))
        page.until("the downloads are counted", lambda: title().endswith(": 3 downloads wait"))
        page.require("It does not say why.", "It has answered a request with 429." in page.find(".attention-item p").text)
        page.until("a row says it", lambda: "is paused by the server until" in page.row_text("later-2", "note"))
        page.click("#job-rows [data-part=name]", "later-2")
        page.until("the details say it", lambda: "2 downloads of the session before it; waits for its server"
                   in page.find("#sheet dl").text)  # fmt: skip
        page.press(Keys.ESCAPE)
        page.click("button", f"Try now: {title()}")
        for name in ("order", "later-0", "later-1", "later-2"):
            page.until_state(name, "Done")
        page.until("nothing needs a person", lambda: not page.find("#attention").is_displayed())
        page.require_no_harm()


def largest(url: str) -> None:
    """Ten thousand downloads in fifty sessions: all are searched, sorted and scrolled to, and only those near the view are rows."""
    with opened(url) as page:
        count = lambda: page.find("#jobs-count").text
        page.until("all are there", lambda: count() == "10,000 downloads")
        rows = lambda: page.run("return document.querySelectorAll('#job-rows tr').length")
        page.require(f"The page has {rows()} rows.", 16 <= rows() <= 120)
        page.find("[name=text]").send_keys("file-3-77")
        page.until("the text is found", lambda: count() == "11 of 10,000 downloads")
        page.click("button", "Show all")
        page.find("#filters [name=session] [value=group-4]").click()
        page.until("one session is shown", lambda: count() == "1,000 of 10,000 downloads")
        page.click("button", "Show all")
        page.click("#job-heads button", "Name")
        page.until("they are sorted", lambda: names(page)[:2] == ["file-0-0.bin", "file-0-1.bin"])
        page.run("scrollTo(0, document.documentElement.scrollHeight)")
        page.until("the last name is there", lambda: names(page)[-1] == "file-9-999.bin")
        page.run("scrollTo(0, document.documentElement.scrollHeight / 2)")
        page.until("those in the middle are there", lambda: any(name.startswith("file-4-9") for name in names(page)))
        page.require(f"The page has {rows()} rows.", 16 <= rows() <= 120)
        page.run("scrollTo(0, 0)")
        page.until("the first name is there", lambda: names(page)[0] == "file-0-0.bin")
        moved = page.run("return [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
                         ".reduce((sum, { transferSize }) => sum + transferSize, 0)")  # fmt: skip
        say(f"{moved:,} bytes")
        page.require(f"It takes {moved:,} bytes.", moved < 1_000_000)
        page.click_first("#select-all")
        page.until("all are selected", lambda: selected(page) == "10,000 selected")
        page.require("It takes too long to show a change.", page.run(
            "const start = performance.now(); document.querySelector('#select-all').click();"
            " return performance.now() - start") < 2000)
        # A reload asks for no file again.
        page.driver.refresh()
        page.until("all are there", lambda: count() == "10,000 downloads")
        again = page.run("return performance.getEntriesByType('resource').filter(({ name, transferSize }) =>"
                         " name.includes('/dashboard/') && transferSize > 0).map(({ name }) => name)")  # fmt: skip
        page.require(f"These are read again: {again}", not again)
        page.click_first("#select-all")
        page.until("all are selected", lambda: selected(page) == "10,000 selected")
        page.click("[data-bulk]", "Pause")
        page.until("all are paused", lambda: "10,000 downloads paused." in page.find("#notices").text)
        page.show("sessions")
        page.require("A session is missing.", len(page.all("#session-rows tr")) == 50)
        page.resize(360, 740)
        page.until("nothing is wider than the phone", lambda: page.run("return document.documentElement.scrollWidth") <= 360)
        page.require_no_harm()


def limited(url: str, token: str) -> None:
    """A token for the downloads of a session sees neither settings nor what changes sessions and webhooks."""
    with Page(url) as page:
        page.until("it asks for the token", lambda: page.find("#token-dialog").is_displayed())
        page.press(token, Keys.ENTER)
        page.until("the downloads are there", lambda: len(names(page)) == 2)
        page.until("the scope is known", lambda: page.run("return document.body.dataset.scope") == "jobs")
        page.require("Nothing can be added.", page.named("button", "Add downloads"))
        page.require("Nothing can be cancelled.", page.named("button", "Cancel later-0.bin"))
        page.require("The settings are offered.", not page.find("#views [href='#settings']").is_displayed())
        page.require("The throughput of all is shown.", not page.find("#plot").is_displayed())
        page.show("sessions")
        page.until("the session is there", lambda: page.all("#session-rows tr"))
        for button in ("New session", "Edit session default", "Pause all downloads of default"):
            page.require(f"There is '{button}'.", page.named("button", button) is None)
        page.show("webhooks")
        page.require("A webhook can be declared.", page.named("button", "New webhook") is None)
        page.require_no_harm()


def below_a_path(url: str) -> None:
    """A reverse proxy serves the page below another path, and the page finds everything there."""
    service = urlsplit(url)

    class Proxy(BaseHTTPRequestHandler):
        def pass_on(self) -> None:
            if not self.path.startswith("/fetchd/"):
                self.send_error(404)
                return
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            kept = {name: value for name, value in self.headers.items() if name.lower() in ("content-type", "accept")}
            upstream = http.client.HTTPConnection(service.hostname, service.port)
            upstream.request(self.command, self.path.removeprefix("/fetchd"), body or None, kept)
            answer = upstream.getresponse()
            self.send_response(answer.status)
            for name in ("Content-Type", "Content-Security-Policy"):
                if answer.getheader(name):
                    self.send_header(name, answer.getheader(name))
            self.end_headers()
            try:
                while piece := answer.read1(65536):
                    self.wfile.write(piece)
                    self.wfile.flush()
            except OSError:
                pass

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = pass_on

        def log_message(self, *_: object) -> None:
            pass

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    proxy.daemon_threads = True
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    with opened(f"http://127.0.0.1:{proxy.server_port}/fetchd/") as page:
        page.click("button", "Add downloads")
        page.find("#add-form textarea").send_keys("rehearse:film.mkv?size=1000", Keys.CONTROL, Keys.ENTER)
        page.until_state("film.mkv", "Done")
        page.show("webhooks")
        page.require("The view is elsewhere.", page.driver.current_url.endswith("/fetchd/#webhooks"))
        page.require_no_harm()


# The history of a service that has run for a while.
HISTORY = """
const asked = window.fetch;
window.fetch = (url, options) => {
  if (!String(url).endsWith("/v1/throughput")) return asked(url, options);
  const series = (count, interval) => ({ interval_seconds: interval, bytes_per_second: Array.from({ length: count }, (_, i) => i * 1048576) });
  return Promise.resolve(Response.json({ ends_at: new Date().toISOString(), hour: series(60, 60), week: series(168, 3600) }));
};
"""


def looking_back(url: str) -> None:
    """The graph has the last five minutes, the last hour and the last week."""
    with opened(url, before=HISTORY) as page:
        words = lambda: page.find("#plot-words").text
        page.click_first("#plot-toggle")
        page.run("arguments[0].focus()", page.find("#plot-period input"))
        for start, ending in (("1 hour ago", "highest 59.0 MiB/s, average 29.5 MiB/s in the last 1 h."),
                              ("7 days ago", "highest 167 MiB/s, average 83.5 MiB/s in the last 7 d.")):  # fmt: skip
            page.press(Keys.ARROW_RIGHT)
            page.until(f"it shows {ending}", lambda e=ending: words().endswith(e))
            page.require("The axis says something else.", page.find("#plot-start").text == start)
    with opened(url) as page:
        page.click_first("#plot-toggle")
        page.click_first("#plot-period label:nth-child(3)")
        page.until("the service has an hour", lambda: "in the last 1 h." in page.find("#plot-words").text)
        page.require_no_harm()


def configuring(url: str) -> None:
    """The settings of the service are changed, refused with the reason at the field, and reset."""
    with opened(url) as page:
        page.show("settings")
        field = lambda name: page.find(f"#settings-form [name={name}]")
        source = lambda name: page.run("return arguments[0].closest('.field').querySelector('.source').textContent", field(name))
        page.until("the settings are there", lambda: page.all("#settings-form [name=max_concurrent_jobs]"))
        page.require(f"It is {source('log_level')}.", source("log_level") == "set by an option of the command line")

        def save(**values: str) -> None:
            for name, value in values.items():
                field(name).clear()
                field(name).send_keys(value)
            page.click("#settings-form button", "Save the settings")

        save(rate_limit_bytes_per_second="fast")
        page.until("the rate is refused", lambda: "such as 500 KiB/s" in page.find("#settings-error").text)
        save(rate_limit_bytes_per_second="20 MiB/s", max_concurrent_jobs="7", allow_network="10.0.0.0/8, nonsense")
        page.until("the network is refused", lambda: "nonsense" in page.find("#settings-error").text)
        page.require("Its field is not marked.", page.focused == field("allow_network"))
        save(allow_network="10.0.0.0/8, 127.0.0.0/8", schedule="daily 00:00-24:00 UTC max_concurrent_jobs=3")
        page.until("they are saved", lambda: "The settings are saved." in page.find("#notices").text)
        page.require("The source is another.", source("max_concurrent_jobs").startswith("set by the API"))
        page.driver.refresh()
        page.until("they stay", lambda: page.all("#settings-form [name=schedule]"))
        page.require("The rate is another.", field("rate_limit_bytes_per_second").get_attribute("value") == "20 MiB/s")
        # A reset keeps what is not saved in other fields, and the focus.
        field("max_connections_per_host").clear()
        field("max_connections_per_host").send_keys("9")
        page.click("#settings-form button", "Reset: Downloads at once")
        page.until("the default is back", lambda: source("max_concurrent_jobs") == "the default")
        page.require("The other field has lost its value.", field("max_connections_per_host").get_attribute("value") == "9")
        page.require("The focus is lost.", page.focused == field("max_concurrent_jobs"))
        page.require_no_harm()


def views(url: str) -> None:
    """By axe-core, each view and form, in light and dark, and on a phone without scrolling sideways."""
    forms = (
        ("downloads", "Add downloads", "#add-dialog"), ("sessions", "New session", "#form-dialog"),
        ("sessions", "Edit session default", "#form-dialog"), ("webhooks", "New webhook", "#form-dialog"),
        ("webhooks", "Deliveries: default / receiver", "#sheet"),
    )  # fmt: skip
    with opened(url) as page:
        page.until("the credentials are asked for", lambda: "credentials" in page.find("#attention").text)
        job = page.find("#job-rows [data-job]").get_attribute("data-job")
        # The two schemes differ in their colours only.
        for width, scheme, rules in ((1280, "light", ()), (1280, "dark", ("color-contrast",)), (360, "light", ())):
            page.resize(width, 800)
            page.prefer(scheme)
            for view in ("downloads", "sessions", "webhooks", "settings"):
                page.show(view)
                page.require_accessible(f"{view}, {scheme}, {width}", rules)
                page.require(f"{view} is wider than {width}.", page.run("return document.documentElement.scrollWidth") <= width)
            for view, button, dialog in forms:
                page.show(view)
                page.click("button", button)
                page.until(f"{button} opens", lambda d=dialog: page.find(d).is_displayed())
                page.require_accessible(f"{button}, {scheme}, {width}", rules)
                page.require(f"{button} is wider than {width}.", page.run(
                    "const dialog = document.querySelector(arguments[0]); return dialog.scrollWidth <= dialog.clientWidth", dialog))
                page.press(Keys.ESCAPE)
                page.until(f"{button} closes", lambda d=dialog: not page.find(d).is_displayed())
            for address in (f"jobs/{job}", f"jobs/{job}/connections", f"jobs/{job}/timeline", f"jobs/{job}/json", "sessions/default",
                            "sessions/default/webhooks"):  # fmt: skip
                page.run("location.hash = '/' + arguments[0]", address)
                page.until(f"{address} opens", lambda: page.find("#sheet").is_displayed() and page.all("#sheet section"))
                page.require_accessible(f"{address}, {scheme}, {width}", rules)
                page.require(f"{address} is wider than {width}.", page.run(
                    "const dialog = document.querySelector('#sheet'); return dialog.scrollWidth <= dialog.clientWidth"))
                page.press(Keys.ESCAPE)
                # Its address goes a moment later, and would take the next one with it.
                page.until(f"{address} closes", lambda a=address: not page.find("#sheet").is_displayed()
                           and page.run("return location.hash") != f"#/{a}")  # fmt: skip
        page.require_no_harm()


STORIES = {
    story.__name__: story
    for story in (
        selecting, sorting, linking, typing_keys, organising, posting, bringing, needing, refusing, largest, limited, below_a_path, looking_back,
        configuring, views,
    )
}  # fmt: skip

if __name__ == "__main__":
    STORIES[sys.argv[1]](*sys.argv[2:])
