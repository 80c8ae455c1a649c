import Foundation

/// Jobs on their way to the service: one request, and once, however often it has to be sent.
struct Submission: Sendable {
    private let jobs: [NewJobDocument]
    /// Under which the service knows a repetition for one.
    private let key = UUID().uuidString

    init(_ jobs: [NewJobDocument]) { self.jobs = jobs }

    /// Sends again what got no answer, as nobody knows whether it arrived; a service that is not there at all is told at
    /// once.
    func send(to service: RemoteService) async throws -> AddedJobs {
        var backoff = Backoff()
        for triesLeft in (0..<Self.tries).reversed() {
            do {
                return try await sendOnce(to: service)
            } catch let error as ClientError where error.status == .unavailable {
                let isFirst = triesLeft == Self.tries - 1
                let isHopeless = if isFirst { !(await isThere(service)) } else { triesLeft == 0 }
                if isHopeless { throw error }
                try await Task.sleep(for: backoff.next())
            }
        }
        preconditionFailure("the last try returns or throws")
    }

    /// With the waits between them, some 20 seconds: a service that is restarted comes back within.
    private static let tries = 8

    private func isThere(_ service: RemoteService) async -> Bool {
        (try? await service.stats()) != nil
    }

    private func sendOnce(to service: RemoteService) async throws -> AddedJobs {
        let headers = [(name: "Idempotency-Key", value: key)]
        if jobs.count == 1 {
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

/// What was added, in the order asked for.
struct AddedJobs: Sendable {
    let jobs: [JobDocument]
    let text: JSONText
    let isBatch: Bool
}
