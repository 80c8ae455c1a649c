#!/usr/bin/env python3
"""Tests/Browser/examples.py STORY URL [ARGUMENT...]

Uses a page of examples/web at URL as a person would, in headless Chromium. Prints how far it is, a line each; exits with
0 when everything was as it should be. The tests in EndToEndTests/Examples begin the stories, and are what is around them:
the service, the server of the pages, and whoever stops the service.
"""

from __future__ import annotations

import sys

from page import Page, say
from selenium.webdriver.common.keys import Keys


def fraction(page: Page) -> float | None:
    """What the (first) bar shows; None while it shows nothing."""
    return page.run("const bar = document.querySelector('progress'); return bar && bar.hasAttribute('value') ? bar.value : null")


def alert(page: Page) -> str:
    return page.find("#alert").text


def enter(page: Page, label: str, text: str) -> None:
    field = page.until(f"there is '{label}'", lambda: page.named("input", label))
    field.clear()
    field.send_keys(text, Keys.ENTER)


def watch_a_download(page: Page, address: str, words) -> None:
    """Over a restart of the service, in one page that is never reloaded."""
    enter(page, "Address to download", address)
    page.until("the bar shows a quarter", lambda: fraction(page) == 0.25)
    page.require("The words do not say so.", "of 0.4 MiB" in words())
    say("a quarter")
    page.until("the bar shows the half", lambda: fraction(page) == 0.5)
    say("the half")
    page.until("it says what may be wrong", lambda: "Check that it is running" in alert(page))
    page.require("What was there is gone.", fraction(page) == 0.5)
    say("away")
    page.until("the download is done", lambda: words().startswith("Done: voyage.mkv"))
    page.require("The bar is not full.", fraction(page) == 1)
    page.until("the sentence goes", lambda: alert(page) == "")
    page.require("The page was loaded again.", page.run("return window.mark") == "here all along")


def look_good(page: Page) -> None:
    for scheme in ("light", "dark"):
        page.prefer(scheme)
        page.require_accessible(scheme)
    page.resize(360, 740)
    page.require("It is wider than a phone.", page.run("return document.documentElement.scrollWidth <= 360"))


def polling(url: str, address: str) -> None:
    with Page(url) as page:
        watch_a_download(page, address, lambda: page.find("#status").text)
        # A reload shows the same download.
        page.driver.refresh()
        page.until("it is shown again", lambda: page.find("#status").text.startswith("Done: voyage.mkv"))
        enter(page, "Address to download", "no address at all")
        page.until("the mistake is shown", lambda: "contains a space" in alert(page))
        look_good(page)
        page.require_no_harm()


def events(url: str, address: str, token: str = "") -> None:
    with Page(url) as page:
        if token:
            page.until("it asks for the token", lambda: alert(page).startswith("The service wants its token"))
            enter(page, "Its token, if it has one", token + Keys.TAB)
        page.until("it is connected", lambda: page.find("#status").text == "Live")
        watch_a_download(page, address, lambda: page.find("#jobs li div").text if page.all("#jobs li") else "")
        page.until("it is connected again", lambda: page.find("#status").text == "Live")
        say("live")
        page.until("both are done", lambda: page.find("#jobs").text.count("Done: ") == 2)
        page.until("the finish is listed", lambda: page.find("#log").text.count("session.finished") == 2)
        say("ids " + " ".join(page.run("return [...document.querySelectorAll('#log li')].map((line) => line.dataset.id)")))
        look_good(page)
        page.require_no_harm()


def progress(url: str) -> None:
    """The ten lines of the README, over a restart of the service."""
    with Page(url) as page:
        for words, value in (("a quarter", 0.25), ("the half", 0.5), ("away", 0.5)):
            page.until(f"the bar shows {words}", lambda: fraction(page) == value)
            say(words)
        page.until("the download is done", lambda: page.find("output").text == "voyage.mkv")
        page.require("The bar is not full.", fraction(page) == 1)
        page.require_no_harm()


def forbidden(url: str) -> None:
    """The service is there, but does not allow the page."""
    with Page(url) as page:
        if page.named("button", "Download") and "polling" in url:
            enter(page, "Address to download", "http://127.0.0.1:1/")
        page.until("it says what is wrong", lambda: "does not allow this page to use it" in alert(page))
        page.require("It does not say what to do.", f"--allow-origin {page.run('return location.origin')}" in alert(page))


LISTS = """
const [service, done] = [arguments[0], arguments[arguments.length - 1]];
const send = async (body, type, mode) => {
  const headers = type ? { "Content-Type": type } : {};
  const bytes = typeof body === "string" && !type ? new TextEncoder().encode(body) : body;
  const answer = await fetch(`${service}/v1/jobs/import?format=urls`, { method: "POST", body: bytes, headers, mode });
  return answer.status;
};
(async () => {
  const form = new FormData();
  form.append("list", "http://127.0.0.1:1/");
  const results = [];
  for (const [body, type] of [
    ["http://127.0.0.1:1/", "text/plain"], [new URLSearchParams({ list: "http://127.0.0.1:1/" }), null], [form, null],
    ["http://127.0.0.1:1/", null],
  ]) results.push(await send(body, type, "cors"), await send(body, type, "no-cors"));
  return results;
})().then(done, (error) => done(String(error)));
"""


def lists(url: str, service: str) -> None:
    """A page can send these types without permission. Only to a page that may read the answer, it has a status."""
    with Page(url) as page:
        statuses = page.driver.execute_async_script(LISTS, service)
        page.require(f"A list was accepted: {statuses}", statuses == [415, 0] * 4)


STORIES = {story.__name__: story for story in (polling, events, progress, forbidden, lists)}

if __name__ == "__main__":
    STORIES[sys.argv[1]](*sys.argv[2:])
