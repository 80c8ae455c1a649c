import Downloads
import Foundation
import GRDB

/// What attempts have to tell. Each of these is one transaction: state, offset and event together.
extension Store {
    /// A signal from a client or an attempt.
    ///
    /// - Parameters:
    ///   - part: what is on disk now, synced; nil leaves the part as it was committed before.
    ///   - gained: whether bytes were won, which begins the count of failures anew.
    ///   - onCommit: see `Writer`.
    public func send(
        _ signal: JobSignal, to job: JobID, part: Part? = nil, gained: Bool = false,
        onCommit: @escaping @Sendable (SignalOutcome) -> Void = { _ in }
    ) async throws -> SignalOutcome {
        try await writer.write(onCommit: onCommit) { transaction in
            try transaction.send(signal, to: job, part: part, gained: gained)
        }
    }

    /// The same signal to many, in one commit: many small files share their syncs.
    public func send(
        _ signals: [(job: JobID, signal: JobSignal)],
        onCommit: @escaping @Sendable ([SignalOutcome]) -> Void = { _ in }
    ) async throws -> [SignalOutcome] {
        try await writer.write(onCommit: onCommit) { transaction in
            try signals.map { try transaction.send($0.signal, to: $0.job) }
        }
    }

    /// The server's head was judged: how the attempt begins. A part that cannot be continued is given up here.
    ///
    /// - Returns: false when the job is no longer running, and nothing was written.
    @discardableResult
    public func beginTransfer(of id: JobID, attempt: Int, _ outcome: ResumeOutcome) async throws -> Bool {
        try await writer.write { transaction in
            var job = try transaction.job(id)
            guard job.isAttempting(attempt) else { return false }
            job.resume = outcome
            try transaction.update(job)
            switch outcome {
            case .fresh: break
            case .resumed: try transaction.announce(.jobResumed, of: job)
            case .restarted:
                try transaction.removePart(of: id)
                try transaction.announce(.jobRestarted, of: job)
            }
            return true
        }
    }

    /// Offsets that have been synced, all in one commit. Those of jobs whose attempt is over meanwhile are left out.
    public func checkpoint(_ parts: [(job: JobID, attempt: Int, part: Part)]) async throws {
        guard !parts.isEmpty else { return }
        try await writer.write { transaction in
            for (id, attempt, part) in parts {
                guard let job = try? transaction.job(id), job.isAttempting(attempt) else { continue }
                try transaction.save(part, of: id)
            }
        }
    }

    /// After a start: jobs that were under way when the service stopped are queued again; those whose file was on its
    /// way to its place are returned, to be carried on.
    public func recoverInterrupted() async throws -> (interrupted: Int, promoting: [AdmittedJob]) {
        try await writer.write { transaction in
            let running = try transaction.rows(JobRow.select + "WHERE jobs.state = 'running'").map(JobRow.job)
            let promoting = running.filter { $0.state.promotion != nil }
            for job in running where job.state.promotion == nil {
                _ = try transaction.send(.attemptInterrupted, to: job)
            }
            transaction.wake(.jobs)
            let admitted = try promoting.map { job in
                AdmittedJob(job: job, spec: ResolvedSpec(job.spec, in: try transaction.configuration(of: job.session)))
            }
            return (running.count - promoting.count, admitted)
        }
    }

    /// The parts that are promised, by name: everything else in the folder of parts is left over.
    public func parts() throws(StoreError) -> [PartID: Int64] {
        try read { db in
            let rows = try Row.fetchAll(db, sql: "SELECT id, bytes_durable FROM parts")
            return Dictionary(uniqueKeysWithValues: rows.map { (PartID($0["id"]), $0["bytes_durable"]) })
        }
    }
}

extension Transaction {
    fileprivate func send(_ signal: JobSignal, to id: JobID, part: Part?, gained: Bool) throws -> SignalOutcome {
        var job = try job(id)
        if let part, case .running(.attempting) = job.state {
            try save(part, of: id)
            job.part = part
        }
        if gained { job.failuresInARow = 0 }
        return try send(signal, to: job)
    }
}

extension Job {
    fileprivate func isAttempting(_ attempt: Int) -> Bool { state == .running(.attempting) && attempts == attempt }
}
