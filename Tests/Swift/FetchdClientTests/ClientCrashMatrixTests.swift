import Formats
import Foundation
import TestKit
import Testing

/// Crashes of the process that owns a session, with and without a crash of the service: the delegate gets exactly the
/// calls that the journal implies, in its order. Only a call in which the process died comes again, directly after.
@Suite struct ClientCrashMatrixTests {
    @Test(arguments: Fate.all, [false, true]) func makesEveryCallOnce(_ fate: Fate, _ isServiceKilled: Bool)
        async throws
    {
        var stage = try await Stage(fate, isServiceKilled: isServiceKilled)
        try await stage.start()
        try await stage.strikeConsumer()
        try await stage.strikeService()
        try await stage.finish()
        try await stage.check()
    }
}

/// When the process dies.
struct Fate: Sendable, CustomTestStringConvertible {
    enum Moment: Sendable, Equatable {
        case never
        /// Directly after `resume()`: the service may have none of the tasks.
        case afterResume
        /// While a download runs: all earlier calls are recorded.
        case betweenCalls
        /// In the call that logs this line, while another download runs.
        case inCall(String)
        /// In the call of the finish, before or after its completion handler.
        case inFinish
        case afterHandler
    }

    let moment: Moment
    var testDescription: String { "\(moment)" }

    static let all: [Fate] = [
        .never, .afterResume, .betweenCalls, .inCall("finished b.bin 1000"), .inCall("completed b.bin"), .inFinish,
        .afterHandler,
    ].map(Fate.init)
}

private struct Stage {
    let fate: Fate
    let isServiceKilled: Bool
    private let fetchd: FetchdProcess
    private let origin: Origin
    private let gate = Gate()
    private let folder: TemporaryFolder
    private var consumer: ChildProcess?

    private static let size = 200_000

    init(_ fate: Fate, isServiceKilled: Bool) async throws {
        (self.fate, self.isServiceKilled) = (fate, isServiceKilled)
        fetchd = try await FetchdProcess.start(.init(keepsPort: true))
        (origin, folder) = (try Origin(), try TemporaryFolder())
        let held = OriginBehaviour.waiting(at: Self.size / 2, for: gate)
        let bytes = Content.random(seed: 3, count: Self.size)
        // Without a crash of the service, the first download fails: its rest is gone.
        if isServiceKilled {
            origin.serve("/a.bin", .file(bytes), held)
        } else {
            origin.serve(
                "/a.bin", .file(bytes), held.once, .closing(after: Self.size / 2).once, .answering(404).on(2...))
        }
        origin.serve("/b.bin", .file(Content.random(seed: 4, count: 1000)))
    }

    private var outcome: String { isServiceKilled ? "succeeded" : "partlyFailed" }

    private var death: String {
        switch fate.moment {
        case .never, .betweenCalls: "never"
        case .afterResume: "resumed"
        case .inCall(let line): "in:\(line)"
        case .inFinish: "in:batch 1 \(outcome)"
        case .afterHandler: "handled"
        }
    }

    private var log: [String] {
        String(decoding: folder.bytes(of: "log") ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private mutating func launch(death: String, _ urls: [String] = []) async throws {
        consumer = try await ChildProcess(
            FetchdProcess.companion("fetchd-client-consumer"),
            [fetchd.baseURL, folder.path("state"), folder.path("log"), death] + urls)
    }

    private func waitForDeath() async throws {
        #expect(try await consumer?.waitForEnd() == .killed(signal: SIGKILL), "\(consumer?.errors ?? "")")
    }

    mutating func start() async throws {
        try await launch(death: death, [origin.url("/a.bin"), origin.url("/b.bin")])
        if fate.moment == .afterResume {
            try await waitForDeath()
            try await launch(death: "never")
        }
        #expect(await gate.reached())
        // The first download keeps the batch open until the second is submitted.
        _ = try await eventually("both jobs") {
            try await fetchd.api.get("/v1/jobs?session=crashes").json["jobs"].count == 2 ? true : nil
        }
    }

    mutating func strikeConsumer() async throws {
        switch fate.moment {
        case .never, .afterResume, .inFinish, .afterHandler: return
        case .inCall: try await waitForDeath()
        case .betweenCalls:
            let end = try await eventually("the end of b.bin to be recorded") {
                let end = try await fetchd.api.events().first { $0["type"] == "job.succeeded" }?["id"].integer
                return end != nil && end == recordedEvent ? end : nil
            }
            #expect(end > 0)
            consumer?.signal(SIGKILL)
            try await waitForDeath()
        }
        consumer = nil
    }

    private var recordedEvent: Int64? {
        folder.bytes(of: "state/crashes/record.json").flatMap { try? JSON(parsing: $0) }?["event"].integer
    }

    func strikeService() async throws {
        if isServiceKilled {
            try await fetchd.kill()
            try await fetchd.restart()
        }
        gate.open()
    }

    mutating func finish() async throws {
        _ = try await eventually("the batch to finish") {
            try await fetchd.api.events().contains { $0["type"] == "session.finished" } ? true : nil
        }
        switch fate.moment {
        case .never, .afterResume: break
        case .inFinish, .afterHandler:
            try await waitForDeath()
            consumer = nil
        case .betweenCalls, .inCall: break
        }
        guard fate.moment == .afterHandler else {
            if consumer == nil { try await launch(death: "never") }
            #expect(try await consumer?.waitForEnd() == .exited(0), "\(consumer?.errors ?? "")")
            return
        }
        // The next process has no call to make: it only completes the acknowledgement.
        try await launch(death: "never")
    }

    func check() async throws {
        let finish = try #require(try await fetchd.api.events().last { $0["type"] == "session.finished" })
        _ = try await eventually("the finish to be acknowledged") {
            try await fetchd.api.session("crashes")["acknowledged_through"] == finish["id"] ? true : nil
        }
        let expected = try await expectedLog()
        #expect(log == expected)
        #expect(try await fetchd.api.get("/v1/jobs?session=crashes").json["jobs"].count == 2)
        #expect(folder.files.filter { $0.contains("/tasks/") || $0.hasSuffix(".new") } == [])
    }

    /// The calls that the journal implies. The one in which the process died is there twice.
    private func expectedLog() async throws -> [String] {
        let jobs = try await fetchd.api.get("/v1/jobs?session=crashes").json["jobs"].arrayValue ?? []
        func name(_ job: JSON) -> String { URL(string: job["url"].string ?? "")?.lastPathComponent ?? "" }
        let names = Dictionary(uniqueKeysWithValues: jobs.map { ($0["id"].string ?? "", name($0)) })
        let lines = try await fetchd.api.events().flatMap { event -> [String] in
            let (name, data) = (names[event["job"].string ?? ""] ?? "", event["data"])
            func number(_ value: JSON) -> Int64 { value.integer ?? -1 }
            switch event["type"].string {
            case "job.resumed": return ["resumed \(name) \(number(data["offset"])) \(number(data["bytes_expected"]))"]
            case "job.succeeded":
                return ["finished \(name) \(number(data["snapshot"]["file"]["size"]))", "completed \(name)"]
            case "job.failed": return ["failed \(name) \(data["snapshot"]["failure"]["code"].string ?? "")"]
            case "session.finished": return ["batch \(number(data["batch"])) \(outcome)"]
            default: return []
            }
        }
        return lines.flatMap { line in "in:\(line)" == death ? [line, line] : [line] }
    }
}
