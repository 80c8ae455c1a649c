import Downloads
import Formats
import HTTPServer
import HTTPTypes
import Testing

@testable import API

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
    private let rule = HostRule(publicHosts: ["Files.example"])

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
            _ = try reader.object("retry", RetryPolicy.init(reading:))
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
