import Foundation
import TestKit
import Testing

/// examples/consumer.py, run as a user would: killed, without a service, and with failing downloads.
@Suite(.enabled("needs PyPI's requests: run scripts/setup") { await Project.hasPythonPackage("requests") })
struct ConsumerExampleTests {
    private let bytes = Content.random(seed: 23, count: 200_000)
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func consumer(
        _ url: String, _ arguments: [String] = [], token: String? = nil
    ) async throws -> ChildProcess {
        try await ChildProcess(
            Project.python, [Project.path("examples/consumer.py"), "--state", folder.path("state")] + arguments,
            environment: ["FETCHD_URL": url, "PYTHONUNBUFFERED": "1"].merging(token.map { ["FETCHD_TOKEN": $0] } ?? [:])
            {
                $1
            })
    }

    /// The consumer is killed as soon as its order arrives, before it may have seen the response; then the service is
    /// killed. Both continue: the order is placed once, and each job's end is reported once.
    @Test func resumesAfterKillsOfConsumerAndService() async throws {
        let (fetchd, origin, gate) = (
            try await FetchdProcess.start(.init(keepsPort: true)), try Origin(), Gate()
        )
        origin.serve("/a.bin", .file(bytes), .waiting(at: 100_000, for: gate).once)
        origin.serve("/b.bin", .file(bytes))
        let first = try await consumer(fetchd.baseURL, [origin.url("/a.bin"), origin.url("/b.bin")])
        _ = try await eventually("the order to arrive") {
            try await fetchd.api.get("/v1/jobs").json["jobs"].count == 2 ? true : nil
        }
        first.signal(SIGKILL)
        try await first.waitForEnd()

        let second = try await consumer(fetchd.baseURL)
        // The first consumer may have reported it before it was killed.
        _ = try await eventually("the consumer to report the first job's end") {
            (first.output + second.output).contains("b.bin b.bin") ? true : nil
        }
        try await fetchd.kill()
        _ = try await eventually("the consumer to notice the lost service") {
            second.errors.contains("Is it running (fetchd serve)?") ? true : nil
        }
        second.signal(SIGKILL)
        try await second.waitForEnd()
        let third = try await consumer(fetchd.baseURL)
        _ = try await eventually("the consumer to wait for the service") {
            third.errors.contains("Trying again until it does.") ? true : nil
        }
        gate.open()
        try await fetchd.restart()
        #expect(try await third.waitForEnd() == .exited(0), "\(third.errors)")

        let said = (first.output + second.output + third.output).split(separator: "\n")
        for name in ["a.bin", "b.bin"] {
            #expect(said.filter { $0 == "succeeded: \(origin.url("/\(name)")) \(name)" }.count == 1)
            let isSame = fetchd.downloaded(name) == bytes
            #expect(isSame)
        }
        #expect(said.suffix(2) == ["Batch 1 is over: succeeded.", "Acknowledged: 2 succeeded."])
        #expect(try await fetchd.api.get("/v1/jobs").json["jobs"].count == 2)
        let session = try await fetchd.api.session("consumer")
        #expect(session["acknowledged_through"] == session["last_event"])
        #expect(session["unacknowledged_since"] == nil)
    }

    @Test func reportsFailedDownloadAndExitsWithOne() async throws {
        let (fetchd, origin) = (try await FetchdProcess.start(.init(token: "correct")), try Origin())
        origin.serve("/a.bin", .file(bytes))
        let missing = origin.url("/missing.bin")
        let child = try await consumer(fetchd.baseURL, [origin.url("/a.bin"), missing], token: "correct")
        #expect(try await child.waitForEnd() == .exited(1), "\(child.errors)")
        let failure = child.output.split(separator: "\n").first { $0.hasPrefix("failed: \(missing) ") }
        #expect(failure?.contains("404") ?? false, "\(child.output)")
        #expect(child.output.hasSuffix("Batch 1 is over: partly failed.\nAcknowledged: 1 succeeded, 1 failed.\n"))

        // The next order is a new batch.
        let next = try await consumer(fetchd.baseURL, [origin.url("/a.bin")], token: "correct")
        #expect(try await next.waitForEnd() == .exited(0))
        #expect(next.output.contains("Handed over, as batch 2 of consumer: 1 to download."))
    }

    /// Each mistake is reported with what to do about it.
    @Test func explainsMistakesOfCaller() async throws {
        let (fetchd, origin) = (try await FetchdProcess.start(.init(token: "correct")), try Origin())
        origin.serve("/v1/sessions/consumer", .fixed(status: 200, body: Array("<html>".utf8)))
        func expect(
            _ sentence: String, _ url: String, _ arguments: [String], token: String? = nil,
            at location: SourceLocation = #_sourceLocation
        ) async throws {
            let child = try await consumer(url, arguments, token: token)
            #expect(try await child.waitForEnd() == .exited(2), sourceLocation: location)
            #expect(child.errors.contains(sentence), "\(child.errors)", sourceLocation: location)
        }
        let address = origin.url("/a.bin")
        try await expect("Name the addresses to download.", fetchd.baseURL, [])
        try await expect("set FETCHD_TOKEN to it", fetchd.baseURL, [address])
        try await expect("set FETCHD_TOKEN to it", fetchd.baseURL, [address], token: "wrong")
        try await expect("is FETCHD_URL right?", origin.url(""), [address])
        // The order is refused as a whole: no job starts, but the order is remembered until the caller names another --state.
        try await expect("A value is not valid. ", fetchd.baseURL, [address, "nonsense"], token: "correct")
        try await expect("has an order under way", fetchd.baseURL, [address], token: "correct")
        #expect(try await fetchd.api.get("/v1/jobs").json["jobs"].count == 0)
    }
}
