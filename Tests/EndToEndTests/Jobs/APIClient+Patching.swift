import Downloads
import TestKit

extension APIClient {
    /// Changes what a job asks for, and returns the job as answered.
    @discardableResult
    func patch(_ id: String, _ members: JSON) async throws -> JSON {
        let answer = try await send("PATCH", "/v1/jobs/\(id)", members)
        guard answer.status == 200 else { throw Overdue("PATCH of \(id) answered \(answer)") }
        return answer.json
    }

    @discardableResult
    func perform(_ action: String, on id: String) async throws -> JSON {
        let answer = try await post("/v1/jobs/\(id)/\(action)")
        guard answer.status == 200 else { throw Overdue("The job \(id) refused to \(action): \(answer)") }
        return answer.json
    }

    /// Waits until a job has succeeded or failed, and returns it as it then is.
    func waitForOutcome(_ id: String, atMost timeout: Duration = .seconds(30)) async throws -> JSON {
        try await waitForJob(id, toBe: "over", atMost: timeout) { ["succeeded", "failed"].contains($0["state"]) }
    }
}
