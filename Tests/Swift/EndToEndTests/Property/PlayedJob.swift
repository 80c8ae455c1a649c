import Downloads
import Formats
import TestKit

/// A running job of a round: carries out its actions and records findings.
struct PlayedJob: Sendable {
    var id: String
    var plan: JobPlan
    /// The file that it downloads.
    var file: ServedFile
    /// The files from which its adopted part may come, until a response decides.
    var inherited: [ServedFile] = []
    /// The job's own filename.
    var filename: String
    /// The number of requested retries; one that was repeated because of a crash counts once.
    var retries = 0
    var findings: [String] = []

    let service: BatteredService

    // MARK: Creation

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
        if plan.isByEvidence { order["resume_policy"] = "evidence" }
        if let donor { order["resume_from"] = .string(donor) }
        // The key keeps a repetition after a crash from creating another job.
        let answer = try await service.ask(
            "POST", "/v1/jobs", .object(order), headers: [("Idempotency-Key", "\"\(session)-\(filename)\"")])
        if donor != nil, answer.status == 409 { return nil }
        guard answer.status == 201, let id = answer.json["id"].string else {
            throw Overdue("A job was refused: \(answer)")
        }
        return PlayedJob(id: id, plan: plan, file: file, filename: filename, service: service)
    }

    // MARK: Actions

    /// - Parameter others: files of jobs that can adopt the part.
    func play(in session: String, besides others: [ServedFile]) async throws -> [PlayedJob] {
        var (present, past): (PlayedJob, [PlayedJob]) = (self, [])
        for (index, action) in plan.actions.enumerated() {
            try await present.wait(for: action.moment)
            guard case .handOver(let place, let isOther) = action.kind else {
                try await present.carryOut(action.kind)
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

    private func wait(for moment: ClientAction.Moment) async throws {
        // If the moment does not come in this time, the action is done anyway.
        _ = try? await eventually("\(moment)", atMost: .seconds(8), pause: .milliseconds(15)) {
            let job = try await service.job(id)
            if job.isAtRest { return true }
            return try await hasCome(moment, job) ? true : nil
        }
    }

    private func hasCome(_ moment: ClientAction.Moment, _ job: JSON) async throws -> Bool {
        switch moment {
        case .atOnce: true
        case .requests(let count): file.requestCount >= count
        case .received(let bytes): (job["progress"]["bytes_received"].integer ?? 0) >= bytes
        case .durable: try await service.hasResumeData(of: id)
        case .rest: false
        }
    }

    private mutating func carryOut(_ kind: ClientAction.Kind) async throws {
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

    /// 409 is a valid answer: the job may have ended meanwhile.
    @discardableResult
    mutating func act(_ action: String, _ body: JSON? = nil) async throws -> APIAnswer {
        let answer = try await service.ask("POST", "/v1/jobs/\(id)/\(action)", body)
        if answer.status == 200 { service.note(answer.json) }
        return expect([200, 409], answer, action)
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
