import Downloads
import TestKit
import Testing

/// Every combination of crashes of consumer and service with an ending of the job: each event is delivered, or visibly
/// undelivered, and has one identifier.
@Suite(.serialized) struct CrashMatrixTests {
    @Test(arguments: Cell.all) func deliversEveryEventAcrossCrashes(_ cell: Cell) async throws {
        var stage = try await Stage(cell)
        try await stage.beginTransfer()
        if cell.consumer == .restarted { stage.consumer.stop() }
        try await stage.strikeService()
        stage.gate.open()
        try await stage.waitForJob()
        // The finish is not written yet.
        try await stage.strikeService()
        switch cell.consumer {
        case .up: break
        case .down: try await stage.findUndelivered()
        case .restarted: try stage.restartConsumer()
        }
        try await stage.checkConsumer()
        try await stage.checkJournal()
        try await stage.checkFiles()
    }
}

/// One combination.
struct Cell: Sendable, CustomTestStringConvertible {
    enum Consumer: String, CaseIterable { case up, down, restarted }
    enum Service: String, CaseIterable { case up, killed, terminated }
    enum Ending: String, CaseIterable { case succeeded, failed }

    let consumer: Consumer
    let service: Service
    let ending: Ending

    static let all = Consumer.allCases.flatMap { consumer in
        Service.allCases.flatMap { service in
            Ending.allCases.map { Cell(consumer: consumer, service: service, ending: $0) }
        }
    }

    var testDescription: String { "consumer \(consumer), service \(service), job \(ending)" }
}

/// Service, origin and consumer, and what happens to them.
private struct Stage {
    let cell: Cell
    let gate = Gate()
    private let bytes = Content.random(seed: 99, count: 200_000)
    private let origin: Origin
    private let fetchd: FetchdProcess
    private let secret: String
    private let job: String
    private(set) var consumer: WebhookReceiver
    /// The requests that an earlier consumer received.
    private var takenBefore: [ReceivedWebhook] = []

    private static let events = ["job.*", "session.finished"]

    init(_ cell: Cell) async throws {
        self.cell = cell
        origin = try Origin()
        let held = OriginBehaviour.waiting(at: bytes.count / 2, for: gate)
        switch cell.ending {
        case .succeeded: origin.serve("/file", .file(bytes), held)
        case .failed:
            origin.serve(
                "/file", .file(bytes), held.once, .closing(after: bytes.count / 2).once, .answering(404).on(2...))
        }
        // Deliveries to a consumer that stays down are soon exhausted; one that comes back gets retries.
        let retries = cell.consumer == .down ? [0.02] : Array(repeating: 0.1, count: 3000)
        let delays = ([0] + retries).map { "\($0)" }.joined(separator: ",")
        fetchd = try await FetchdProcess.start(.init(arguments: ["--webhook-retry-delays", delays]))
        consumer = try WebhookReceiver()
        try await fetchd.api.declareSession("default", ["finish_delay_seconds": 0.3])
        secret = try await fetchd.api.declareWebhook(url: consumer.url, events: Self.events)
        if cell.consumer == .down { consumer.stop() }
        job = try await fetchd.api.submit(["url": .string(origin.url("/file")), "retry": ["base_seconds": 0]])
    }

    /// Half of the file has arrived; the rest waits for the gate.
    func beginTransfer() async throws {
        #expect(await gate.reached())
        try await fetchd.api.waitForBytes(job)
    }

    /// Kills or terminates the service and restarts it, according to the cell.
    func strikeService() async throws {
        switch cell.service {
        case .up: return
        case .killed: try await fetchd.kill()
        case .terminated: #expect(try await fetchd.terminate() == .exited(0))
        }
        try await fetchd.restart()
    }

    func waitForJob() async throws {
        try await fetchd.api.waitForJob(job, cell.ending == .succeeded ? .succeeded : .failed)
    }

    mutating func restartConsumer() throws {
        takenBefore = consumer.received
        consumer = try WebhookReceiver(inPlaceOf: consumer)
    }

    /// Checks that deliveries are exhausted and shown as such; then starts a consumer, at the same address or another,
    /// and recovers them.
    mutating func findUndelivered() async throws {
        let api = fetchd.api
        try await api.waitForDelivery(of: "session.finished", toBe: .exhausted)
        let (log, journal) = (try await api.deliveries(), try await api.events())
        #expect(log.allSatisfy { $0["state"] == "exhausted" })
        #expect(log.map { $0["event"] } == journal.reversed().map { $0["id"] })
        #expect(try await api.session()["unacknowledged_since"] != .null)
        #expect(consumer.received.isEmpty)
        if cell.ending == .succeeded {
            try restartConsumer()
        } else {
            consumer = try WebhookReceiver()
            let moved = try await api.put(
                "/v1/sessions/default/webhooks/receiver",
                ["url": .string(consumer.url), "events": .strings(Self.events)])
            #expect(moved.status == 200)
        }
        #expect(try await api.act("recover", ["after": 0]).json == ["recovered": .count(journal.count)])
    }

    /// Checks that every event arrived at least once, under one identifier, and the finish last.
    func checkConsumer() async throws {
        _ = try await consumer.waitFor("session.finished")
        let log = try await fetchd.api.waitForSettledDeliveries()
        #expect(log.allSatisfy { $0["state"] == "acknowledged" })
        #expect(try await fetchd.api.session()["unacknowledged_since"] == nil)
        let taken = takenBefore + consumer.received
        let events = try await fetchd.api.events().compactMap { $0["id"].integer }
        let idsByEvent = Dictionary(grouping: taken) { $0.data["event"].integer ?? 0 }.mapValues { Set($0.map(\.id)) }
        #expect(Set(idsByEvent.keys) == Set(events))
        #expect(idsByEvent.values.allSatisfy { $0.count == 1 })
        #expect(Set(taken.map(\.id)).count == events.count)
        #expect(taken.allSatisfy { $0.isSigned(with: secret) })
        #expect(taken.drop { $0.type != "session.finished" }.allSatisfy { $0.type == "session.finished" })
    }

    func checkJournal() async throws {
        let events = try await fetchd.api.events()
        let endings = events.filter {
            ["job.succeeded", "job.failed", "job.cancelled"].contains($0["type"].string ?? "")
        }
        #expect(endings.map { $0["type"] } == [.string("job.\(cell.ending)")])
        let finishes = events.filter { $0["type"] == "session.finished" }
        #expect(finishes.map { $0["data"]["outcome"] } == [.string(cell.ending.rawValue)])
        #expect(finishes.map { $0["data"]["counts"][cell.ending.rawValue] } == [1])
        #expect(events.last?["type"] == "session.finished")
    }

    func checkFiles() async throws {
        let document = try await fetchd.api.job(job)
        switch cell.ending {
        case .succeeded:
            let path = try #require(document["file"]["path"].string)
            #expect(fetchd.downloaded(path) == bytes)
            #expect(files == ["downloads/\(path)"])
        case .failed:
            #expect(document["file"] == nil)
            #expect(files.allSatisfy { $0.hasSuffix(".part") })
            // The part is kept for a retry, until the job is deleted.
            #expect(try await fetchd.api.delete("/v1/jobs/\(job)").status == 204)
            _ = try await eventually("the part to be gone") { files.isEmpty ? true : nil }
        }
    }

    private var files: [String] { fetchd.folder.files.filter { $0.hasPrefix("downloads/") } }
}
