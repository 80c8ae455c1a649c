#!/usr/bin/env python3
"""compare.py ARIA2-URL ARIA2-FOLDER FETCHD-URL FETCHD-FOLDER [--verbose]
compare.py --table

Sends the same calls to aria2c and to fetchd, both empty, and compares every answer, field by field: HTTP status, result, error.
differences.json beside this script has the differences that are intended; "parameters" limits an entry to calls with such
parameters. Any other difference is an error, and so is an entry of the table that no call needs. The folders are the
downloads folders. Ends with status 0 if there are no errors.
--table prints the table of docs/from-aria2.md.
"""
import base64
import fnmatch
import hashlib
import http.server
import json
import pathlib
import re
import sys
import threading
import time
import urllib.error
import urllib.request

CONTENT = b"aria2 and fetchd " * 20_000


class Origin(http.server.BaseHTTPRequestHandler):
    """/file... is a file, /missing is not there, /secret needs a user."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path.startswith("/file"):
            self.respond(200, CONTENT)
        elif self.path.startswith("/forbidden"):
            self.respond(403, b"")
        else:
            self.respond(404, b"")

    do_HEAD = do_GET

    def respond(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", '"v1"')
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Service:
    """One of the two services. It gives its gids and folders common names, so that answers can be compared."""

    def __init__(self, url, folder, origin):
        self.url, self.folder, self.origin = url, folder, origin
        self.gids = {}

    def send(self, body, query=""):
        request = urllib.request.Request(self.url + "/jsonrpc" + query, data=body)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status, json.loads(response.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def filled(self, value):
        """Replaces the common names in parameters."""
        if isinstance(value, str):
            value = value.replace("$DIR", self.folder).replace("$URL", self.origin)
            return re.sub(r"\$(\w+)\$", lambda match: self.gids[match[1]], value)
        if isinstance(value, list):
            return [self.filled(element) for element in value]
        if isinstance(value, dict):
            return {name: self.filled(element) for name, element in value.items()}
        return value

    def named(self, value):
        """Replaces what differs between the services by common names."""
        if isinstance(value, str):
            value = value.replace(self.folder, "$DIR").replace(self.origin, "$URL")
            for name, gid in self.gids.items():
                value = value.replace(gid, f"${name}$")
            return value
        if isinstance(value, list):
            return [self.named(element) for element in value]
        if isinstance(value, dict):
            return {name: self.named(element) for name, element in value.items()}
        return value

    def call(self, method, parameters):
        message = {"jsonrpc": "2.0", "id": "q", "method": method, "params": self.filled(parameters)}
        return self.send(json.dumps(message).encode())

    def wait(self, name, status):
        """Waits until a download has a status."""
        for _ in range(600):
            _, answer = self.call("aria2.tellStatus", [f"${name}$", ["status"]])
            if answer.get("result", {}).get("status") == status:
                return
            time.sleep(0.05)
        raise SystemExit(f"{self.url}: {name} is not {status}: {answer}")


class Comparison:
    def __init__(self, aria2, fetchd, table, verbose):
        self.aria2, self.fetchd, self.table, self.verbose = aria2, fetchd, table, verbose
        self.calls, self.faults, self.intended = 0, [], 0
        self.used = [False] * len(table)

    # Steps.

    def call(self, method, *parameters, keep=None):
        """One call; `keep` names the gid that it returns."""
        answers = []
        for service in (self.aria2, self.fetchd):
            status, answer = service.call(method, list(parameters))
            if keep:
                if "result" not in answer:
                    raise SystemExit(f"{service.url}: {method}{parameters}: {answer}")
                service.gids[keep] = answer["result"]
            answers.append({"http": status, **service.named(answer)})
        self.compare(method, f"{method}{json.dumps(parameters)}", answers)

    def text(self, name, body):
        """A message that is sent as it is."""
        answers = []
        for service in (self.aria2, self.fetchd):
            status, answer = service.send(body)
            answers.append({"http": status, "answer": service.named(answer)})
        self.compare(name, f"{name} {body[:60]!r}", answers)

    def get(self, query):
        answers = []
        for service in (self.aria2, self.fetchd):
            status, answer = service.send(None, query)
            answers.append({"http": status, "answer": service.named(answer)})
        self.compare("GET", f"GET {query}", answers)

    def add(self, name, options=None, uris=("$URL/file",), position=None):
        parameters = [list(uris), options or {}] + ([] if position is None else [position])
        self.call("aria2.addUri", *parameters, keep=name)

    def retry(self, failed, name):
        """Adds a download again with the options that the service shows, as front ends do. `name` is its new gid."""
        answers = []
        for service in (self.aria2, self.fetchd):
            uris = service.call("aria2.getUris", [f"${failed}$"])[1]
            uris = [uri["uri"] for uri in uris.get("result", [])] or [f"{service.origin}/missing"]
            options = service.call("aria2.getOption", [f"${failed}$"])[1]["result"]
            status, answer = service.call("aria2.addUri", [uris, options])
            service.gids[name] = answer.get("result", "")
            answers.append({"http": status, **service.named(answer)})
        self.compare("aria2.addUri", f"retry of {failed}", answers)

    def post(self, query, body):
        answers = []
        for service in (self.aria2, self.fetchd):
            status, answer = service.send(body, query)
            answers.append({"http": status, "answer": service.named(answer)})
        self.compare("POST", f"POST {query}", answers)

    def wait(self, name, status):
        for service in (self.aria2, self.fetchd):
            service.wait(name, status)

    # Comparison.

    def compare(self, method, what, answers):
        self.calls += 1
        if self.verbose:
            print(what, json.dumps(answers), sep="\n  ")
        for path, one, other in differences("", *answers):
            if not self.is_intended(method, what, path, one, other):
                self.faults.append(f"{what}\n  {path}: aria2 {one!r}, fetchd {other!r}")

    def is_intended(self, method, what, path, one, other):
        kind = "only aria2" if other is MISSING else "only fetchd" if one is MISSING else "value"
        for index, rule in enumerate(self.table):
            is_for_call = fnmatch.fnmatchcase(method, rule["call"]) and re.search(rule.get("parameters", ""), what)
            if is_for_call and re.fullmatch(rule["path"], path) and rule["kind"] == kind:
                self.used[index] = True
                self.intended += 1
                return True
        return False

    def report(self):
        for fault in self.faults:
            print(fault)
        unused = [rule for rule, used in zip(self.table, self.used) if not used]
        for rule in unused:
            print(f"No call needs this entry of differences.json: {rule}")
        print(f"{self.calls} calls, {self.intended} intended differences by {len(self.table)} entries, "
              f"{len(self.faults)} others.")
        return not self.faults and not unused


MISSING = type("Missing", (), {"__repr__": lambda self: "nothing"})()


def differences(path, one, other):
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted(set(one) | set(other)):
            yield from differences(f"{path}.{name}" if path else name, one.get(name, MISSING), other.get(name, MISSING))
    elif isinstance(one, list) and isinstance(other, list):
        for index in range(max(len(one), len(other))):
            yield from differences(
                f"{path}[{index}]", one[index] if index < len(one) else MISSING,
                other[index] if index < len(other) else MISSING)
    elif one != other or type(one) is not type(other):
        yield path, one, other


# The calls.

def everything(run):
    information(run)
    malformed(run)
    options(run)
    queue(run)
    outcomes(run)
    uris(run)
    several(run)


def information(run):
    run.call("system.listMethods")
    run.call("system.listNotifications")
    run.call("aria2.getVersion")
    run.call("aria2.getSessionInfo")
    run.call("aria2.getGlobalStat")
    run.call("aria2.getGlobalOption")
    run.call("aria2.saveSession")
    for method in ("tellActive", "pauseAll", "unpauseAll", "forcePauseAll", "purgeDownloadResult"):
        run.call(f"aria2.{method}")
    for parameters in ([0, 10], [-1, 10], [0, 0], [5, 1], [0, 10, ["gid"]]):
        run.call("aria2.tellWaiting", *parameters)
        run.call("aria2.tellStopped", *parameters)
    run.call("aria2.changeGlobalOption", {})
    run.call("aria2.changeGlobalOption", {"no-such-option": "1"})
    run.call("aria2.changeGlobalOption", {"max-overall-download-limit": "x"})
    for option, value, usual in (("dir", "$DIR/global", "$DIR"), ("user-agent", "global/1", ""),
                                 ("allow-overwrite", "true", "false"), ("all-proxy", "http://127.0.0.1:9", "")):
        run.call("aria2.changeGlobalOption", {option: value})
        run.call("aria2.getGlobalOption")
        run.call("aria2.changeGlobalOption", {option: usual})
    run.call("aria2.changeGlobalOption", {"split": "0"})
    run.call("aria2.changeGlobalOption", {"dry-run": "true"})
    run.call("aria2.changeGlobalOption", {"dry-run": "false"})
    query = base64.b64encode(b"[0, 10]").decode()
    run.get(f"?method=aria2.tellWaiting&id=q&params={query}")
    run.get("?method=aria2.getGlobalStat&id=q")
    run.get("?method=aria2.noSuchMethod&id=q")
    run.get("?id=q")
    run.get("?method=aria2.getGlobalStat")
    run.get("?method=aria2.tellActive&id=q&_=1504257059456")
    run.get("?method=aria2.tellActive&id=q&params=" + base64.b64encode(b'[["~~>"]]').decode())
    run.get("?method=aria2.tellActive&id=q&params=e30=")
    run.get("?method=aria2.tellActive&id=q&params=ew==")
    run.get("?params=ew==")
    run.get("?params=" + base64.b64encode(b'[{"id": 1, "method": "aria2.tellActive"}]').decode())


def malformed(run):
    for body in (b"{", b"", b"5", b"null", b'"text"', b"[]", b"[5]", b"{}", b'{"id": 1}', b'{"method": "aria2.tellActive"}',
                 b'{"id": 1, "method": 5}', b'{"id": 1, "method": "aria2.tellActive", "params": {}}',
                 b'{"id": null, "method": "aria2.tellActive"}', b'{"id": 1.5, "method": "aria2.tellActive"}',
                 b'{"id": {"a": 1}, "method": "aria2.tellActive"}', b'[{"id": 1, "method": "aria2.tellActive"}, {}]'):
        run.text("message", body)
    run.call("aria2.noSuchMethod")
    run.call("noSuchMethod")
    with_gid = ("tellStatus", "getUris", "getFiles", "getServers", "getPeers", "getOption", "pause", "unpause", "remove",
                "forcePause", "forceRemove", "removeDownloadResult")
    for method in with_gid:
        run.call(f"aria2.{method}", "00000000000000ab")
        run.call(f"aria2.{method}")
    for gid in ("", "xyz", "0" * 17, "-1", "ab"):
        run.call("aria2.tellStatus", gid)
    run.call("aria2.tellStatus", 5)
    run.call("aria2.changeOption", "00000000000000ab", {})
    run.call("aria2.changeOption", "00000000000000ab")
    run.call("aria2.changePosition", "00000000000000ab", 0, "POS_SET")
    run.call("aria2.changePosition", "00000000000000ab", 0)
    run.call("aria2.changeUri", "00000000000000ab", 1, [], [])
    run.call("aria2.addUri")
    run.call("aria2.addUri", [])
    run.call("aria2.addUri", "$URL/file")
    run.call("aria2.addUri", [5])
    run.call("aria2.addUri", ["$URL/file"], [])
    run.call("aria2.addUri", ["no uri"])
    run.call("aria2.addUri", ["", " "])
    run.call("aria2.addUri", ["$URL/file"], {"pause": "yes"})
    run.call("aria2.addUri", ["$URL/file"], {}, -1)
    run.call("aria2.addUri", ["$URL/file"], {}, "0")
    run.call("aria2.addUri", ["$URL/file"], {"gid": "1"})
    run.call("aria2.addUri", ["$URL/file"], {"split": "x"})
    run.call("aria2.addUri", ["$URL/file"], {"split": "0"})
    run.call("aria2.addUri", ["$URL/file"], {"max-connection-per-server": "17"})
    run.call("aria2.addUri", ["$URL/file"], {"max-download-limit": "fast"})
    run.call("aria2.addUri", ["$URL/file"], {"checksum": "sha-1=00"})
    run.call("aria2.addUri", ["$URL/file"], {"allow-overwrite": "yes"})
    run.call("aria2.tellWaiting")
    run.call("aria2.tellWaiting", 0)
    run.call("aria2.tellWaiting", "0", 1)
    run.call("aria2.tellStopped", 0, "x")
    run.call("aria2.tellWaiting", 0, -1)
    run.call("aria2.tellStopped", -1, -1)
    run.call("aria2.tellActive", "gid")
    run.call("aria2.addTorrent", "")
    run.call("aria2.addMetalink", "")
    run.call("system.multicall")
    run.call("system.multicall", "x")


def options(run):
    """A paused download for each option, through its whole life."""
    variants = {
        "plain": {}, "split": {"split": "3"}, "server": {"max-connection-per-server": "4"},
        "limit": {"max-download-limit": "200K"}, "out": {"out": "name.bin"}, "dir": {"dir": "$DIR/folder"},
        "agent": {"user-agent": "agent/1"}, "referer": {"referer": "http://from.example/"},
        "header": {"header": ["X-One: 1", "X-Two: 2"]}, "timeout": {"timeout": "20", "connect-timeout": "9"},
        "tries": {"max-tries": "3", "retry-wait": "2"}, "overwrite": {"allow-overwrite": "true"},
        "renaming": {"auto-file-renaming": "false"}, "unknown": {"no-such-option": "1"}, "number": {"split": 3},
        "sum": {"checksum": "md5=" + hashlib.md5(CONTENT).hexdigest()},
    }
    for name, values in variants.items():
        run.add(name, {"pause": "true", **values})
        run.call("aria2.tellStatus", f"${name}$")
        run.call("aria2.getOption", f"${name}$")
    run.call("aria2.getFiles", "$out$")
    run.call("aria2.getUris", "$plain$")
    run.call("aria2.getServers", "$plain$")
    run.call("aria2.getPeers", "$plain$")
    run.call("aria2.tellStatus", "$plain$", [])
    run.call("aria2.tellStatus", "$plain$", ["gid", "status", "nothing"])
    run.call("aria2.pause", "$plain$")
    run.call("aria2.changeOption", "$plain$", {"max-download-limit": "1M", "out": "changed.bin"})
    run.call("aria2.getOption", "$plain$")
    run.call("aria2.changeOption", "$plain$", {"max-download-limit": "x"})
    run.call("aria2.changeOption", "$plain$", {"no-such-option": "x"})
    for option, value in (("max-tries", "9"), ("timeout", "9"), ("pause", "false"), ("dry-run", "true")):
        run.call("aria2.changeOption", "$plain$", {option: value})
    run.call("aria2.tellWaiting", 0, 100, ["gid", "status", "dir"])
    run.call("aria2.removeDownloadResult", "$plain$")
    run.call("aria2.getGlobalStat")
    for name in variants:
        run.call("aria2.remove" if len(name) % 2 else "aria2.forceRemove", f"${name}$")
    for name in ("plain", "out", "dir"):
        run.call("aria2.tellStatus", f"${name}$")
        run.call("aria2.removeDownloadResult", f"${name}$")
        run.call("aria2.tellStatus", f"${name}$")
    run.call("aria2.purgeDownloadResult")
    run.call("aria2.tellStopped", 0, 100)


def queue(run):
    names = ["q1", "q2", "q3", "q4", "q5"]
    for name in names:
        run.add(name, {"pause": "true"})
    for name, offset, how in (("q5", 0, "POS_SET"), ("q1", 2, "POS_SET"), ("q1", 99, "POS_SET"), ("q2", -1, "POS_CUR"),
                              ("q2", 1, "POS_CUR"), ("q3", 0, "POS_END"), ("q3", -2, "POS_END"), ("q4", -9, "POS_CUR"),
                              ("q4", 0, "POS_CUR")):
        run.call("aria2.changePosition", f"${name}$", offset, how)
        run.call("aria2.tellWaiting", 0, 10, ["gid"])
    run.call("aria2.changePosition", "$q1$", 0, "MIDDLE")
    run.add("q6", {"pause": "true"}, position=0)
    run.add("q7", {"pause": "true"}, position=2)
    run.add("q8", {"pause": "true"}, position=99)
    run.call("aria2.tellWaiting", 0, 10, ["gid"])
    for parameters in ([0, 2], [2, 2], [7, 5], [8, 5], [-1, 3], [-3, 10], [-9, 2], [0, 1000]):
        run.call("aria2.tellWaiting", *parameters, ["gid"])
    for name in names + ["q6", "q7", "q8"]:
        run.call("aria2.remove", f"${name}$")
    for parameters in ([0, 2], [6, 5], [-1, 3], [-8, 10], [-9, 2]):
        run.call("aria2.tellStopped", *parameters, ["gid", "status"])
    run.call("aria2.changePosition", "$q1$", 0, "POS_SET")
    run.call("aria2.pause", "$q1$")
    run.call("aria2.unpause", "$q1$")
    run.call("aria2.remove", "$q1$")
    run.call("aria2.purgeDownloadResult")


def outcomes(run):
    quick = {"max-tries": "1"}
    cases = {
        "done": ({"out": "done.bin", "split": "1"}, "/file", "complete"),
        "missing": (quick, "/missing", "error"), "forbidden": (quick, "/forbidden", "error"),
        "wrong": ({"checksum": "md5=" + "0" * 32, "out": "wrong.bin"}, "/file", "error"),
        "right": ({"checksum": "sha-1=" + hashlib.sha1(CONTENT).hexdigest(), "out": "right.bin"}, "/file", "complete"),
        "inside": ({"dir": "$DIR/inside", "out": "a.bin"}, "/file", "complete"),
    }
    for name, (values, path, status) in cases.items():
        run.add(name, values, uris=[f"$URL{path}"])
        run.wait(name, status)
        run.call("aria2.tellStatus", f"${name}$")
        run.call("aria2.getFiles", f"${name}$")
        run.call("aria2.getUris", f"${name}$")
        run.call("aria2.pause", f"${name}$")
        run.call("aria2.unpause", f"${name}$")
        run.call("aria2.remove", f"${name}$")
        run.call("aria2.getServers", f"${name}$")
        run.call("aria2.changePosition", f"${name}$", 0, "POS_SET")
    run.call("aria2.getGlobalStat")
    run.call("aria2.tellStopped", 0, 100, ["gid", "status", "errorCode", "totalLength", "completedLength"])
    run.call("aria2.tellStopped", -1, 2, ["gid", "status"])
    run.retry("missing", "again")
    run.wait("again", "error")
    run.call("aria2.removeDownloadResult", "$done$")
    run.call("aria2.removeDownloadResult", "$done$")
    run.call("aria2.purgeDownloadResult")
    run.add("later", {"pause": "true", "out": "later.bin"})
    run.call("aria2.unpause", "$later$")
    run.wait("later", "complete")
    run.call("aria2.tellStatus", "$later$", ["status", "totalLength"])
    run.add("all", {"pause": "true", "out": "all.bin"})
    run.call("aria2.unpauseAll")
    run.wait("all", "complete")
    run.call("aria2.purgeDownloadResult")


def uris(run):
    run.add("many", {"pause": "true"}, uris=["$URL/file1", "$URL/file2", "$URL/file1"])
    run.call("aria2.getUris", "$many$")
    run.call("aria2.changeUri", "$many$", 1, ["$URL/file1"], ["$URL/file3"])
    run.call("aria2.getUris", "$many$")
    run.call("aria2.changeUri", "$many$", 1, [], ["$URL/file4"], 0)
    run.call("aria2.getUris", "$many$")
    run.call("aria2.changeUri", "$many$", 1, ["$URL/unknown"], [])
    run.call("aria2.changeUri", "$many$", 2, [], ["$URL/file5"])
    run.call("aria2.changeUri", "$many$", 0, [], ["$URL/file5"])
    run.add("given", {"pause": "true", "gid": "00000000000000ff"})
    run.call("aria2.tellStatus", "00000000000000ff", ["gid"])
    run.call("aria2.tellStatus", "00000000000000FF", ["gid"])
    run.call("aria2.tellStatus", "00000000", ["gid"])
    run.call("aria2.addUri", ["$URL/file"], {"gid": "00000000000000ff"})
    run.call("aria2.remove", "$many$")
    run.call("aria2.remove", "$given$")
    run.call("aria2.purgeDownloadResult")


def several(run):
    def nested(*calls):
        run.call("system.multicall", [{"methodName": method, "params": list(parameters)} for method, *parameters in calls])

    nested()
    nested(["aria2.tellActive"])
    nested(["aria2.tellActive"], ["aria2.getGlobalStat"], ["aria2.noSuchMethod"], ["system.multicall", []])
    nested(["aria2.tellStatus", "ab"], ["aria2.tellStatus"], ["system.listNotifications"])
    run.call("system.multicall", [5, "x", {}, {"methodName": 5}, {"methodName": "aria2.tellActive"}])
    run.text("message", b'[{"id": 1, "method": "aria2.tellActive"}, {"id": "b", "method": "aria2.noSuchMethod"}]')
    run.post("?tm=1504257059456", b'{"id": 1, "method": "aria2.tellActive"}')
    run.add("last", {"pause": "true"})
    nested(["aria2.tellStatus", "$last$", ["gid"]], ["aria2.remove", "$last$"], ["aria2.removeDownloadResult", "$last$"])
    run.call("aria2.getGlobalStat")
    run.call("aria2.shutdown", "token")


def markdown(table):
    """One line for each reason."""
    calls = {}
    for rule in table:
        why = rule["why"] if rule["why"] not in ("The same.",) else why
        calls.setdefault(why, []).append("a JSON-RPC message" if rule["call"] == "message" else f"`{rule['call']}`")
    lines = ["| what differs | where |", "|---|---|"]
    return "\n".join(lines + [f"| {why} | {', '.join(dict.fromkeys(places))} |" for why, places in calls.items()])


def main():
    if sys.argv[1:] == ["--table"]:
        print(markdown(json.loads((pathlib.Path(__file__).parent / "differences.json").read_text())))
        return 0
    arguments = [argument for argument in sys.argv[1:] if argument != "--verbose"]
    if len(arguments) != 4:
        print(__doc__)
        return 64
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_address[1]}"
    table = json.loads((pathlib.Path(__file__).parent / "differences.json").read_text())
    run = Comparison(
        Service(arguments[0], arguments[1], origin), Service(arguments[2], arguments[3], origin), table,
        "--verbose" in sys.argv)
    everything(run)
    return 0 if run.report() else 1


if __name__ == "__main__":
    sys.exit(main())
