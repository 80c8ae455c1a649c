"""Prints random requests to S3-compatible storage, with the signatures that botocore makes of them, as lines of JSON.

usage: signatures.py COUNT SEED
"""

import datetime
import hashlib
import json
import random
import sys
from urllib.parse import quote

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

LETTERS = "abcXYZ019-._~ !\"#$%&'()*+,/:;<=>?@[\\]^`{|}äß€日🎬\t"
METHODS = ["GET", "PUT", "POST", "DELETE", "HEAD"]
ENDPOINTS = ["https://s3.eu-central-1.amazonaws.com", "http://127.0.0.1:9000", "https://b.s3.example", "https://h:8443"]
HEADERS = [
    "content-type", "x-amz-meta-a", "X-Amz-Meta-Ab", "x-amz-server-side-encryption", "If-None-Match", "Range",
    "x-amz-server-side-encryption-aws-kms-key-id", "x-amz-storage-class", "content-md5",
]
QUERY = ["uploads", "uploadId", "partNumber", "list-type", "prefix", "x-id", "ä b", "max-keys", "a", "a-b", "A"]


def text(rng, letters, longest, shortest=0):
    return "".join(rng.choice(letters) for _ in range(rng.randint(shortest, longest)))


def case(rng):
    headers = {name: text(rng, "ab \"*/=;:1 ", 20).strip() for name in rng.sample(HEADERS, rng.randint(0, 5))}
    return {
        "method": rng.choice(METHODS),
        "endpoint": rng.choice(ENDPOINTS),
        "path": "/" + text(rng, LETTERS, 40),
        "query": [[name, text(rng, LETTERS, 12)] for name in rng.sample(QUERY, rng.randint(0, 4))],
        "headers": headers,
        "payload": hashlib.sha256(rng.randbytes(rng.randint(0, 64))).hexdigest(),
        "id": text(rng, "ABC123", 20, 1),
        "secret": text(rng, "abcXYZ/+=12", 40, 1),
        "token": text(rng, "abc/+=12", 60, 1) if rng.random() < 0.3 else None,
        "region": rng.choice(["us-east-1", "eu-central-1", "auto", "garage"]),
        "time": rng.randint(946_684_800, 4_102_444_799),
        "expires": rng.randint(1, 604_800),
    }


def url(case):
    query = "&".join(f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}" for name, value in case["query"])
    return case["endpoint"] + quote(case["path"], safe="/-_.~") + (f"?{query}" if query else "")


def sign(case):
    moment = datetime.datetime.fromtimestamp(case["time"], datetime.timezone.utc)
    botocore.auth.get_current_datetime = lambda *_, **__: moment
    credentials = Credentials(case["id"], case["secret"], case["token"])
    signer = botocore.auth.S3SigV4Auth(credentials, "s3", case["region"])
    signer.payload = lambda request: case["payload"]
    request = AWSRequest(case["method"], url(case), headers=dict(case["headers"]))
    signer.add_auth(request)
    presigned = AWSRequest(case["method"], url(case), headers=dict(case["headers"]))
    botocore.auth.S3SigV4QueryAuth(credentials, "s3", case["region"], case["expires"]).add_auth(presigned)
    return {"authorization": request.headers["Authorization"], "presigned": presigned.url}


def main():
    rng = random.Random(int(sys.argv[2]))
    for _ in range(int(sys.argv[1])):
        made = case(rng)
        print(json.dumps(made | sign(made)))


if __name__ == "__main__":
    main()
