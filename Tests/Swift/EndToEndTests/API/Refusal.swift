import Formats
import TestKit

/// A member of a document that is refused, and the problem in the response.
struct Refusal: Sendable {
    /// Members to set in an otherwise valid document.
    let members: JSONObject
    let problem: APIAnswer.Problem

    init(_ members: JSONObject, _ kind: String, _ pointer: String) {
        self.members = members
        problem = .init(kind: kind, pointer: pointer)
    }

    static func invalid(_ members: JSONObject, _ pointer: String) -> Refusal {
        Refusal(members, "invalid-value", pointer)
    }

    static func unknown(_ members: JSONObject, _ pointer: String) -> Refusal {
        Refusal(members, "unknown-field", pointer)
    }

    /// Invalid headers, directories, timeouts and the like, for every document that has them.
    static let common: [Refusal] = [
        .invalid(["headers": []], "/headers"),
        .invalid(["headers": ["X-Count": 1]], "/headers/X-Count"),
        .invalid(["headers": ["X-Two-Lines": "a\r\nX-Smuggled: b"]], "/headers/X-Two-Lines"),
        .invalid(["headers": ["X-Line": "a\nb"]], "/headers/X-Line"),
        .invalid(["headers": ["no token": "a"]], "/headers/no token"),
        .invalid(["headers": ["a/b~c": "a"]], "/headers/a~1b~0c"),
        .invalid(["headers": ["": "a"]], "/headers/"),
        .invalid(["headers": ["Host": "elsewhere"]], "/headers/Host"),
        .invalid(["headers": ["range": "bytes=0-"]], "/headers/range"),
        .invalid(["headers": .object(many(65) { ("X-\($0)", "a") })], "/headers"),
        .invalid(["timeouts": 60], "/timeouts"),
        .invalid(["timeouts": ["request_seconds": 0]], "/timeouts/request_seconds"),
        .invalid(["timeouts": ["request_seconds": "60"]], "/timeouts/request_seconds"),
        .invalid(["timeouts": ["connect_seconds": 3601]], "/timeouts/connect_seconds"),
        .invalid(["timeouts": ["resource_seconds": -1]], "/timeouts/resource_seconds"),
        .unknown(["timeouts": ["seconds": 60]], "/timeouts/seconds"),
        .invalid(["retry": ["max_attempts": 0]], "/retry/max_attempts"),
        .invalid(["retry": ["max_attempts": 1.5]], "/retry/max_attempts"),
        .invalid(["retry": ["base_seconds": -1]], "/retry/base_seconds"),
        .invalid(["retry": ["max_seconds": 86_401]], "/retry/max_seconds"),
        .unknown(["retry": ["attempts": 3]], "/retry/attempts"),
        .invalid(["priority": "urgent"], "/priority"),
        .invalid(["digest": "md5"], "/digest"),
        .invalid(["metadata": []], "/metadata"),
        .invalid(["metadata": ["text": .string(String(repeating: "a", count: 8192))]], "/metadata"),
        .invalid(["wait_for": ["sleep"]], "/wait_for"),
        .invalid(["connections": 17], "/connections"),
        .invalid(["rate_limit_bytes_per_second": 0], "/rate_limit_bytes_per_second"),
        .invalid(["rate_limit_bytes_per_second": "1000"], "/rate_limit_bytes_per_second"),
        .unknown(["colour": "blue"], "/colour"),
        .unknown(["a/b~c": 1], "/a~1b~0c"),
    ]

    static let job: [Refusal] =
        common + [
            .init(["url": nil], "missing-field", "/url"),
            .init(["url": nil, "resume_from": "job_1"], "missing-field", "/url"),
            // The misspelt member is named, not the one that is missing because of it.
            .unknown(["url": nil, "urll": "http://127.0.0.1/file"], "/urll"),
            .unknown(["credentials": ["typ": "basic"]], "/credentials/typ"),
            .unknown(["credentials": ["type": "basic", "user": "ada"]], "/credentials/user"),
            .unknown(["checksum": ["algo": "md5"]], "/checksum/algo"),
            .unknown(["checksum": ["algorithm": "md5", "hash": "00"]], "/checksum/hash"),
            .invalid(["url": 5], "/url"),
            .invalid(["url": ""], "/url"),
            .invalid(["url": "file"], "/url"),
            .invalid(["url": "ftp://127.0.0.1/file"], "/url"),
            .invalid(["url": "file:///etc/passwd"], "/url"),
            .invalid(["url": "http://"], "/url"),
            .invalid(["url": "http:///file"], "/url"),
            .invalid(["url": "http://127.0.0.1:99999/"], "/url"),
            .invalid(["url": "http://127.0.0.1/a b"], "/url"),
            .invalid(["url": "http://127.0.0.1/\r\nHost: elsewhere"], "/url"),
            .invalid(["url": .string("http://127.0.0.1/" + String(repeating: "a", count: 8192))], "/url"),
            .invalid(["session": 5], "/session"),
            .invalid(["session": "no name"], "/session"),
            .init(["session": "undeclared"], "unknown-session", "/session"),
            .invalid(["destination": "videos"], "/destination"),
            .invalid(["destination": ["directory": "/etc"]], "/destination/directory"),
            .invalid(["destination": ["directory": "../above"]], "/destination/directory"),
            .invalid(["destination": ["directory": "a/../../b"]], "/destination/directory"),
            .invalid(["destination": ["directory": "a//b"]], "/destination/directory"),
            .invalid(["destination": ["directory": ".incomplete"]], "/destination/directory"),
            .invalid(["destination": ["filename": "a/b"]], "/destination/filename"),
            .invalid(["destination": ["filename": ".."]], "/destination/filename"),
            .invalid(["destination": ["filename": ""]], "/destination/filename"),
            .invalid(["destination": ["filename": "CON.txt"]], "/destination/filename"),
            .invalid(["destination": ["filename": "a.part"]], "/destination/filename"),
            .invalid(["destination": ["filename": "a\u{202E}fdp.exe"]], "/destination/filename"),
            .invalid(["destination": ["filename": "{colour}.bin"]], "/destination/filename"),
            .invalid(["destination": ["filename": "{job_id"]], "/destination/filename"),
            .invalid(["destination": ["filename": "../{suggested_filename}"]], "/destination/filename"),
            .invalid(["destination": ["on_conflict": "ask"]], "/destination/on_conflict"),
            .invalid(["destination": ["staging": "half"]], "/destination/staging"),
            .invalid(["destination": ["create_directories": "yes"]], "/destination/create_directories"),
            .unknown(["destination": ["folder": "a"]], "/destination/folder"),
            .invalid(["expected_size": -1], "/expected_size"),
            .invalid(["expected_size": "1"], "/expected_size"),
            .invalid(["max_size": 1.5], "/max_size"),
            .invalid(["max_size": 9_007_199_254_740_993], "/max_size"),
            .invalid(["tags": "a"], "/tags"),
            .invalid(["tags": [1]], "/tags"),
            .invalid(["tags": [""]], "/tags"),
            .invalid(["tags": ["a", "a"]], "/tags"),
            .invalid(["tags": .strings((0..<33).map { "t\($0)" })], "/tags"),
            .invalid(["method": "DELETE"], "/method"),
            .invalid(["method": "post"], "/method"),
            .invalid(["urls": []], "/urls"),
            .invalid(["url": nil, "urls": ["http://127.0.0.1/a", "file:///etc/passwd"]], "/urls/1"),
            .invalid(["body": "a"], "/body"),
            .invalid(["form": [:]], "/form"),
            .invalid(["json": [:]], "/json"),
            .invalid(["method": "POST", "body": 5], "/body"),
            .invalid(["method": "POST", "form": "a=b"], "/form"),
            .invalid(["method": "POST", "form": ["a": 1]], "/form/a"),
            .invalid(["method": "POST", "body": "a", "form": [:]], "/form"),
            .invalid(["method": "PUT", "body": "a", "json": 1], "/json"),
            .invalid(["credentials": "me"], "/credentials"),
            .init(["credentials": [:]], "missing-field", "/credentials/type"),
            .init(["credentials": ["type": "basic"]], "missing-field", "/credentials/username"),
            .init(["credentials": ["type": "bearer"]], "missing-field", "/credentials/token"),
            .invalid(["credentials": ["type": "ntlm"]], "/credentials/type"),
            .invalid(["credentials": ["type": "basic", "username": "a:b"]], "/credentials/username"),
            .invalid(["credentials": ["type": "digest", "username": "a", "token": "t"]], "/credentials/token"),
            .invalid(["credentials": ["type": "bearer", "token": "a b"]], "/credentials/token"),
            .invalid(["credentials": ["type": "bearer", "token": "t", "password": "p"]], "/credentials/password"),
            .unknown(["credentials": ["type": "bearer", "token": "t", "realm": "r"]], "/credentials/realm"),
            .invalid(["checksum": "d41d8cd98f00b204e9800998ecf8427e"], "/checksum"),
            .init(["checksum": [:]], "missing-field", "/checksum/algorithm"),
            .init(["checksum": ["algorithm": "md5"]], "missing-field", "/checksum/value"),
            .invalid(["checksum": ["algorithm": "crc32", "value": "00000000"]], "/checksum/algorithm"),
            .invalid(["checksum": ["algorithm": "SHA-256", "value": ""]], "/checksum/algorithm"),
            .invalid(["checksum": ["algorithm": "md5", "value": 5]], "/checksum/value"),
            .invalid(["checksum": ["algorithm": "md5", "value": ""]], "/checksum/value"),
            .invalid(checksum(String(repeating: "a", count: 31)), "/checksum/value"),
            .invalid(checksum(String(repeating: "a", count: 33)), "/checksum/value"),
            .invalid(checksum(String(repeating: "a", count: 64)), "/checksum/value"),
            .invalid(checksum(String(repeating: "g", count: 32)), "/checksum/value"),
            .invalid(checksum(" " + String(repeating: "a", count: 31)), "/checksum/value"),
            .unknown(
                ["checksum": ["algorithm": "md5", "value": "d41d8cd98f00b204e9800998ecf8427e", "salt": ""]],
                "/checksum/salt"),
            .invalid(["not_before": "tomorrow"], "/not_before"),
            .invalid(["not_before": 1_566_228_194], "/not_before"),
            .invalid(["deadline": "2030-13-01T00:00:00Z"], "/deadline"),
            .invalid(["resume_from": 5], "/resume_from"),
        ]

    static let session: [Refusal] =
        common + [
            .unknown(["checksum": ["algorithm": "md5"]], "/checksum"),
            .invalid(["user_agent": 5], "/user_agent"),
            .invalid(["user_agent": "a\r\nb"], "/user_agent"),
            .invalid(["max_concurrent_jobs": 0], "/max_concurrent_jobs"),
            .invalid(["max_connections_per_host": "6"], "/max_connections_per_host"),
            .invalid(["directory": "/etc"], "/directory"),
            .invalid(["on_conflict": "ask"], "/on_conflict"),
            .invalid(["finish_delay_seconds": -1], "/finish_delay_seconds"),
            .invalid(["finish_delay_seconds": 86_401], "/finish_delay_seconds"),
            .invalid(["minimum_bytes_per_second": 0], "/minimum_bytes_per_second"),
            .invalid(["resume_data_ttl_seconds": -1], "/resume_data_ttl_seconds"),
            .invalid(["tls": true], "/tls"),
            .invalid(["tls": ["ca_file": "ca.pem"]], "/tls/ca_file"),
            .invalid(["tls": ["pinned_public_keys": ["host": ["short"]]]], "/tls/pinned_public_keys/host"),
            .invalid(["proxy": "ftp://127.0.0.1:3128"], "/proxy"),
            .invalid(["proxy": "http://127.0.0.1"], "/proxy"),
        ]

    static let webhook: [Refusal] = [
        .init(["url": nil], "missing-field", "/url"),
        .invalid(["url": "mailto:a@b"], "/url"),
        .invalid(["events": "session.*"], "/events"),
        .invalid(["events": []], "/events"),
        .invalid(["events": ["session.*", "session.*"]], "/events"),
        .invalid(["events": ["job.exploded"]], "/events"),
        .invalid(["events": ["*"]], "/events"),
        .invalid(["secret": "hunter2"], "/secret"),
        .invalid(["secret": "whsec_c2hvcnQ="], "/secret"),
        .unknown(["event": "session.*"], "/event"),
        .unknown(["url": nil, "uri": "https://consumer.example/"], "/uri"),
        .invalid(["headers": "X-Key: a"], "/headers"),
        .invalid(["headers": ["X-Key": 1]], "/headers/X-Key"),
        .invalid(["headers": ["X-Key": "a\r\nb"]], "/headers/X-Key"),
        .invalid(["headers": ["content-type": "text/plain"]], "/headers/content-type"),
        .invalid(["headers": ["Content-Length": "1"]], "/headers/Content-Length"),
        .invalid(["headers": ["Host": "elsewhere"]], "/headers/Host"),
        .invalid(["headers": ["Webhook-Id": "dlv_1"]], "/headers/Webhook-Id"),
        .invalid(["headers": ["webhook-signature": "v1,a"]], "/headers/webhook-signature"),
        .invalid(["headers": ["Connection": "close"]], "/headers/Connection"),
        .invalid(["headers": ["Keep-Alive": "timeout=5"]], "/headers/Keep-Alive"),
        .invalid(["headers": ["TE": "trailers"]], "/headers/TE"),
        .invalid(["headers": ["Transfer-Encoding": "chunked"]], "/headers/Transfer-Encoding"),
        .invalid(["headers": ["Upgrade": "h2c"]], "/headers/Upgrade"),
        .invalid(["headers": ["Proxy-Authorization": "Basic YQ=="]], "/headers/Proxy-Authorization"),
        .invalid(["tls": true], "/tls"),
        .invalid(["tls": ["ca_file": "ca.pem"]], "/tls/ca_file"),
        .unknown(["tls": ["ca": "/ca.pem"]], "/tls/ca"),
        .invalid(
            ["tls": ["pinned_public_keys": ["consumer.example": ["short"]]]],
            "/tls/pinned_public_keys/consumer.example"),
        .invalid(
            ["tls": ["pinned_public_keys": ["other.example": ["NvtdKMnNMLVfXi0+RhYTUyvJpQMAXpSvZhNzA2BCmFk="]]]],
            "/tls/pinned_public_keys/other.example"),
    ]

    private static func checksum(_ md5: String) -> JSONObject {
        ["checksum": ["algorithm": "md5", "value": .string(md5)]]
    }

    private static func many(_ count: Int, _ member: (Int) -> (String, JSON)) -> JSONObject {
        (0..<count).map(member).reduce(into: JSONObject()) { $0[$1.0] = $1.1 }
    }
}

extension JSON {
    /// A copy of the object with other members added or replaced.
    func with(_ members: JSONObject) -> JSON {
        var object = objectValue ?? JSONObject()
        for member in members.members { object[member.name] = member.value }
        return .object(object)
    }
}
