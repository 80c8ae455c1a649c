"""Asks receiver.py about each request on standard input."""

import base64
import json
import sys

sys.path.insert(0, sys.argv[1])
from receiver import is_genuine  # noqa: E402

for line in sys.stdin:
    case = json.loads(line)
    fields = (case[name] for name in ("secret", "id", "timestamp", "signatures"))
    print(json.dumps(is_genuine(*fields, base64.b64decode(case["body"]), case["now"])))
