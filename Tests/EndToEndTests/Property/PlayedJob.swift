import Downloads
import Formats
import TestKit

/// A job of a round under way: carries out its deeds, and notes what it finds wrong.
struct PlayedJob: Sendable {
    var id: String
    var plan: JobPlan
    /// What it is a download of.
    var file: ServedFile
    /// Where the part may be from that it goes on from, until a response tells.
    var inherited: [ServedFile] = []
    /// Where it goes; no other job goes there.
    var filename: String
    /// Times that a retry was asked for; one that was repeated because of a crash counts once.
    var retries = 0
    var findings: [String] = []

    let service: BatteredService

    // MARK: Beginning

    static func begin(
        _ plan: JobPlan, of file: ServedFile, at place: Place, in session: String, goingOnFrom donor: String? = nil,
        as filename: String, _ service: BatteredService
    ) async throws -> PlayedJob? {
        let addresses = [place] + (plan.hasMirror ? [place == .mirror ? .home : .mirror] : [])
        var order: JSONObject = [
            "urls": .strings(addresses.map(file.url)), "session": .string(session),
            "destination": ["filename": .string(filename)], "connections": .count(plan.connections),
            "timeouts": ["request_seconds": .number(plan.requestSeconds)],
            "retry": ["max_attempts": .count(plan.maxAttempts), "base_seconds": 0.02, "max_seconds": 0.2],
            "rate_limit_bytes_per_second": .optional(plan.bytesPerSecond),
        ]
        if let donor { order["resume_from"] = .string(donor) }
        // Repeated after a crash, it must not make another job.
        let answer = try await service.ask(
            "POST", "/v1/jobs", .object(order), headers: [("Idempotency-Key", "\"\(session)-\(filename)\"")])
        if donor != nil, answer.status == 409 { return nil }
        guard answer.status == 201, let id = answer.json["id"].string else {
            throw Overdue("A job was refused: \(answer)")
        }
        return PlayedJob(id: id, plan: plan, file: file, filename: filename, service: service)
    }

    // MARK: Deeds

    /// - Parameter others: files that a job can be handed over to.
    /// - Returns: the job, and those that it was handed over to.
    func play(in session: String, besides others: [ServedFile]) async throws -> [PlayedJob] {
        var (present, past): (PlayedJob, [PlayedJob]) = (self, [])
        for (index, deed) in plan.deeds.enumerated() {
            try await present.wait(for: deed.moment)
            guard case .handOver(let place, let isOther) = deed.kind else {
                try await present.carryOut(deed.kind)
                continue
            }
            let file = isOther ? others.first ?? present.file : present.file
            let heir = try await Self.begin(
                plan, of: file, at: place, in: session, goingOnFrom: present.id, as: "\(filename)-heir\(index)",
                service)
            guard var heir else { continue }
            heir.inherited = present.inherited + [present.file]
            past.append(present)
            present = heir
        }
        return past + [present]
    }

    private func wait(for moment: Deed.Moment) async throws {
        // What does not come in this time does not come: the deed is done then.
        _ = try? await eventually("\(moment)", atMost: .seconds(8), pause: .milliseconds(15)) {
            let job = try await service.job(id)
            if job.isAtRest { return true }
            return try await hasCome(moment, job) ? true : nil
        }
    }

    private func hasCome(_ moment: Deed.Moment, _ job: JSON) async throws -> Bool {
        switch moment {
        case .atOnce: true
        case .requests(let count): file.requestCount >= count
        case .received(let bytes): (job["progress"]["bytes_received"].integer ?? 0) >= bytes
        case .durable: try await service.hasResumeData(of: id)
        case .rest: false
        }
    }

    private mutating func carryOut(_ kind: Deed.Kind) async throws {
        switch kind {
        case .pause:
            let answer = try await act("pause")
            if answer.status == 200 { try await lookAtPart() }
        case .resume: try await act("resume")
        case .retry:
            retries += 1
            try await act("retry")
        case .cancel(let keepsPart):
            let answer = try await act("cancel", ["produce_resume_data": .bool(keepsPart)])
            if answer.status == 200 { try await lookAtPart() }
        case .patchConnections(let count): try await patch(["connections": .count(count)])
        case .patchRate(let rate): try await patch(["rate_limit_bytes_per_second": .optional(rate)])
        case .patchURL(let place): try await patch(["url": .string(file.url(place))])
        case .handOver: break
        }
    }

    /// 409 is an answer like any other: the job may have come to its end meanwhile.
    @discardableResult
    mutating func act(_ action: String, _ body: JSON? = nil) async throws -> APIAnswer {
        expect([200, 409], try await service.ask("POST", "/v1/jobs/\(id)/\(action)", body), action)
    }

    private mutating func patch(_ changes: JSON) async throws {
        expect([200, 409], try await service.ask("PATCH", "/v1/jobs/\(id)", changes), "PATCH \(changes.written)")
    }

    @discardableResult
    private mutating func expect(_ statuses: [Int], _ answer: APIAnswer, _ what: String) -> APIAnswer {
        if !statuses.contains(answer.status) { note("\(what) was answered \(answer)") }
        return answer
    }

    mutating func note(_ finding: String) { findings.append("\(filename) (\(id)): \(finding)") }
}
