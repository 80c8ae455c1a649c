#!/usr/bin/env python3
"""sockets.py BASE-URL FILE-URL

Uses a WebSocket of fetchd's aria2 interface with the library websocket-client: calls, notifications, fragments, pings, and
what a client must not send. Ends with status 0 if everything is as aria2 and RFC 6455 say.
"""
import json
import socket
import struct
import sys

import websocket

base, url = sys.argv[1:3]
address = base.replace("http://", "ws://") + "/jsonrpc"


def connect():
    return websocket.create_connection(address, timeout=20)


def call(ws, method, *parameters, identifier="1"):
    """The result of a call, and the notifications that arrived before it."""
    ws.send(json.dumps({"jsonrpc": "2.0", "id": identifier, "method": method, "params": list(parameters)}))
    notifications = []
    while True:
        message = json.loads(ws.recv())
        if message.get("id") == identifier:
            return message, notifications
        notifications.append(message)


def notification(ws, name, gid, received):
    while True:
        for message in received:
            if message["method"] == name and message["params"] == [{"gid": gid}]:
                return
        received = [json.loads(ws.recv())]


def closes_with(code, send):
    ws = connect()
    send(ws)
    opcode, data = ws.recv_data()
    assert opcode == websocket.ABNF.OPCODE_CLOSE, (code, opcode, data)
    assert struct.unpack("!H", data[:2])[0] == code, (code, data)


def raw(frame):
    return lambda ws: ws.sock.sendall(frame)


ws = connect()
answer, _ = call(ws, "aria2.getVersion")
assert answer["result"]["version"] == "1.37.0", answer
answer, received = call(ws, "aria2.addUri", [url], {"out": "socket.bin"})
gid = answer["result"]
notification(ws, "aria2.onDownloadStart", gid, received)
notification(ws, "aria2.onDownloadComplete", gid, received)
answer, received = call(ws, "aria2.addUri", [url], {"pause": "true"})
paused = answer["result"]
notification(ws, "aria2.onDownloadPause", paused, received)
answer, received = call(ws, "aria2.remove", paused)
notification(ws, "aria2.onDownloadStop", paused, received)
answer, received = call(ws, "aria2.addUri", [url], {"checksum": "md5=" + "0" * 32})
notification(ws, "aria2.onDownloadError", answer["result"], received)

# A message in three fragments, with a ping between them.
text = json.dumps({"id": "f", "method": "system.listMethods"}).encode()
ws.send_frame(websocket.ABNF.create_frame(text[:5], websocket.ABNF.OPCODE_TEXT, fin=0))
ws.ping("between")
ws.send_frame(websocket.ABNF.create_frame(text[5:9], websocket.ABNF.OPCODE_CONT, fin=0))
ws.send_frame(websocket.ABNF.create_frame(text[9:], websocket.ABNF.OPCODE_CONT, fin=1))
opcode, data = ws.recv_data(control_frame=True)
assert (opcode, data) == (websocket.ABNF.OPCODE_PONG, b"between"), (opcode, data)
assert "aria2.addUri" in json.loads(ws.recv())["result"]

# Several messages at once are answered in their order.
for index in range(50):
    ws.send(json.dumps({"id": index, "method": "aria2.getGlobalStat"}))
assert [json.loads(ws.recv())["id"] for _ in range(50)] == list(range(50))
ws.send("{")
assert json.loads(ws.recv())["error"]["code"] == -32700
# A large message, and a larger answer than the socket's buffer.
ws.send(json.dumps({"id": "x" * 1_500_000, "method": "system.listNotifications"}))
assert len(json.loads(ws.recv())["id"]) == 1_500_000
ws.close(status=1000, timeout=5)

closes_with(1003, lambda ws: ws.send_binary(b"x"))
closes_with(1009, lambda ws: ws.send("x" * (2 << 20) + "x"))
closes_with(1007, raw(bytes([0x81, 0x81, 0, 0, 0, 0, 0xFF])))
closes_with(1002, raw(bytes([0x81, 0x01, 0x61])))
closes_with(1002, raw(bytes([0xC1, 0x80, 0, 0, 0, 0])))
closes_with(1002, raw(bytes([0x80, 0x80, 0, 0, 0, 0])))
closes_with(4321, lambda ws: ws.send_close(4321))

# A client that disconnects without a close frame.
for _ in range(20):
    ws = connect()
    ws.sock.shutdown(socket.SHUT_RDWR)
ws = connect()
assert call(ws, "aria2.tellActive")[0]["result"] == []
