import Downloads
import Formats
import TestKit

/// Requests that act on jobs beyond creating and reading them.
extension APIClient {
    /// Pauses, resumes, cancels or retries a job, and returns the job from the response.
    @discardableResult
    func act(_ action: JobSignal.Action, on id: String, _ options: JSON? = nil) async throws -> JSON {
        let answer = try await post("/v1/jobs/\(id)/\(action.rawValue)", options)
        guard answer.status == 200 else { throw Overdue("\(id) refused to \(action.rawValue): \(answer)") }
        return answer.json
    }

    func patch(
        _ id: String, _ changes: JSON, headers: [(name: String, value: String)] = []
    ) async throws -> APIAnswer {
        let type = [(name: "Content-Type", value: "application/merge-patch+json")]
        return try await send("PATCH", "/v1/jobs/\(id)", changes, headers: headers.isEmpty ? type : type + headers)
    }

    /// Patches a job, and returns the job from the response.
    @discardableResult
    func change(_ id: String, _ changes: JSON) async throws -> JSON {
        let answer = try await patch(id, changes)
        guard answer.status == 200 else { throw Overdue("PATCH of \(id) with \(changes.written) answered \(answer)") }
        return answer.json
    }

    /// The resume data of a job; nil if there is none.
    func resumeData(of id: String) async throws -> JSON? {
        let answer = try await get("/v1/jobs/\(id)/resume-data")
        guard answer.status != 404 else { return nil }
        guard answer.status == 200 else { throw Overdue("resume-data of \(id) answered \(answer)") }
        return answer.json
    }

    /// Waits until a job waits for the given reason, and returns the job.
    @discardableResult
    func waitForJob(_ id: String, toWaitFor reason: Wait.Kind, attempts: Int64? = nil) async throws -> JSON {
        try await waitForJob(id, toBe: "waiting for \(reason.rawValue)") { job in
            job["state"] == "waiting" && job["reason"].string == reason.rawValue
                && attempts.map { job["attempts"].integer == $0 } ?? true
        }
    }

    /// Waits until a job has succeeded or failed, and returns the job.
    func waitForOutcome(_ id: String, atMost timeout: Duration = .patience) async throws -> JSON {
        try await waitForJob(id, toBe: "over", atMost: timeout) { ["succeeded", "failed"].contains($0["state"]) }
    }

    /// Waits until the first attempt of a job has received so many bytes, or is over.
    func waitForBytesOfFirstAttempt(_ id: String, atLeast count: Int64) async throws {
        try await waitForJob(id, toBe: "at \(count) bytes") { job in
            (job["progress"]["bytes_received"].integer ?? 0) >= count || (job["attempts"].integer ?? 0) > 1
        }
    }

    /// The types of a job's events, in order.
    func types(of id: String) async throws -> [String] { JSON.types(of: try await events(of: id)) }
}
