"""An S3 server in memory that refuses what strict servers refuse, and fails where a test wants it to.

It compares signatures and the hashes of bodies, demands parts of equal size, and keeps `If-None-Match` unless the
test says otherwise. It prints a line of JSON: the port, a bucket, and an access key.

A test controls it at `/_test/`: `PUT faults` takes a list of rules, `GET state` answers what the bucket has.
A rule is `{"operation", "number", "do"}`: the fault of the request with this number (from 1) of an operation, or of
all operations ("any"). `do`: "close-before" and "freeze-before" do not carry it out, "close-after" and
"freeze-after" do; "slow-down", "internal", "skew", "error-in-200" and "forbid" answer; with "number": 0 always.
"""

import hashlib
import hmac
import http.server
import json
import threading
import time
import urllib.parse
import uuid
from email.utils import formatdate
from xml.sax.saxutils import escape

KEY, SECRET, BUCKET, REGION = "strict-key", "strict-secret", "archive", "us-east-1"
SMALLEST_PART = 5 << 20


class Refusal(Exception):
    def __init__(self, status, code, message="The request is refused."):
        super().__init__(code)
        self.status, self.code, self.message = status, code, message


class Storage:
    def __init__(self):
        self.lock = threading.Condition()
        self.objects, self.uploads, self.log, self.rules = {}, {}, [], []
        self.frozen, self.keeps_conditions, self.created = 0, True, []

    def fault(self, operation):
        """Counts the request, and returns what to do with it."""
        with self.lock:
            self.log.append(operation)
            for rule in self.rules:
                number = len(self.log) if rule["operation"] == "any" else self.log.count(operation)
                if rule["operation"] in ("any", operation) and rule["number"] in (0, number):
                    return rule["do"]
        return None


def encoded(text, safe=""):
    return urllib.parse.quote(text, safe=safe + "-._~")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    storage = Storage()

    def log_message(self, *_):
        pass

    def do(self):
        try:
            split = urllib.parse.urlsplit(self.path)
            self.query = dict(urllib.parse.parse_qsl(split.query, keep_blank_values=True))
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path = urllib.parse.unquote(split.path)
            if path.startswith("/_test/"):
                return self.control(path, body)
            self.verify(split, body)
            bucket, _, self.key = path[1:].partition("/")
            if bucket != BUCKET:
                raise Refusal(404, "NoSuchBucket")
            self.carry_out(body)
        except Refusal as refusal:
            self.refuse(refusal)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = do

    # Signatures

    def verify(self, split, body):
        if "X-Amz-Signature" in self.query:
            return self.verify_url(split)
        authorization = self.headers.get("Authorization", "")
        if not authorization.startswith("AWS4-HMAC-SHA256 "):
            raise Refusal(403, "AccessDenied")
        fields = dict(field.strip().split("=", 1) for field in authorization[17:].split(","))
        digest = hashlib.sha256(body).hexdigest()
        if self.headers.get("x-amz-content-sha256") != digest:
            raise Refusal(400, "XAmzContentSHA256Mismatch")
        for name in self.headers:
            if name.lower().startswith("x-amz-") and name.lower() not in fields["SignedHeaders"].split(";"):
                raise Refusal(403, "AccessDenied", f"{name} is not signed.")
        query = sorted(urllib.parse.parse_qsl(split.query, keep_blank_values=True))
        self.compare(split, query, fields["SignedHeaders"], digest, self.headers["x-amz-date"],
                     fields["Credential"], fields["Signature"])

    def verify_url(self, split):
        query = sorted(urllib.parse.parse_qsl(split.query, keep_blank_values=True))
        query = [field for field in query if field[0] != "X-Amz-Signature"]
        if int(self.query["X-Amz-Expires"]) > 60:
            raise Refusal(403, "AccessDenied", "The URL is valid for too long.")
        self.compare(split, query, self.query["X-Amz-SignedHeaders"], "UNSIGNED-PAYLOAD", self.query["X-Amz-Date"],
                     self.query["X-Amz-Credential"], self.query["X-Amz-Signature"])

    def compare(self, split, query, names, payload, date, credential, signature):
        key, day, region, *_ = credential.split("/")
        if key != KEY:
            raise Refusal(403, "InvalidAccessKeyId")
        if region != REGION:
            raise Refusal(400, "AuthorizationHeaderMalformed", f"The region is wrong.</Message><Region>{REGION}</Region><Message>")
        headers = "".join(f"{name}:{' '.join(self.headers[name].split())}\n" for name in names.split(";"))
        parameters = "&".join(f"{encoded(name)}={encoded(value)}" for name, value in query)
        path = encoded(urllib.parse.unquote(split.path), "/")
        canonical = "\n".join([self.command, path, parameters, headers, names, payload])
        text = "\n".join(["AWS4-HMAC-SHA256", date, f"{day}/{region}/s3/aws4_request",
                          hashlib.sha256(canonical.encode()).hexdigest()])
        secret = f"AWS4{SECRET}".encode()
        for part in (day, region, "s3", "aws4_request"):
            secret = hmac.new(secret, part.encode(), hashlib.sha256).digest()
        if hmac.new(secret, text.encode(), hashlib.sha256).hexdigest() != signature:
            raise Refusal(403, "SignatureDoesNotMatch")

    # Faults

    def operation(self):
        named = {("POST", "uploads"): "CreateMultipartUpload", ("PUT", "uploadId"): "UploadPart",
                 ("POST", "uploadId"): "CompleteMultipartUpload", ("DELETE", "uploadId"): "AbortMultipartUpload",
                 ("GET", "uploads"): "ListMultipartUploads", ("GET", "uploadId"): "ListParts"}
        for (method, parameter), name in named.items():
            if self.command == method and parameter in self.query:
                return name
        return {"PUT": "PutObject", "GET": "GetObject", "HEAD": "HeadObject", "DELETE": "DeleteObject"}[self.command]

    def carry_out(self, body):
        operation = self.operation()
        fault = None if ".fetchd-probe-" in self.key else self.storage.fault(operation)
        answers = {"slow-down": (503, "SlowDown"), "internal": (500, "InternalError"),
                   "skew": (403, "RequestTimeTooSkewed"), "forbid": (403, "AccessDenied")}
        if fault in answers:
            raise Refusal(*answers[fault])
        if fault == "error-in-200":
            return self.answer(200, f"<Error><Code>InternalError</Code><Message>late</Message></Error>")
        if fault in ("close-before", "freeze-before"):
            return self.leave(fault)
        is_unanswered = fault in ("close-after", "freeze-after")
        try:
            with self.storage.lock:
                result = getattr(self, operation)(body)
        except Refusal:
            if not is_unanswered:
                raise
        if is_unanswered:
            return self.leave(fault)
        self.answer(*result)

    def leave(self, fault):
        """Closes the connection without an answer, or does so as soon as the test has removed the rule."""
        storage = self.storage
        self.close_connection = True
        if fault.startswith("freeze"):
            with storage.lock:
                storage.frozen += 1
                storage.lock.notify_all()
                storage.lock.wait_for(lambda: not storage.rules, timeout=120)
                storage.frozen -= 1

    # Operations, with the lock

    def require_new(self):
        if self.storage.keeps_conditions and self.headers.get("If-None-Match") == "*":
            if self.key in self.storage.objects:
                raise Refusal(412, "PreconditionFailed")

    def store(self, body, headers, etag):
        kept = {name.lower(): value for name, value in headers.items()
                if name.lower().startswith("x-amz-meta-") or name.lower() in ("content-type", "x-amz-storage-class")}
        version = uuid.uuid4().hex
        self.storage.objects[self.key] = {"body": body, "headers": kept, "etag": etag, "version": version}
        self.storage.created.append(self.key)
        return version

    def PutObject(self, body):
        self.require_new()
        etag = f'"{hashlib.md5(body).hexdigest()}"'
        return 200, "", {"ETag": etag, "x-amz-version-id": self.store(body, self.headers, etag)}

    def HeadObject(self, _):
        return self.GetObject(_)

    def GetObject(self, _):
        found = self.storage.objects.get(self.key)
        if found is None:
            raise Refusal(404, "NoSuchKey")
        if self.headers.get("If-Match", found["etag"]) != found["etag"]:
            raise Refusal(412, "PreconditionFailed")
        headers = {"ETag": found["etag"], "x-amz-version-id": found["version"], **found["headers"]}
        body, wanted = found["body"], self.headers.get("Range")
        if not wanted:
            return 200, body, headers
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        start = int(first) if first else max(0, len(body) - int(last))
        end = min(int(last), len(body) - 1) if first and last else len(body) - 1
        if start > end:
            raise Refusal(416, "InvalidRange")
        headers["Content-Range"] = f"bytes {start}-{end}/{len(body)}"
        return 206, body[start : end + 1], headers

    def DeleteObject(self, _):
        self.storage.objects.pop(self.key, None)
        return 204, ""

    def CreateMultipartUpload(self, _):
        identifier = uuid.uuid4().hex
        self.storage.uploads[identifier] = {
            "key": self.key, "headers": dict(self.headers), "parts": {}, "begun": time.time()}
        return 200, f"<R><UploadId>{identifier}</UploadId></R>"

    def upload(self):
        found = self.storage.uploads.get(self.query["uploadId"])
        if found is None or found["key"] != self.key:
            raise Refusal(404, "NoSuchUpload")
        return found

    def UploadPart(self, body):
        etag = f'"{hashlib.md5(body).hexdigest()}"'
        self.upload()["parts"][int(self.query["partNumber"])] = (etag, body)
        return 200, "", {"ETag": etag}

    def CompleteMultipartUpload(self, body):
        upload, text = self.upload(), body.decode()
        self.require_new()
        named = [(int(piece.split("</PartNumber>")[0]),
                  piece.split("<ETag>")[1].split("</ETag>")[0].replace("&quot;", '"'))
                 for piece in text.split("<PartNumber>")[1:]]
        for number, etag in named:
            if upload["parts"].get(number, (None,))[0] != etag:
                raise Refusal(400, "InvalidPart")
        bodies = [upload["parts"][number][1] for number, _ in named]
        if any(len(part) != len(bodies[0]) or len(part) < SMALLEST_PART for part in bodies[:-1]):
            raise Refusal(400, "EntityTooSmall", "All parts but the last must have the same size.")
        if bodies and len(bodies[-1]) > len(bodies[0]):
            raise Refusal(400, "InvalidPart")
        del self.storage.uploads[self.query["uploadId"]]
        whole = b"".join(bodies)
        etag = f'"{hashlib.md5(whole).hexdigest()}-{len(bodies)}"'
        version = self.store(whole, upload["headers"], etag)
        return 200, f"<R><ETag>{escape(etag)}</ETag></R>", {"x-amz-version-id": version}

    def AbortMultipartUpload(self, _):
        self.upload()
        del self.storage.uploads[self.query["uploadId"]]
        return 204, ""

    def ListMultipartUploads(self, _):
        rows = "".join(
            f"<Upload><Key>{escape(upload['key'])}</Key><UploadId>{identifier}</UploadId>"
            f"<Initiated>{time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime(upload['begun']))}</Initiated></Upload>"
            for identifier, upload in self.storage.uploads.items()
            if upload["key"].startswith(self.query.get("prefix", "")))
        return 200, f"<R>{rows}<IsTruncated>false</IsTruncated></R>"

    def ListParts(self, _):
        rows = "".join(f"<Part><PartNumber>{number}</PartNumber><ETag>{escape(etag)}</ETag></Part>"
                       for number, (etag, _) in sorted(self.upload()["parts"].items()))
        return 200, f"<R>{rows}<IsTruncated>false</IsTruncated></R>"

    # Answers

    def refuse(self, refusal):
        body = f"<Error><Code>{refusal.code}</Code><Message>{refusal.message}</Message></Error>"
        self.answer(refusal.status, body)

    def answer(self, status, body, headers=None):
        content = body if isinstance(body, bytes) else body.encode()
        self.send_response_only(status)
        self.send_header("Date", formatdate(time.time(), usegmt=True))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    # For the test

    def control(self, path, body):
        storage = self.storage
        with storage.lock:
            if path == "/_test/faults":
                storage.rules = json.loads(body)
                storage.log = []
                storage.lock.notify_all()
            elif path == "/_test/conditions":
                storage.keeps_conditions = json.loads(body)
            elif path == "/_test/uploads":
                storage.uploads = {}
            elif path == "/_test/object":
                self.key = self.query["key"]
                self.store(body, {}, f'"{hashlib.md5(body).hexdigest()}"')
            state = {
                "objects": {key: {"size": len(found["body"]), "sha256": hashlib.sha256(found["body"]).hexdigest(),
                                  "headers": found["headers"]}
                            for key, found in storage.objects.items()},
                "uploads": [upload["key"] for upload in storage.uploads.values() if ".fetchd-probe-" not in upload["key"]],
                "frozen": storage.frozen, "log": storage.log,
                "created": [key for key in storage.created if ".fetchd-probe-" not in key]}
        self.answer(200, json.dumps(state))


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def main():
    server = Server(("127.0.0.1", 0), Handler)
    ready = {"port": server.server_port, "bucket": BUCKET, "id": KEY, "secret": SECRET}
    print(json.dumps(ready), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
