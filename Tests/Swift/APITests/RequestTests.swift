import Downloads
import Formats
import HTTPTypes
import Testing

@testable import API
@testable import HTTPServer

@Suite struct ContentDispositionHeaderTests {
    @Test func writesFilenameForOldAndNewClients() {
        #expect(
            ContentDispositionHeader.attachment("dir/a b.txt")
                == "attachment; filename=\"a b.txt\"; filename*=UTF-8''a%20b%2Etxt")
        #expect(
            ContentDispositionHeader.attachment("naïve\"\\.txt")
                == "attachment; filename=\"na_ve__.txt\"; filename*=UTF-8''na%C3%AFve%22%5C%2Etxt")
    }
}

@Suite struct HostRuleTests {
    private let rule = HostFieldStep(publicHosts: ["Files.example"])

    @Test(arguments: [
        "localhost", "LOCALHOST:8080", "127.0.0.1:1", "10.1.2.3", "[::1]:80", "[fd00::1]", "files.example:443",
    ])
    func acceptsHostOfService(_ host: String) {
        #expect(throws: Never.self) {
            try rule.check(RequestHead(method: .get, target: "/", headers: [.hostField: host]))
        }
    }

    @Test(arguments: [
        "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "1.2.3.4.5", "[evil]", "256.1.1.1",
    ])
    func refusesForeignHost(_ host: String) {
        #expect(throws: Problem.self) {
            try rule.check(RequestHead(method: .get, target: "/", headers: [.hostField: host]))
        }
    }
}

extension HTTPField.Name {
    fileprivate static var hostField: HTTPField.Name { HTTPField.Name("Host")! }
}

@Suite struct ReadinessTests {
    @Test func answers503BeforeOpenAndAfterClose() {
        let readiness = Readiness()
        func problem() -> Problem? {
            do {
                try readiness.check()
                return nil
            } catch {
                return error
            }
        }
        #expect(problem()?.kind.status == .serviceUnavailable)
        #expect(problem()?.headers[.retryAfter] == "1")
        readiness.open()
        #expect(problem() == nil)
        readiness.close()
        #expect(problem()?.kind == .unavailable)
    }
}

@Suite struct RouteTableTests {
    private let table = RouteTable([
        Route(.get, "/v1/jobs/{id}", .open) { _ in .noContent },
        Route(.delete, "/v1/jobs/{id}", .open) { _ in .noContent },
        Route(.post, "/v1/jobs/batch", .open) { _ in .noContent },
        Route(.get, "/v1/jobs/{id}/webhooks/{webhook}", .open) { _ in .noContent },
        Route(.get, "/", .open) { _ in .noContent },
    ])

    private func find(_ method: HTTPRequest.Method, _ target: String) throws(Problem) -> [String: String] {
        let match = try table.find(RequestHead(method: method, target: target))
        return match.parameter("id").map { ["id": $0] } ?? [:]
    }

    @Test func decodesPathParameters() throws {
        #expect(try find(.get, "/v1/jobs/a%2Fb?x=1") == ["id": "a/b"])
        #expect(try find(.head, "/v1/jobs/x") == ["id": "x"])
        #expect(try find(.get, "/v1/%6Aobs/na%C3%AFve?%zz") == ["id": "naïve"])
        let match = try table.find(RequestHead(method: .get, target: "/v1/jobs/a/webhooks/b%20c"))
        #expect(match.parameter("id") == "a")
        #expect(match.parameter("webhook") == "b c")
        #expect(match.parameter("session") == nil)
        #expect(try find(.get, "/?x") == [:])
    }

    @Test func prefersLiteralToParameter() throws {
        #expect(try find(.post, "/v1/jobs/batch") == [:])
        #expect { try find(.get, "/v1/jobs/batch") } throws: { ($0 as? Problem)?.headers[.allow] == "POST" }
        // The literal component leads nowhere, the parameter does.
        #expect(try find(.get, "/v1/jobs/batch/webhooks/w") == ["id": "batch"])
    }

    @Test func answers404Or400ForUnknownPath() {
        for target in [
            "/v1", "/v1/jobs", "/v1/jobs/", "/v1/jobs/x/", "//v1/jobs/x", "/v2/jobs/x", "/v1/jobs/x/webhooks/",
        ] {
            #expect { try find(.get, target) } throws: { ($0 as? Problem)?.kind == .notFound }
        }
        for target in ["/v1/jobs/%zz", "/v1/jobs/%00", "/v1/jobs/%", "/v1/jobs/%FF", "/nowhere/%2"] {
            #expect { try find(.get, target) } throws: { ($0 as? Problem)?.kind == .malformedRequest }
        }
    }

    @Test func answers405WithAllow() {
        #expect { try find(.put, "/v1/jobs/x") } throws: { error in
            let problem = error as? Problem
            return problem?.kind == .methodNotAllowed && problem?.headers[.allow] == "DELETE, GET, HEAD"
        }
    }
}

@Suite struct FieldReaderTests {
    private func problem(_ json: JSON, _ read: (inout FieldReader) throws(Problem) -> Void) -> Problem? {
        do {
            var reader = try FieldReader(json, at: "/jobs/3")
            try read(&reader)
            try reader.finish()
            return nil
        } catch {
            return error
        }
    }

    @Test func pointsAtFaultyField() {
        #expect(problem(["url": 5]) { reader throws(Problem) in _ = try reader.url("url") }?.pointer == "/jobs/3/url")
        #expect(problem(["x/y": 5]) { _ throws(Problem) in }?.pointer == "/jobs/3/x~1y")
        let nested = problem(["retry": ["max_attempts": 0]]) { reader throws(Problem) in
            _ = try WireType.retry.read(&reader, "retry")
        }
        #expect(nested?.pointer == "/jobs/3/retry/max_attempts")
        #expect(problem([]) { _ throws(Problem) in }?.pointer == "/jobs/3")
    }

    @Test func treatsNullLikeAbsent() {
        let fault = problem(["url": nil, "tags": nil]) { reader throws(Problem) in
            #expect(try reader.url("url") == nil)
            #expect(try reader.tags("tags") == nil)
        }
        #expect(fault == nil)
    }

}

@Suite struct CursorTests {
    @Test func readsWrittenCursor() throws {
        for position in ["job_01ARZ3NDEKTSV4RRFFQ69G5FAV", "1", "??>>"] {
            #expect(try Cursor.position(Cursor.text(position)) == position)
            #expect(!Cursor.text(position).contains { "+/=".contains($0) })
        }
        #expect(throws: Problem.self) { try Cursor.position("###") }
    }
}

/// `PATCH` of a session: a merge patch of its configuration.
@Suite struct SessionPatchTests {
    private func configuration(_ json: JSON) throws -> SessionConfiguration {
        var reader = FieldReader(json.objectValue ?? [:])
        let configuration = try SessionConfiguration(reading: &reader)
        try reader.finish()
        return configuration
    }

    private func patched(_ before: SessionConfiguration, _ json: JSON) throws -> SessionConfiguration {
        var reader = FieldReader(json.objectValue ?? [:])
        let patch = SessionPatch(reading: &reader)
        try reader.finish()
        return try patch.applied(to: before)
    }

    private static let before: JSON = [
        "headers": ["Cookie": "c", "X-A": "1"], "timeouts": ["request_seconds": 1.0, "connect_seconds": 2.0],
        "max_concurrent_jobs": 2, "retry": ["max_attempts": 4, "base_seconds": 1.0, "max_seconds": 2.0],
        "directory": "d", "wait_for": ["url"], "metadata": ["a": ["b": 1], "c": 2], "proxy": "http://u:p@proxy:3128",
        "tls": ["pinned_public_keys": ["h": [.string(key)], "i": [.string(key)]], "verify": false],
        "acknowledgement": "expected",
    ]
    private static let key = "NvtdKMnNMLVfXi0+RhYTUyvJpQMAXpSvZhNzA2BCmFk="

    /// Each patch, and the members that it changes; null: the member is at its default.
    @Test(
        arguments: [
            ([:], [:]), (["directory": "e"], ["directory": "e"]), (["directory": nil], ["directory": nil]),
            (["max_concurrent_jobs": nil, "priority": "low"], ["max_concurrent_jobs": nil, "priority": "low"]),
            (["headers": ["x-a": "2", "X-B": "3"]], ["headers": ["Cookie": "c", "x-a": "2", "X-B": "3"]]),
            (["headers": ["X-A": nil, "X-None": nil]], ["headers": ["Cookie": "c"]]),
            (["headers": nil], ["headers": nil]),
            (["headers": ["cookie": "[secret]"]], ["headers": ["cookie": "[secret]", "X-A": "1"]]),
            (
                ["timeouts": ["request_seconds": nil, "resource_seconds": 3]],
                ["timeouts": ["connect_seconds": 2.0, "resource_seconds": 3.0]]
            ),
            (
                ["retry": ["max_attempts": 5]],
                ["retry": ["max_attempts": 5, "base_seconds": 1.0, "max_seconds": 2.0]]
            ),
            (
                ["tls": ["verify": true, "pinned_public_keys": ["h": nil, "j": nil]]],
                ["tls": ["pinned_public_keys": ["i": [.string(key)]]]]
            ),
            (["tls": nil], ["tls": nil]), (["wait_for": []], ["wait_for": []]),
            (["metadata": ["a": ["b": nil, "d": 1], "c": nil]], ["metadata": ["a": ["d": 1]]]),
            (["proxy": "http://other:1"], ["proxy": "http://other:1"]), (["proxy": nil], ["proxy": nil]),
            (["acknowledgement": nil], ["acknowledgement": nil]),
            (["acknowledgement": "none"], ["acknowledgement": "none"]),
        ] as [(JSON, JSON)]) func changesOnlyTheMembersThatItNames(_ patch: JSON, _ changed: JSON) throws
    {
        let after = try patched(try configuration(Self.before), patch).request
        var expected = Self.before.objectValue ?? [:]
        for (name, value) in changed.objectValue?.members ?? [] { expected[name] = value == .null ? nil : value }
        #expect(after == (try configuration(.object(expected)).request), "\(after.written)")
    }

    @Test(
        arguments: [
            (["max_concurrent_jobs": 0], "/max_concurrent_jobs"), (["colour": nil], "/colour"),
            (["tls": ["verfy": true]], "/tls/verfy"), (["tls": ["ca_file": "/nowhere"]], "/tls/ca_file"),
            (["retry": ["max_attempts": 0]], "/retry/max_attempts"), (["acknowledgement": "maybe"], "/acknowledgement"),
            (["headers": ["Host": "h"]], "/headers/Host"), (["timeouts": 7], "/timeouts"),
        ] as [(JSON, String)]) func refusesWhatADeclarationRefuses(_ patch: JSON, _ pointer: String) throws
    {
        do {
            _ = try patched(try configuration(Self.before), patch)
            Issue.record("accepted: \(patch.written)")
        } catch let problem as Problem {
            #expect(problem.pointer == pointer)
        }
    }

    /// The file was there when the session was declared.
    @Test func aMemberThatIsNotNamedIsNotChecked() throws {
        var before = SessionConfiguration()
        before.tls.caFile = "/nowhere"
        before.lost = [.headers]
        let after = try patched(before, ["directory": "e"])
        #expect(after.tls == before.tls && after.directory == "e")
    }
}
