#!/usr/bin/env python3
"""Tests/Browser/stories.py STORY URL [ARGUMENT...]

Uses the dashboard at URL as a person would, in headless Chromium. Prints a line for each step, and exits with 0 if all checks
hold. The tests in EndToEndTests/Dashboard start the stories. They run the service and the servers that it downloads from, and
stop the service in between.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import date

from page import Page, say
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys


def typing(url: str, token: str, address: str) -> None:
    """Adds a download with the keyboard alone, and watches it to its end over a restart of the service."""
    with Page(url) as page:
        page.until("it asks for the token", lambda: page.focused.accessible_name == "Token")
        page.press(Keys.ESCAPE)
        page.press(Keys.ESCAPE)
        page.until("it still asks", lambda: page.focused.accessible_name == "Token")
        page.press("wrong", Keys.ENTER)
        page.until("it says that the token is wrong", lambda: "does not accept this token" in page.find("#token-dialog").text)
        page.press(token, Keys.ENTER)
        page.until("it is connected", lambda: page.find("#connection-words").text.startswith("Live"))
        page.require("The token is kept beyond the page.", page.run(
            "return localStorage.length === 0 && sessionStorage.length === 0 && !document.cookie"))

        page.tab_to("Add downloads")
        page.press(Keys.ENTER)
        page.until("the addresses have the focus", lambda: page.focused.tag_name == "textarea")
        page.press(address)
        page.tab_to("Add")
        page.press(Keys.ENTER)
        page.until("the bar shows a quarter", lambda: page.bar("voyage.mkv") == 0.25)
        page.require("The row does not say so.", "25 % of" in page.row_text("voyage.mkv", "bytes"))
        say("a quarter")
        page.until("the bar shows the half", lambda: page.bar("voyage.mkv") == 0.5)
        page.until("the tile counts it", lambda: page.named("button", "1 Running"))
        say("the half")

        page.until("it notices that the service is away", lambda: page.find("#connection-words").text.startswith("Reconnecting"))
        page.require("It does not say what to do.", "fetchd does not answer" in page.find("#connection-advice").text)
        page.require("What was there is gone.", page.row("voyage.mkv"))
        say("away")
        page.until("it is connected again", lambda: page.find("#connection-words").text.startswith("Live"))
        page.until_state("voyage.mkv", "Done")
        page.require("The bar is not full.", page.bar("voyage.mkv") == 1)
        page.require("The advice stays.", not page.find("#connection-advice").is_displayed())
        page.require("The page was loaded again.", page.run("return window.mark") == "here all along")
        page.until("the end is read out", lambda: "voyage.mkv is done." in page.find("#announcements").get_attribute("textContent"))
        page.require_no_harm()


def signing_in(url: str, token: str, name: str) -> None:
    """The browser stays signed in over a reload, saves a file through a link, and signs out."""
    def is_asked() -> bool:
        return page.find("#token-dialog").is_displayed()

    with Page(url) as page:
        page.until("it asks for the token", is_asked)
        page.require_accessible("The dialog")
        page.press(token)
        page.tab_to("Stay signed in on this browser for 30 days")
        page.press(Keys.SPACE)
        page.tab_to("Sign in")
        page.press(Keys.ENTER)
        page.until_state(name, "Done")
        page.driver.refresh()
        page.until_state(name, "Done")
        page.require("It asks for the token again.", not is_asked())
        page.require("A script can read the cookie.", page.run(
            "return localStorage.length === 0 && sessionStorage.length === 0 && !document.cookie"))

        page.run("document.addEventListener('click', (event) => { if (event.target.matches('a[download]')) {"
                 " event.preventDefault(); window.saved = event.target.href; } }, true);")
        page.click("button", f"Save {name}")
        saved = page.until("the link has a ticket", lambda: page.run("return window.saved"))
        page.require(f"The link is {saved}.", "/file?ticket=" in saved and token not in saved)
        sizes = "return fetch(arguments[0], {credentials: 'omit'}).then((r) => r.ok ? r.blob() : null).then((b) => b?.size ?? 0)"
        page.require("The link has no file.", page.run(sizes, saved) > 0)
        page.require("The link can be used twice.", page.run(sizes, saved) == 0)

        page.click("button", "Sign out")
        page.until("it asks for the token", is_asked)
        page.driver.refresh()
        page.until("it asks for the token again", is_asked)


def reading(url: str, token: str, name: str) -> None:
    """A token that may only read sees what there is, and no button that changes something."""
    with Page(url) as page:
        page.until("it asks for the token", lambda: page.find("#token-dialog").is_displayed())
        page.press(token, Keys.ENTER)
        page.until_state(name, "Done")
        page.until("the scope is known", lambda: page.run("return document.body.dataset.scope") == "read")
        for button in ("Add downloads", f"Remove {name}", "Pause all downloads of default"):
            page.require(f"There is '{button}'.", page.named("button", button) is None)
        page.require("The file cannot be saved.", page.named("button", f"Save {name}"))
        page.require_no_harm()


def driving(url: str, good: str, flaky: str, held: str, sha256: str) -> None:
    """Mistakes are explained; downloads are paused, resumed, retried, cancelled and forgotten."""
    with Page(url) as page:
        page.click("button", "Add downloads")
        page.find("#add-form textarea").send_keys(f"{flaky}\n\nno address at all\n{good}")
        page.until("the line is named", lambda: "1 line is wrong" in page.find("#add-preview-words").text)
        page.click("button", "Add")
        error = page.until("the mistake is shown", lambda: page.find("#add-error").text)
        page.require(f"It says '{error}'.", error.startswith("Line 3: The address "))
        page.require("The line is not selected.", page.run("return getSelection().toString()") == "no address at all")
        page.press(held)
        page.focused.send_keys(Keys.CONTROL, Keys.ENTER)
        page.until("the dialog closes", lambda: not page.find("#add-dialog").is_displayed())
        page.until_state("good.bin", "Done")

        # A failure says what to do; the keyboard leads into the details and back.
        page.until_state("flaky.bin", "Failed")
        page.require("It does not say what to do.", "Check the address" in page.row_text("flaky.bin", "note"))
        name = page.named("#job-rows button", "flaky.bin")
        page.run("arguments[0].focus()", name)
        page.press(Keys.ENTER)
        page.click("#sheet a", "Timeline")
        page.until("its events are there", lambda: "Failed" in page.find("#sheet .events").text)
        page.press(Keys.ESCAPE)
        page.until("the details are closed", lambda: not page.find("#sheet").is_displayed())
        page.require("The focus did not come back.", page.focused == name)
        page.tab_to("Retry flaky.bin")
        page.press(Keys.ENTER)
        page.until_state("flaky.bin", "Done")
        # The button that had the focus is gone, and the row may have moved: the focus stays in the row.
        page.until(
            "the focus is in the row", lambda: page.row("flaky.bin").find_elements(By.CSS_SELECTOR, ":focus"))

        page.click("#job-rows button", "good.bin")
        page.until("the details open", lambda: page.find("#sheet").is_displayed())
        page.until("the receipt is there", lambda: "Length\nVerified" in page.find("#sheet").text)
        page.require("The sha-256 is another.", sha256 in page.find("#sheet").text)
        page.click("#sheet button", "Close")

        page.until_state("held.bin", "Downloading")
        page.click("button", "Pause held.bin")
        page.until_state("held.bin", "Paused")
        page.click("button", "Resume held.bin")
        page.until_state("held.bin", "Downloading")
        page.show("sessions")
        page.click("button", "Pause all downloads of default")
        page.show("downloads")
        page.until_state("held.bin", "Paused")
        page.click("button", "Cancel held.bin")
        page.until_state("held.bin", "Cancelled")
        page.click("button", "Remove held.bin")
        page.until("it asks first", lambda: page.find("#question-dialog").is_displayed())
        page.press(Keys.ESCAPE)
        page.until("Escape means no", lambda: not page.find("#question-dialog").is_displayed())
        page.click("button", "Remove held.bin")
        page.click("#question-dialog button", "Remove")
        page.until("it is gone", lambda: page.row("held.bin") is None)
        page.require("The focus is not in the next row.", page.run("return document.activeElement.closest('#job-rows tr')"))
        page.require_no_harm()


def sorting(url: str, *names: str) -> None:
    """A row that moves to another place keeps the focus."""
    with Page(url) as page:
        page.until("the downloads are there", lambda: len(page.all("#job-rows tr")) == len(names))
        order = page.find("#filters [name=order]")
        for name in names:
            page.run("arguments[0].focus()", page.named("#job-rows button", name))
            for choice, wanted in (("name", sorted(names)), ("name,descending", sorted(names, reverse=True))):
                # The click on a heading, or another choice in the menu, would take the focus with it.
                page.run(
                    "const [order, value] = arguments; order.append(new Option(value, value)); order.value = value;"
                    "order.dispatchEvent(new Event('change', { bubbles: true }))", order, choice,
                )  # fmt: skip
                page.until(f"the order is {choice}", lambda: page.names() == wanted)
                page.require(f"{name} has lost the focus.", page.focused.text == name)
        page.require_no_harm()


def supplying(url: str, fresh: str) -> None:
    """A link has expired, and the user supplies another one."""
    with Page(url) as page:
        page.until("it says what is missing", lambda: "Enter a new one" in page.row_text("film.mkv", "note"))
        page.click("button", "New link… film.mkv")
        field = page.until("it asks for an address", lambda: page.named("#sheet input", "Address"))
        field.send_keys("nonsense", Keys.ENTER)
        page.until("it says what is wrong", lambda: page.all("#sheet .error"))
        field.clear()
        field.send_keys(fresh, Keys.ENTER)
        page.until("it goes on to its end", lambda: "Done" in page.find("#sheet dl").text)
        page.until("the form is gone", lambda: not page.all("#sheet .supply"))
        # The button that has opened the details is gone, too.
        page.until_state("film.mkv", "Done")
        page.press(Keys.ESCAPE)
        page.until("the view has the focus", lambda: page.focused.get_attribute("id") == "jobs-heading")
        page.require_no_harm()


# fetchd logs the response of an endpoint only if its address is public, which that of the test's endpoint is not. So the
# failed attempts get their response here.
WITH_RESPONSES = """
const asked = window.fetch;
window.fetch = async (url, options) => {
  const answer = await asked(url, options);
  if (!String(url).includes("/deliveries") || !answer.ok) return answer;
  const document = await answer.json();
  for (const delivery of document.deliveries ?? [document]) {
    for (const attempt of delivery.attempts) if (attempt.error !== null) attempt.response = RESPONSE;
  }
  return Response.json(document);
};
"""


def hostile(url: str, name: str, answer: str) -> None:
    """Names, tags, addresses and answers that would be markup are shown as what they are: text."""
    with Page(url, before=WITH_RESPONSES.replace("RESPONSE", json.dumps(answer))) as page:
        page.until("the name is shown as it is", lambda: page.row(name))
        page.require("The tag is not shown as it is.", "<script>window.owned=1</script>" in page.row_text(name, "origin"))
        page.run("arguments[0].click()", page.row(name).find_element(By.CSS_SELECTOR, "[data-part=name]"))
        page.until("the details are there", lambda: "<b>bold</b>" in page.find("#sheet").text)
        page.press(Keys.ESCAPE)

        # A failing webhook shows what its endpoint answered last.
        page.show("webhooks")
        page.until("the answer is shown", lambda: answer in page.find(".webhook").text)
        page.require("It is not said to fail.", "Failing" in page.find(".webhook").text)
        page.click(".webhook button", "Deliveries: default / receiver")
        page.until("the log is there", lambda: page.all(".delivery"))
        page.click_first(".delivery summary")
        page.until("the log shows the answer", lambda: answer in page.find(".delivery").text)
        say("failing")
        page.until("the endpoint is well again, and it is sent again", lambda: redelivered(page))
        page.click("#sheet button", "Close")
        page.until("the webhook is well", lambda: "Accepting" in page.find(".webhook").text)

        page.require("Something was run.", page.run("return window.owned === undefined && document.title === 'fetchd'"))
        strangers = page.run("return [...document.querySelectorAll('body script, img, b, iframe')].length")
        page.require("A name became markup.", strangers == 1)
        page.require_no_harm()


def redelivered(page: Page) -> bool:
    if "Accepted" in page.find(".delivery").text:
        return True
    page.click_first(".delivery button")
    return False


def many(url: str, count: str, oldest: str) -> None:
    """Of many downloads, those near the view are in the page, and any of them is found, also with the keyboard."""
    with Page(url) as page:
        rows = lambda: page.run("return document.querySelectorAll('#job-rows [data-job]').length")
        page.until("all of them are there", lambda: page.find("#jobs-count").text == f"{int(count):,} downloads")
        page.require(f"The page has {rows()} rows.", 16 <= rows() <= 120)
        page.require("The tile does not count all.", page.named("button", f"{int(count):,} Queued"))
        place = "return document.activeElement.closest('tr')?.getAttribute('aria-rowindex')"
        page.run("document.querySelector('#job-rows [data-part=name]').focus()")
        page.press(Keys.END)
        page.until("the last one has the focus", lambda: page.run(place) == str(int(count) + 1))
        page.press(Keys.ARROW_UP, Keys.ARROW_UP)
        page.require(f"The focus is at {page.run(place)}.", page.run(place) == str(int(count) - 1))
        # The row that has the focus stays, although the view leaves it.
        page.run("scrollTo(0, 0)")
        page.until("the first one is there", lambda: page.run("return Boolean(document.querySelector('[aria-rowindex=\"2\"]'))"))
        page.require(f"The focus is at {page.run(place)}.", page.run(place) == str(int(count) - 1))
        page.press(Keys.HOME)
        page.until("the first one has the focus", lambda: page.run(place) == "2")
        page.find("[name=text]").send_keys(oldest)
        page.until("only the one is there", lambda: rows() == 1 and page.row(oldest))
        page.click("button", "Show all")
        page.until("all of them are back", lambda: page.find("#jobs-count").text == f"{int(count):,} downloads")
        page.click("button", "0 Failed")
        page.until("none has failed", lambda: "No downloads match" in page.find("#jobs-empty").text)
        page.require_no_harm()


def accessible(url: str) -> None:
    """By axe-core, light and dark, wide and narrow; by names; and without scrolling sideways on a phone."""
    with Page(url) as page:
        page.until("the downloads are there", lambda: page.all("#job-rows tr"))
        for scheme in ("light", "dark"):
            page.prefer(scheme)
            page.require_accessible(f"The page, {scheme}")
        page.click("button", "Add downloads")
        page.require_accessible("Adding, dark")
        page.press(Keys.ESCAPE)
        page.click("#job-rows button", page.find("#job-rows [data-part=name]").text)
        page.click("#sheet a", "Timeline")
        page.until("the events are there", lambda: page.all("#sheet .events tbody tr"))
        page.require_accessible("A download, dark")
        page.press(Keys.ESCAPE)
        page.show("webhooks")
        page.click(".webhook button", "Deliveries: default / receiver")
        page.until("the deliveries are there", lambda: page.all(".delivery"))
        page.require_accessible("Deliveries, dark")
        page.press(Keys.ESCAPE)
        page.show("downloads")
        for control in page.all("button, input, select, textarea, progress, a, [tabindex='0']"):
            page.require(f"Nobody hears what this is: {control.get_attribute('outerHTML')}", control.accessible_name)

        page.prefer("light")
        page.resize(360, 740)
        page.require_accessible("The page, on a phone")
        page.until("nothing is wider than the phone", lambda: page.run("return document.documentElement.scrollWidth") <= 360)
        small = [
            button.accessible_name for button in page.all("button:not(.link, .small)")
            if button.size["height"] < 44 or button.size["width"] < 44
        ]  # fmt: skip
        page.require(f"Too small for a finger: {small}", not small)
        page.require_no_harm()


# Replaces the stream of events by one that the story controls: `streams` has the streams that the page has opened, `asked` the
# requests. Progress events have a rate, too, so that the page has no reason to request the progress of each download.
STREAMS_IN_HAND = """
window.streams = []; window.asked = [];
const fetched = window.fetch;
window.fetch = (url, options) => {
  if (String(url).endsWith("/v1/stats")) return Promise.resolve(Response.json({ bytes_per_second: 1 }));
  if (new Headers(options?.headers).get("Accept") !== "text/event-stream") return fetched(url, options);
  window.asked.push(String(url));
  const body = new ReadableStream({ start: (controller) => window.streams.push(controller) });
  return Promise.resolve(new Response(body, { headers: { "Content-Type": "text/event-stream" } }));
};
window.speak = (text) => window.streams.at(-1).enqueue(new TextEncoder().encode(text));
"""


def streaming(url: str, job: str, address: str) -> None:
    """Changes come by the stream; where it ends, by asking, until there is another; where it is silent, by asking too."""
    with Page(url, before=STREAMS_IN_HAND) as page:
        words = lambda: page.find("#connection-words").text
        opened = lambda: page.run("return window.streams.length")
        page.until("it opens a stream", lambda: opened() == 1)
        # A proxy that gathers what passes through it: the stream is there and says nothing.
        page.require("It believes in silence.", words() == "Live, polling every second")
        add(page, address)
        page.until_state("second.bin", "Done")

        page.run("speak(': here\\n\\n')")
        page.until("the stream has spoken", lambda: words() == "Live")
        progress = {"bytes_received": 77, "bytes_durable": 0, "bytes_expected": 100, "fraction": 0.77,
                    "bytes_per_second": 1, "eta_seconds": 23}  # fmt: skip
        document = json.dumps({"type": "job.progress", "job": job, "progress": progress, "phase": "transferring"})
        page.run("speak('event: job.progress\\ndata: ' + arguments[0] + '\\n'); speak('\\n');", document)
        page.until("the bar follows the stream", lambda: page.bar("held.bin") == 0.77)

        page.run("window.streams.at(-1).close()")
        page.until("it asks for what it missed", lambda: opened() == 2)
        after = page.run("return fetch('v1/events').then((answer) => answer.json()).then((journal) => journal.next_after)")
        page.until("it goes on where it was", lambda: page.run("return window.asked.at(-1)").endswith(f"after={after}"))
        page.run("speak('event: reset\\ndata: {}\\n\\n')")
        page.until("it reads everything again and opens another stream", lambda: opened() == 3)
        page.require("What was there is gone.", page.row("held.bin") and page.row("second.bin"))
        page.require_no_harm()


def add(page: Page, address: str) -> None:
    page.click("button", "Add downloads")
    page.find("#add-form textarea").send_keys(address, Keys.CONTROL, Keys.ENTER)
    page.until("the dialog closes", lambda: not page.find("#add-dialog").is_displayed())


def parsing(url: str) -> None:
    """However a stream is cut into pieces, its events are the same (HTML, section 9.2.6)."""
    stream = (
        ": comment\r\n\r\nid: 7\r\nevent: job.started\r\ndata: {\"a\":\r\ndata:  1}\r\n\r\n"
        "event: job.progress\ndata:x\nunknown: y\n\ndata\n\nid: 8\n\ndata: last\r\rdata: never ended\n"
    )
    expected = [
        {"type": "job.started", "data": '{"a":\n 1}', "id": "7"}, {"type": "job.progress", "data": "x", "id": None},
        {"type": "message", "data": "", "id": None}, {"type": "message", "data": "last", "id": None},
    ]  # fmt: skip
    with Page(url) as page:
        for size in range(1, len(stream) + 1):
            pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
            events = page.run(
                "return import('/client.js').then(({ EventParser }) => {"
                " const parser = new EventParser(); return arguments[0].flatMap((piece) => parser.take(piece)); })",
                pieces,
            )
            page.require(f"In pieces of {size}: {events}", events == expected)


# The page stands still: its requests get no answer, until the story replaces `fetch` again.
NO_ANSWERS = "window.fetch = () => new Promise(() => {});"

# `asked` has the requests, `answer(n, document)` answers one.
ANSWERED_BY_HAND = """
window.asked = []; window.failures = [];
const answers = [];
window.fetch = (url) => new Promise((answer) => { asked.push(new URL(url).pathname); answers.push(answer); });
window.answer = (number, document, status = 200) => answers[number](Response.json(document, { status }));
window.job = (id, revision, state) => ({ id, revision, state, progress: {} });
window.note = (type, job) => set.noteEvent({ type, job, time: "2999-01-01T00:00:00Z", data: { attempt: 1 } });
return import(new URL("jobset.js", document.querySelector("script[type=module]").src)).then(({ JobSet }) => {
  window.set = new JobSet({ changed() {}, failed: (error) => failures.push(String(error)), inView: () => [...set.jobs.keys()] });
});
"""

FAILS_ONCE = """
return import(new URL("coalesce.js", document.querySelector("script[type=module]").src)).then(async ({ coalesced }) => {
  let runs = 0;
  const want = coalesced(async () => { runs += 1; if (runs === 1) throw new Error("planned"); }, 0);
  await want().catch(() => {});
  await want();
  return runs;
});
"""


def catching_up(url: str) -> None:
    """Downloads and events that come while the list or a download is read are neither lost nor overwritten."""
    with Page(url, before=NO_ANSWERS) as page:
        page.require("After a failure it never runs again.", page.run(FAILS_ONCE) == 2)
        page.run(ANSWERED_BY_HAND)
        asked = lambda number, path: page.until(f"it asks for {path}", lambda: page.run("return asked.slice(arguments[0])", number) == [path])
        state = lambda: page.run("return set.jobs.get('new')?.state")

        page.run("set.load()")
        page.until("it reads the list", lambda: page.run("return asked.length") == 3)
        page.run("set.take(job('new', 1, 'queued')); note('job.started', 'new');")
        page.run("for (const number of [0, 1, 2]) answer(number, { jobs: [job('old', 1, 'queued')], next_cursor: null })")
        page.until("the list is read", lambda: page.run("return !set.isLoading"))
        page.require("What was added meanwhile is gone.", state() == "running")

        asked(3, "/v1/jobs/new")
        page.run("note('job.paused', 'new'); answer(3, job('new', 2, 'running'))")
        asked(4, "/v1/jobs/new")
        page.run("answer(4, job('new', 5, 'queued'))")
        page.until("the answer is taken", lambda: state() == "queued")
        # The event of an earlier revision comes last.
        page.run("note('job.paused', 'new')")
        page.require("The event has no effect.", state() == "paused")
        asked(5, "/v1/jobs/new")
        page.run("answer(5, job('new', 5, 'queued'))")
        page.until("the service is right", lambda: state() == "queued")
        page.require("Something has failed.", not page.run("return failures.length"))

        page.run("set.load()")
        page.run("for (const number of [6, 7, 8]) answer(number, {}, 503)")
        page.until("the list cannot be read", lambda: page.run("return failures.length") == 1)
        page.require("What was there is gone.", page.run("return set.isComplete && set.jobs.size === 2"))
        page.run("set.check({})")
        page.require("It is not read again.", page.run("return asked.length") == 12)


def lately(url: str, name: str) -> None:
    """A page that is opened on a phone shows what runs first, what the service measured before, and all of a session."""
    with Page(url, width=390, height=844) as page:
        first = "return document.querySelector('#job-rows tr [data-part=name]')?.textContent"
        page.until("the running download is first", lambda: page.run(first) == name)
        page.until("all are there", lambda: page.find("#jobs-count").text == "301 downloads")
        page.require("It is not first.", page.run(first) == name)
        page.click_first("#plot-toggle")
        page.until("the throughput is there", lambda: "highest" in page.find("#plot-words").text)
        page.show("sessions")
        hidden = page.run(
            "return [...document.querySelectorAll('#session-rows *')].filter((part) => part.checkVisibility()"
            " && part.getBoundingClientRect().right > document.documentElement.clientWidth).map((part) => part.outerHTML)"
        )
        page.require(f"Parts of a session are cut off: {hidden}", not hidden)
        page.require("Its counts have no names.", "1 running" in page.run(
            "return [...document.querySelectorAll('#session-rows [data-part=running]')].map((cell) =>"
            " cell.textContent + getComputedStyle(cell, '::after').content.replaceAll('\"', ''))[0]"
        ))  # fmt: skip
        page.show("downloads")
        page.click("button", name)
        page.until("the details are there", lambda: page.find("#sheet").is_displayed())
        page.until("the date is there", lambda: f"{date.today().year}" in page.find("#sheet-body dl").text)
        page.require_no_harm()


def quiet(url: str) -> None:
    """With six running downloads, and one that has failed: many rows are in view, and the page is at rest between the seconds."""
    top = "return document.querySelector('#job-rows tr').getBoundingClientRect().top"
    with Page(url, width=1440, height=900) as page:
        page.until("six run", lambda: page.named("button", "6 Running"))
        page.until("one has failed", lambda: page.named("button", "1 Failed"))
        page.until("all are there", lambda: page.find("#jobs-count").text == "47 downloads")
        height = page.run("return document.documentElement.clientHeight")
        rows = page.run(
            "return [...document.querySelectorAll('#job-rows tr')].filter((row) =>"
            " row.getBoundingClientRect().bottom <= arguments[0]).length", height)  # fmt: skip
        say(f"{rows} rows of {height} pixels")
        page.require(f"Only {rows} rows are in view.", rows >= 16 * height / 900)
        page.driver.execute_cdp_cmd("Performance.enable", {})
        before, begun = metrics(page), time.monotonic()
        page.until("five seconds have passed", lambda: time.monotonic() - begun >= 5)
        after = metrics(page)
        layouts = after["LayoutCount"] - before["LayoutCount"]
        share = (after["TaskDuration"] - before["TaskDuration"]) / (after["Timestamp"] - before["Timestamp"])
        say(f"{layouts:.0f} layouts in five seconds, {100 * share:.1f} % of a core")
        page.require(f"{layouts} layouts in five seconds.", layouts <= 25)
    with Page(url, width=390, height=844) as page:
        page.until("all are there", lambda: page.find("#jobs-count").text == "47 downloads")
        page.until("what failed is named", lambda: page.find("#attention-items").is_displayed())
        say(f"The first row begins at {page.run(top)} pixels")
        page.require(f"The first row begins at {page.run(top)}.", page.run(top) <= 700)
        page.require_no_harm()


def metrics(page: Page) -> dict[str, float]:
    found = page.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return {metric["name"]: metric["value"] for metric in found}


STORIES = {
    story.__name__: story
    for story in (
        typing, signing_in, reading, driving, sorting, supplying, hostile, many, accessible, streaming, parsing, catching_up, lately,
        quiet,
    )
}  # fmt: skip

if __name__ == "__main__":
    STORIES[sys.argv[1]](*sys.argv[2:])
