#!/usr/bin/env python3
"""ended_socket.py BASE-URL FILE

Opens a WebSocket, makes one call, creates the file, and waits until the service closes the socket. Ends with status 0 if it
closes it with the code 1001.
"""
import json
import pathlib
import struct
import sys

import websocket

base, file = sys.argv[1:3]
ws = websocket.create_connection(base.replace("http://", "ws://") + "/jsonrpc", timeout=60)
ws.send(json.dumps({"jsonrpc": "2.0", "id": "1", "method": "aria2.tellActive", "params": []}))
assert json.loads(ws.recv())["result"] == []
pathlib.Path(file).touch()
opcode, data = ws.recv_data()
assert opcode == websocket.ABNF.OPCODE_CLOSE, (opcode, data)
assert struct.unpack("!H", data[:2])[0] == 1001, data
