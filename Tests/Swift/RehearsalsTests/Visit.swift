import CurlClient
import Rehearsals
import TestKit

/// A request to an origin, as a download sends it, with its response so far.
final class Visit: TransferHandler {
    struct State: Sendable {
        var head: ResponseHead?
        var body: [UInt8] = []
        /// Held chunks. When they fill the window, the client stops reading.
        var held: [Chunk] = []
        var result: TransferResult?
    }

    private static let curl = try! CurlClient(name: "visits")
    private let state = Monitor(State())
    private let isHolding: Bool

    private init(isHolding: Bool) {
        self.isHolding = isHolding
    }

    /// Starts a request that the caller may cancel.
    static func begin(
        _ url: String, method: String = "GET", headers: [(name: String, value: String)] = [], isHolding: Bool = false
    ) -> (visit: Visit, transfer: Transfer) {
        let visit = Visit(isHolding: isHolding)
        let request = TransferRequest(url: url, method: method, headers: headers)
        return (visit, curl.start(request, handler: visit))
    }

    /// Sends a request and waits for its end.
    static func make(
        _ url: String, method: String = "GET", headers: [(name: String, value: String)] = []
    ) async throws -> Visit {
        let (visit, _) = begin(url, method: method, headers: headers)
        try await visit.wait { $0.result != nil }
        return visit
    }

    func received(head: ResponseHead) -> HeadDecision {
        state.withLock { $0.head = head }
        return .accept
    }

    func received(chunk: Chunk) {
        state.withLock { state in
            chunk.withUnsafeBytes { state.body.append(contentsOf: $0) }
            if isHolding { state.held.append(chunk) }
        }
    }

    func finished(_ result: TransferResult) {
        state.withLock { $0.result = result }
    }

    func wait(until isReached: @escaping @Sendable (State) -> Bool) async throws {
        guard await state.wait(until: isReached) else { throw Overdue("a visit took too long") }
    }

    var status: Int? { state.current.head?.status }
    var body: [UInt8] { state.current.body }
    var outcome: TransferResult.Outcome? { state.current.result?.outcome }
    subscript(field: String) -> String? { state.current.head?.value(of: field) }
}
