#!/usr/bin/env python3
"""handshakes.py BASE-URL TOKEN

Handshakes of a service with a token: who gets a WebSocket, and who gets notifications.
"""
import json
import sys
import urllib.request

import websocket

base, token = sys.argv[1:3]
address = base.replace("http://", "ws://") + "/jsonrpc"


def status(**options):
    try:
        websocket.create_connection(address, timeout=10, **options).close()
        return 101
    except websocket.WebSocketBadStatusException as refusal:
        return refusal.status_code


def bearer(secret):
    return [f"Authorization: Bearer {secret}"]


def answer(ws, method, *parameters):
    ws.send(json.dumps({"id": "1", "method": method, "params": list(parameters)}))
    while True:
        message = json.loads(ws.recv())
        if "id" in message:
            return message


# The library sends the origin of the address by itself.
assert status() == 101
assert status(suppress_origin=True) == 101
assert status(header=bearer(token)) == 101
assert status(header=bearer("wrong")) == 401
assert status(origin="https://evil.example") == 403
assert status(origin="null") == 403
assert status(host="evil.example", suppress_origin=True) == 421

# Not a handshake.
request = urllib.request.Request(base + "/jsonrpc", headers={"Upgrade": "websocket", "Connection": "Upgrade"})
try:
    urllib.request.urlopen(request)
    raise AssertionError("answered")
except urllib.error.HTTPError as refusal:
    assert refusal.code == 400, refusal.code
    assert refusal.headers["Sec-WebSocket-Version"] == "13"

# Every call needs the token; without one, the client gets no notification.
stranger = websocket.create_connection(address, timeout=10)
assert answer(stranger, "aria2.tellActive")["error"]["message"] == "Unauthorized"
friend = websocket.create_connection(address, timeout=10)
secret = "token:" + token
assert answer(friend, "aria2.tellActive", secret)["result"] == []
gid = answer(friend, "aria2.addUri", secret, ["http://192.0.2.1/"], {"pause": "true"})["result"]
message = answer(friend, "aria2.unpause", secret, gid)
assert message["result"] == gid, message
while json.loads(friend.recv())["method"] != "aria2.onDownloadStart":
    pass
# What the stranger receives next is the answer to its own call.
stranger.send(json.dumps({"id": "2", "method": "system.listNotifications"}))
assert json.loads(stranger.recv())["id"] == "2"
