import CurlClient
import HTTPServer
import HTTPTypes
import TestKit
import Testing

@testable import Downloads
@testable import Rehearsals

/// Rehearsals as a download sees them, over a real socket.
@Suite(.timeLimit(.minutes(2))) struct RehearsalOriginTests {
    private func withOrigin(_ body: (_ url: (String) -> String) async throws -> Void) async throws {
        let origin = try RehearsalOrigin()
        do { try await body { Rehearsal.address(of: "rehearse:\($0)", at: origin.baseURL) } } catch {
            await origin.stop()
            throw error
        }
        await origin.stop()
    }

    // MARK: Files and ranges

    @Test(arguments: [0, 1, 65_536, 65_537, 3_000_001] as [Int64])
    func servesCompleteFiles(of size: Int64) async throws {
        try await withOrigin { url in
            let visit = try await Visit.make(url("film.mkv?size=\(size)"))
            #expect(visit.outcome == .completed)
            #expect(visit.status == 200)
            #expect(visit["Content-Length"] == "\(size)")
            #expect(visit["Accept-Ranges"] == "bytes")
            #expect(visit["ETag"] == "\"rehearsal-\(size)\"")
            #expect(visit["Content-Type"] == "application/octet-stream")
            #expect(visit.body == RehearsalContent.bytes(0..<size))
        }
    }

    @Test(
        arguments: [
            ("bytes=0-", 0..<200_000), ("bytes=70001-", 70_001..<200_000), ("bytes=5-5", 5..<6),
            ("bytes=199999-", 199_999..<200_000), ("bytes=100-1000000", 100..<200_000), ("bytes=-3", 199_997..<200_000),
            ("bytes=-300000", 0..<200_000),
        ] as [(String, Range<Int64>)])
    func servesRanges(_ asked: String, _ range: Range<Int64>) async throws {
        try await withOrigin { url in
            for condition in [[], [("If-Range", "\"rehearsal-200000\"")]] {
                let visit = try await Visit.make(url("f?size=200000"), headers: [("Range", asked)] + condition)
                #expect(visit.status == 206)
                #expect(visit["Content-Range"] == "bytes \(range.lowerBound)-\(range.upperBound - 1)/200000")
                #expect(visit["Content-Length"] == "\(range.count)")
                #expect(visit["ETag"] == "\"rehearsal-200000\"")
                #expect(visit.body == RehearsalContent.bytes(range))
            }
        }
    }

    @Test(arguments: ["bytes=200000-", "bytes=-0"])
    func rangeOutsideIs416(_ asked: String) async throws {
        try await withOrigin { url in
            let visit = try await Visit.make(url("f?size=200000"), headers: [("Range", asked)])
            #expect(visit.status == 416)
            #expect(visit["Content-Range"] == "bytes */200000")
        }
    }

    @Test(arguments: [
        [("Range", "bytes=1-2,4-5")], [("Range", "lines=1-2")], [("Range", "bytes=2-1")],
        [("Range", "bytes=1-"), ("If-Range", "\"rehearsal-9\"")],
        [("Range", "bytes=1-"), ("If-Range", "W/\"rehearsal-1000\"")],
    ])
    func unusableRangesGetTheCompleteFile(_ headers: [(name: String, value: String)]) async throws {
        try await withOrigin { url in
            let visit = try await Visit.make(url("f?size=1000"), headers: headers)
            #expect(visit.status == 200)
            #expect(visit.body == RehearsalContent.bytes(0..<1000))
        }
    }

    @Test func respondsToHeadWithTheLengthOnly() async throws {
        try await withOrigin { url in
            let visit = try await Visit.make(
                url("f?size=5000000000&seconds=86400&lose_at=1"), method: "HEAD", headers: [("Range", "bytes=1-")])
            #expect(visit.outcome == .completed)
            #expect(visit.status == 200)
            #expect(visit["Content-Length"] == "5000000000")
            #expect(visit["ETag"] == "\"rehearsal-5000000000\"")
            #expect(visit.body.isEmpty)
            #expect(try await Visit.make(url("f?status=404"), method: "HEAD").status == 404)
        }
    }

    // MARK: Failures

    @Test func lostConnectionCanBeResumed() async throws {
        try await withOrigin { url in
            let address = url("f?size=300000&lose_at=123457")
            let lost = try await Visit.make(address)
            #expect(lost.status == 200)
            #expect(lost["Content-Length"] == "300000")
            #expect(lost.outcome == .failed(.truncated(expected: 300_000, received: 123_457)))
            let tag = try #require(lost["ETag"])
            let earlier = try await Visit.make(address, headers: [("Range", "bytes=123000-"), ("If-Range", tag)])
            #expect(earlier.outcome == .failed(.truncated(expected: 177_000, received: 457)))
            let rest = try await Visit.make(address, headers: [("Range", "bytes=123457-"), ("If-Range", tag)])
            #expect(rest.outcome == .completed)
            #expect(rest.status == 206)
            #expect(lost.body + rest.body == RehearsalContent.bytes(0..<300_000))
        }
    }

    @Test(arguments: [400, 403, 404, 410, 429, 499, 500, 503, 599])
    func respondsWithTheRehearsedStatus(_ status: Int) async throws {
        try await withOrigin { url in
            for headers in [[], [("Range", "bytes=5-")], [("Authorization", "Basic eDp5")]] {
                let visit = try await Visit.make(url("f?size=10&status=\(status)&retry_after=12"), headers: headers)
                #expect(visit.status == status)
                #expect(visit["Retry-After"] == "12")
                #expect(visit["ETag"] == nil)
                #expect(String(decoding: visit.body, as: UTF8.self) == "Status \(status), as rehearsed.\n")
            }
        }
    }

    @Test func credentialsGiveAccess() async throws {
        try await withOrigin { url in
            let refused = try await Visit.make(url("f?size=10&status=401"))
            #expect(refused.status == 401)
            #expect(refused["WWW-Authenticate"] == "Basic realm=\"rehearsal\"")
            #expect(refused["Retry-After"] == nil)
            let taken = try await Visit.make(url("f?size=10&status=401"), headers: [("Authorization", "Bearer x")])
            #expect(taken.status == 200)
            #expect(taken.body == RehearsalContent.bytes(0..<10))
        }
    }

    @Test func linkExpiresBetweenTwoRequests() async throws {
        try await withOrigin { url in
            let address = url("f?size=1000&lose_at=500&then=403&retry_after=1")
            let lost = try await Visit.make(address)
            #expect(lost.outcome == .failed(.truncated(expected: 1000, received: 500)))
            #expect(lost["Retry-After"] == nil)
            let expired = try await Visit.make(address, headers: [("Range", "bytes=500-")])
            #expect(expired.status == 403)
            #expect(expired["Retry-After"] == "1")
        }
    }

    @Test func invalidRehearsalIs400WithAReason() async throws {
        try await withOrigin { url in
            let unknown = try await Visit.make(url("f?speed=1"))
            #expect(unknown.status == 400)
            #expect(
                String(decoding: unknown.body, as: UTF8.self) == "The rehearsal has the unknown parameter \"speed\".\n")
            #expect(try await Visit.make(url("")).status == 400)
            let deleted = try await Visit.make(url("f"), method: "DELETE")
            #expect(deleted.status == 405)
            #expect(deleted["Allow"] == "GET, HEAD")
        }
    }

    // MARK: Time

    /// Compares no times: the slow file must still be in progress when the fast ones are complete.
    @Test func slowFileTakesItsDuration() async throws {
        try await withOrigin { url in
            let (slow, transfer) = Visit.begin(url("slow?size=1000000&seconds=1000"))
            try await slow.wait { $0.head != nil }
            #expect(slow["Content-Length"] == "1000000")
            let swift = try await Visit.make(url("swift?size=1000000&seconds=0.3"))
            #expect(swift.body == RehearsalContent.bytes(0..<1_000_000))
            try await slow.wait { !$0.body.isEmpty }
            #expect(slow.outcome == nil)
            #expect(slow.body.count < 1_000_000)
            #expect(slow.body == RehearsalContent.bytes(0..<Int64(slow.body.count)))
            transfer.cancel()
        }
    }

    @Test func rangeTakesItsShareOfTheDuration() async throws {
        try await withOrigin { url in
            let address = url("f?size=1000000&seconds=10000")
            let share = try await Visit.make(address, headers: [("Range", "bytes=999980-")])
            #expect(share.body == RehearsalContent.bytes(999_980..<1_000_000))
        }
    }

    @Test func servesManySlowFilesAtOnce() async throws {
        try await withOrigin { url in
            try await withThrowingTaskGroup(of: Visit.self) { group in
                for number in 0..<100 {
                    let address = url("\(number)?size=5000&seconds=1")
                    group.addTask { try await Visit.make(address) }
                }
                for try await visit in group { #expect(visit.body == RehearsalContent.bytes(0..<5000)) }
            }
        }
    }

    // MARK: Ends

    /// Whether the response is sent at its own pace, or blocked by a client that stopped reading.
    @Test(arguments: [("size=1000000&seconds=100", false), ("size=1099511627776", true)])
    func disconnectEndsTheWork(_ query: String, _ isHolding: Bool) async throws {
        let bodies = Monitor<[Task<Void, Never>]>([])
        let server = try HTTPServer(handler: SingleFile(query: query, bodies: bodies))
        let (visit, transfer) = Visit.begin("http://127.0.0.1:\(server.port)/", isHolding: isHolding)
        try await visit.wait { isHolding ? $0.body.count > 500_000 : $0.head != nil }
        transfer.cancel()
        for body in bodies.current { await body.value }
        #expect(bodies.current.count == 1)
        await server.stop(grace: .zero)
    }

    /// The only byte is sent tomorrow.
    @Test func stopEndsTheWorkAtOnce() async throws {
        let bodies = Monitor<[Task<Void, Never>]>([])
        let server = try HTTPServer(handler: SingleFile(query: "size=1&seconds=86400", bodies: bodies))
        let (visit, _) = Visit.begin("http://127.0.0.1:\(server.port)/")
        try await visit.wait { $0.head != nil }
        await server.stop(grace: .zero)
        for body in bodies.current { await body.value }
        #expect(bodies.current.count == 1)
    }

    @Test func stopBreaksOffResponses() async throws {
        let origin = try RehearsalOrigin()
        let address = Rehearsal.address(of: "rehearse:f?size=1000000&seconds=1000", at: origin.baseURL)
        let (visit, _) = Visit.begin(address)
        try await visit.wait { $0.head != nil }
        await origin.stop()
        try await visit.wait { $0.result != nil }
        #expect(visit.outcome == .failed(.truncated(expected: 1_000_000, received: Int64(visit.body.count))))
    }
}

/// A server with one rehearsed file, which gives the test access to its task.
private struct SingleFile: RequestHandler {
    let query: String
    let bodies: Monitor<[Task<Void, Never>]>

    func admit(_ head: RequestHead) -> RouteDecision { .accept(respond: respond) }
    func malformed(_ fault: RequestFault, _ head: RequestHead?) -> Response { Response(status: fault.status) }
    private func respond(to request: Request) -> Answer {
        guard let rehearsal = try? Rehearsal(parsing: "rehearse:f?\(query)") else {
            return .now(Response(status: .badRequest))
        }
        let (stream, task) = RehearsalBody(rehearsal: rehearsal, range: 0..<rehearsal.size).begin()
        bodies.withLock { $0.append(task) }
        return .now(Response(status: .ok, body: .stream(stream)))
    }
}
