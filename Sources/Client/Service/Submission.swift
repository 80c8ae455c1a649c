import Foundation

/// Submits jobs in one request. If the request has to be repeated, the jobs are still added only once.
struct Submission: Sendable {
    private let jobs: [NewJobDocument]
    private let isBatch: Bool
    /// The idempotency key, by which the service recognizes a repeated request.
    private let key = UUID().uuidString

    /// - Parameter isBatch: submit a list and expect a list, even for one job.
    init(_ jobs: [NewJobDocument], isBatch: Bool) {
        self.jobs = jobs
        self.isBatch = isBatch
    }

    func send(to service: RemoteService) async throws -> AddedJobs {
        try await service.repeating { try await sendOnce(to: service) }
    }

    private func sendOnce(to service: RemoteService) async throws -> AddedJobs {
        let headers = [(name: "Idempotency-Key", value: key)]
        guard isBatch else {
            let answer = try await service.send(
                "POST", RequestPath("jobs"), JSONText.written(jobs[0]), headers: headers)
            return AddedJobs(
                jobs: [try answer.document(JobDocument.self)], text: JSONText(answer.body), isBatch: false)
        }
        let answer = try await service.send(
            "POST", RequestPath("jobs", "batch"), JSONText.written(NewJobsDocument(jobs: jobs)), headers: headers)
        let jobs = try answer.document(JobsDocument.self).jobs
        return AddedJobs(jobs: jobs, text: JSONText(answer.body), isBatch: true)
    }

    private struct JobsDocument: Decodable {
        var jobs: [JobDocument]
    }
}

extension RemoteService {
    /// Repeats a request that got no answer, because it is unknown whether it arrived. If the service has never answered, the
    /// error is thrown at once.
    ///
    /// - Parameter send: sends the same request each time, with an idempotency key.
    func repeating<Value>(_ send: () async throws -> Value) async throws -> Value {
        var backoff = Backoff()
        for triesLeft in (0..<Self.tries).reversed() {
            do {
                return try await send()
            } catch let error as ClientError where error.status == .unavailable {
                guard triesLeft > 0, await isThere() else { throw error }
                try await Task.sleep(for: backoff.next())
            }
        }
        preconditionFailure("the last try returns or throws")
    }

    /// Together with the waits between them, the attempts take some 20 seconds, which is longer than a restart.
    private static let tries = 8

    private func isThere() async -> Bool {
        if wasSeen { return true }
        return (try? await lastEvent()) != nil
    }
}
