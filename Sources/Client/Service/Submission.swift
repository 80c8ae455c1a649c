import Foundation

/// Jobs on their way to the service: one request, and once, however often it has to be sent.
struct Submission: Sendable {
    private let jobs: [NewJobDocument]
    private let isBatch: Bool
    /// Under which the service knows a repetition for one.
    private let key = UUID().uuidString

    /// - Parameter isBatch: the answer is a list, also of one.
    init(_ jobs: [NewJobDocument], isBatch: Bool) {
        self.jobs = jobs
        self.isBatch = isBatch
    }

    /// Sends again what got no answer, as nobody knows whether it arrived; a service that was never seen is told at once.
    func send(to service: RemoteService) async throws -> AddedJobs {
        var backoff = Backoff()
        for triesLeft in (0..<Self.tries).reversed() {
            do {
                return try await sendOnce(to: service)
            } catch let error as ClientError where error.status == .unavailable {
                guard triesLeft > 0, await isThere(service) else { throw error }
                try await Task.sleep(for: backoff.next())
            }
        }
        preconditionFailure("the last try returns or throws")
    }

    /// With the waits between them, some 20 seconds: a service that is restarted comes back within.
    private static let tries = 8

    private func isThere(_ service: RemoteService) async -> Bool {
        if service.wasSeen { return true }
        return (try? await service.stats()) != nil
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

/// What was added, in the order asked for.
struct AddedJobs: Sendable {
    let jobs: [JobDocument]
    /// What the service answered.
    let text: JSONText
    let isBatch: Bool

    var documents: [JSONText] { isBatch ? text["jobs"]?.elements ?? [] : [text] }

    /// In the shape of the answer.
    func text(of documents: [JSONText]) -> JSONText {
        isBatch ? .object([("jobs", .array(documents))]) : documents[0]
    }
}
