import Formats
import Foundation
import TestKit

/// A running round: the jobs of a plan against one service, with their own session and origins.
struct Round: Sendable {
    let plan: RoundPlan
    let service: BatteredService
    private let session: String
    private let files: [ServedFile]
    /// Kept for the length of the round, as an origin stops with its last reference.
    private let origins: [Origin]

    init(_ plan: RoundPlan, at service: BatteredService) throws {
        (self.plan, self.service) = (plan, service)
        session = "round-\(plan.seed)"
        let (home, mirror) = (try Origin(), try Origin())
        origins = [home, mirror]
        files = plan.jobs.map { ServedFile($0.file, at: home, and: mirror) }
    }

    /// - Returns: the violations found; empty if there are none.
    func run() async -> [String] {
        do {
            return try await play()
        } catch {
            return ["\(error)"]
        }
    }

    /// The requests and responses, and the end of the service's log, for rounds that fail.
    var record: String {
        files.map { "\($0.plan.name):\n" + $0.log.joined(separator: "\n") }.joined(separator: "\n")
            + "\nThe service's log ends with\n\(service.log)"
    }

    private func play() async throws -> [String] {
        let declared = try await service.ask("PUT", "/v1/sessions/\(session)", ["finish_delay_seconds": 0.2])
        guard [200, 201].contains(declared.status) else { throw Overdue("The session was refused: \(declared)") }
        async let interruptions: Void = suffer()
        var jobs = try await actions()
        try await interruptions
        // From here on nothing disturbs the service, so the checked state does not change.
        for index in jobs.indices { try await jobs[index].settle() }
        let events = try await journal(until: jobs.map(\.id))
        for index in jobs.indices {
            let id = JSON.string(jobs[index].id)
            try await jobs[index].check(events.filter { $0["job"] == id })
        }
        return jobs.flatMap(\.findings) + orderFindings(events) + (try await clearUp(jobs.map(\.id)))
    }

    private func actions() async throws -> [PlayedJob] {
        try await withThrowingTaskGroup(of: [PlayedJob].self) { group in
            for (index, plan) in plan.jobs.enumerated() {
                let others = files.indices.filter { $0 != index }.map { files[$0] }
                group.addTask { [self] in
                    let job = try await PlayedJob.begin(
                        plan, of: files[index], at: plan.place, in: session, as: plan.file.name, service)
                    return try await job?.play(in: session, besides: others) ?? []
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func suffer() async throws {
        for (index, interruption) in plan.interruptions.enumerated() {
            // If the moment does not come, the interruption comes anyway.
            _ = try? await eventually("\(interruption)", atMost: .seconds(4), pause: .milliseconds(10)) {
                try await isReached(interruption.moment) ? true : nil
            }
            try await service.suffer(interruption.kind, at: Int(plan.seed % 1_000_000) + index)
        }
    }

    private func isReached(_ moment: ServiceInterruption.Moment) async throws -> Bool {
        switch moment {
        case .requests(let count): return files.reduce(0) { $0 + $1.requestCount } >= count
        case .durable:
            let jobs = try await service.ask("GET", "/v1/jobs?session=\(session)&limit=100").json["jobs"].arrayValue
            let running = (jobs ?? []).filter { $0["state"] == "running" }
            return running.contains { ($0["progress"]["bytes_durable"].integer ?? 0) > 0 }
        }
    }

    // MARK: The session

    /// All events of the session, once every batch has finished.
    private func journal(until jobs: [String]) async throws -> [JSON] {
        var batches: Set<Int64> = []
        for id in jobs { if let batch = try await service.job(id)["batch"].integer { batches.insert(batch) } }
        return try await eventually("the finish of every batch of \(session)") {
            let answer = try await service.ask("GET", "/v1/events?after=0&session=\(session)&limit=1000")
            let events = answer.json["events"].arrayValue ?? []
            let finished = events.filter { $0["type"] == "session.finished" }.compactMap { $0["data"]["batch"].integer }
            return batches.isSubset(of: finished) ? events : nil
        }
    }

    private func orderFindings(_ events: [JSON]) -> [String] {
        var findings: [String] = []
        let ids = events.compactMap(\.["id"].integer)
        if ids != ids.sorted() || Set(ids).count != ids.count { findings.append("the ids are not in order: \(ids)") }
        let finished = events.filter { $0["type"] == "session.finished" }.compactMap { $0["data"]["batch"].integer }
        if finished != finished.indices.map({ Int64($0) + 1 }) {
            findings.append("the batches finished as \(finished)")
        }
        return findings
    }

    /// Deletes every job, so that only a leak remains.
    private func clearUp(_ jobs: [String]) async throws -> [String] {
        var findings: [String] = []
        var promised = 0
        for id in jobs where try await service.hasResumeData(of: id) { promised += 1 }
        // A part is removed after the commit, and a node removes those of jobs that others have taken over.
        _ = try? await eventually("no more parts than promised", atMost: .seconds(15)) {
            service.parts.count <= promised ? true : nil
        }
        if service.parts.count != promised {
            findings.append("\(promised) jobs have resume data, and there are \(service.parts.count) parts")
        }
        for id in jobs {
            let answer = try await service.ask("DELETE", "/v1/jobs/\(id)?file=delete")
            // 404: a repetition after a lost response.
            if answer.status != 204 { findings.append("DELETE of \(id) was answered \(answer)") }
        }
        // A part file is removed after the commit that ends its promise.
        try? await service.partFilesAreRemoved()
        // A file is removed a moment later, also by another node than that which is asked.
        _ = try? await eventually("files to be removed", atMost: .seconds(15)) {
            service.files.isEmpty ? true : nil
        }
        let left = service.files
        if !left.isEmpty { findings.append("left over: \(left)") }
        let open = try? await eventually("files to be closed", atMost: .seconds(15)) {
            service.openFiles.isEmpty ? true : nil
        }
        if open == nil { findings.append("still open: \(service.openFiles)") }
        if service.openDescriptors > 200 { findings.append("\(service.openDescriptors) descriptors are open") }
        return findings
    }
}
