#!/usr/bin/env python3
"""library_aioaria2.py BASE-URL FILE-URL TOKEN: drives fetchd with aioaria2, over HTTP and over a WebSocket."""
import asyncio
import sys

import aioaria2

base, url, token = sys.argv[1:4]


async def over_http():
    async with aioaria2.Aria2HttpClient(base + "/jsonrpc", token=token) as client:
        gid = await client.addUri([url], options={"out": "http.bin"})
        for _ in range(600):
            status = await client.tellStatus(gid, ["status", "totalLength"])
            if status["status"] == "complete":
                break
            await asyncio.sleep(0.05)
        assert status == {"status": "complete", "totalLength": "300000"}, status
        assert (await client.getGlobalStat())["numStopped"] == "1"
        assert await client.purgeDownloadResult() == "OK"


async def over_a_socket():
    started, completed = asyncio.Queue(), asyncio.Queue()
    client = await aioaria2.Aria2WebsocketClient.new(base.replace("http", "ws", 1) + "/jsonrpc", token=token)

    async def on_start(trigger, data):
        await started.put(data["params"][0]["gid"])

    async def on_complete(trigger, data):
        await completed.put(data["params"][0]["gid"])

    client.onDownloadStart(on_start)
    client.onDownloadComplete(on_complete)
    # The socket gets notifications from its first call on.
    assert (await client.getVersion())["version"] == "1.37.0"
    gid = await client.addUri([url], options={"out": "socket.bin"})
    assert await asyncio.wait_for(started.get(), 20) == gid
    assert await asyncio.wait_for(completed.get(), 20) == gid
    assert (await client.getFiles(gid))[0]["path"].endswith("/socket.bin")
    await client.close()


asyncio.run(over_http())
asyncio.run(over_a_socket())
