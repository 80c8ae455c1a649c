import Base
import Foundation
import HTTPServer
import HTTPTypes
import Operations
import Storage

/// The actions in several steps that are under way, by the keys of their requests.
final class ActionsUnderWay: Sendable {
    private typealias Work = Task<IdempotentResponse, any Error>

    private let underWay = Locked<[[String]: (fingerprint: Data, work: Work)]>([:])

    /// Carries out an action, unless the same request was carried out before. A repetition that arrives before the end waits
    /// for the first answer, too. The action goes on if the task that waits is cancelled.
    func answer(
        to claim: IdempotencyClaim, from jobs: Jobs,
        _ act: @escaping @Sendable (IdempotencyClaim) async throws -> IdempotentResponse
    ) async throws -> IdempotentResponse {
        let key = [claim.caller, claim.route, claim.key]
        let (first, isRepeated) = underWay.withLock { underWay in
            if let first = underWay[key] { return (first, true) }
            let work = Work {
                if let first = try await jobs.rememberedAnswer(to: claim) { return first }
                return try await act(claim)
            }
            underWay[key] = (claim.fingerprint, work)
            return ((claim.fingerprint, work), false)
        }
        defer { if !isRepeated { underWay.withLock { $0[key] = nil } } }
        guard first.fingerprint == claim.fingerprint else { throw StoreError.idempotencyKeyReused(claim.key) }
        return try await first.work.value
    }

    /// Also carries out actions without a key, each once for each request.
    func answer(
        to claim: IdempotencyClaim?, from jobs: Jobs,
        _ act: @escaping @Sendable (IdempotencyClaim?) async throws -> IdempotentResponse
    ) async throws -> IdempotentResponse {
        guard let claim else { return try await act(nil) }
        return try await answer(to: claim, from: jobs) { (claim: IdempotencyClaim) in try await act(claim) }
    }

    /// Returns when all actions that are under way now have ended.
    func waitForAll() async {
        for work in underWay.withLock({ $0.values.map(\.work) }) { _ = await work.result }
    }
}

extension Response {
    static func json(_ answer: IdempotentResponse, _ status: HTTPResponse.Status = .ok) -> Response {
        var headers: HTTPFields = [.contentType: "application/json"]
        headers[.location] = answer.location
        return Response(status: status, headers: headers, body: .bytes(answer.body + [0x0A]))
    }
}
