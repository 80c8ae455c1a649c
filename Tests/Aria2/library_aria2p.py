#!/usr/bin/env python3
"""library_aria2p.py BASE-URL FILE-URL TOKEN: drives fetchd with the library and the command of aria2p."""
import subprocess
import sys
import time
from urllib.parse import urlsplit

import aria2p

base, url, token = sys.argv[1:4]
parts = urlsplit(base)
client = aria2p.Client(host=f"http://{parts.hostname}", port=parts.port, secret=token)
api = aria2p.API(client)


def until(what, condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f"waited for {what}")


assert api.get_downloads() == []
first = api.add_uris([url], options={"out": "first.bin"})
until("first", lambda: api.get_download(first.gid).is_complete)
done = api.get_download(first.gid)
assert done.name == "first.bin" and done.total_length == done.completed_length == 300_000, done
assert str(done.files[0].path).endswith("/downloads/first.bin"), done.files

# The retry of a failed download adds it again, with the options that the service shows.
failed = api.add_uris([url + ".missing"], options={"out": "again.bin", "max-tries": "1"})
until("the failure", lambda: api.get_download(failed.gid).has_failed)
assert api.retry_downloads([api.get_download(failed.gid)]) == [True]
retried = next(download for download in api.get_downloads() if download.gid not in (first.gid, failed.gid))
assert retried.name == "again.bin", retried
until("the second failure", lambda: api.get_download(retried.gid).has_failed)

paused = [api.add_uris([url], options={"pause": "true"}) for _ in range(3)]
assert [download.status for download in api.get_downloads([d.gid for d in paused])] == ["paused"] * 3
order = lambda: [download["gid"] for download in client.tell_waiting(0, 10)]
assert order() == [download.gid for download in paused]
assert paused[2].move_to_top() == 0
assert order()[0] == paused[2].gid
assert paused[2].move_down() == 1
assert paused[0].move_to_bottom() == 2
assert order() == [paused[2].gid, paused[1].gid, paused[0].gid]
paused[1].options.max_download_limit = 2097152
assert client.get_option(paused[1].gid)["max-download-limit"] == "2097152"
assert paused[0].remove() is True
assert api.resume_all() is True
for download in paused[1:]:
    until("the others", lambda: api.get_download(download.gid).is_complete)
assert api.get_stats().num_stopped >= 3
assert api.pause_all() and api.resume_all()
assert api.purge() is True
assert api.get_downloads() == []
assert client.multicall2([(client.GET_VERSION, []), (client.TELL_ACTIVE, [])])[1] == [[]]

try:
    client.tell_status("0" * 15 + "7")
    raise AssertionError("no error")
except aria2p.ClientException as error:
    assert error.code == 1 and "is not found" in error.message, error


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "aria2p", "--host", f"http://{parts.hostname}", "--port", str(parts.port),
         "--secret", token, *arguments], capture_output=True, text=True, timeout=60, check=True).stdout


command("add", url)
until("the download of the command", lambda: [d.status for d in api.get_downloads()] == ["complete"])
assert "complete" in command("show")
assert "1.37.0" in command("call", "getversion")
command("purge")
assert api.get_downloads() == []
