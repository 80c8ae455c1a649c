"""slowest.py EVENTS TIMES: prints the twenty slowest tests, in seconds.

EVENTS is Swift Testing's stream of events (swift test --event-stream-output-path). TIMES is written by
Tests/Swift/TestKit/TestTimes.swift: when each test began its work.
"""

import json
import sys


def main(events: str, times: str) -> None:
    began = {}
    with open(times, encoding="utf-8") as lines:
        for line in lines:
            moment, test = line.rstrip("\n").split(" ", 1)
            began[test] = float(moment)
    durations = {}
    with open(events, encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            payload = record["payload"]
            is_end = record["kind"] == "event" and payload["kind"] == "testEnded"
            # A suite's identifier has no parentheses.
            if is_end and "(" in payload["testID"] and payload["testID"] in began:
                durations[payload["testID"]] = payload["instant"]["since1970"] - began[payload["testID"]]
    for test, seconds in sorted(durations.items(), key=lambda item: -item[1])[:20]:
        print(f"{seconds:7.1f} s  {test.rsplit('/', 1)[0]}")


main(*sys.argv[1:])
