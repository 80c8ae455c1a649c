#!/usr/bin/env python3
"""idle_sockets.py BASE-URL PID COUNT

Opens so many WebSockets that do nothing, and prints how much memory each of them costs the process. Ends with status 1 if it
is more than 10 KiB, or if one of the sockets does not answer a call afterwards.
"""
import base64
import json
import resource
import socket
import sys
import time
from urllib.parse import urlsplit

base, pid, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
parts = urlsplit(base)
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, count + 300), most))
handshake = (
    f"GET /jsonrpc HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {base64.b64encode(b'0123456789abcdef').decode()}\r\n\r\n").encode()


def memory():
    """In bytes."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) * 1024


def open_socket():
    client = socket.create_connection((parts.hostname, parts.port), timeout=30)
    client.sendall(handshake)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += client.recv(4096)
    assert answer.startswith(b"HTTP/1.1 101 "), answer
    return client


def call(client):
    text = b'{"id": 1, "method": "system.listNotifications"}'
    client.sendall(bytes([0x81, 0x80 | len(text), 0, 0, 0, 0]) + text)
    answer = client.recv(4096)
    assert answer[0] == 0x81 and json.loads(answer[2 if answer[1] < 126 else 4:])["id"] == 1, answer


sockets = [open_socket() for _ in range(100)]
before = memory()
sockets += [open_socket() for _ in range(count)]
time.sleep(2)
each = (memory() - before) / count
print(f"{count} idle WebSockets: {each / 1024:.1f} KiB each")
for client in sockets[:: max(1, count // 100)]:
    call(client)
sys.exit(each > 10 * 1024)
