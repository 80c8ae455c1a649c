import CurlClient
import Downloads
import Foundation
import HTTPSemantics

/// Why a connection fetches no more bytes.
struct ConnectionLoss: Sendable {
    var failure: Failure
    var hint = RetryPolicy.Hint()
    /// No other connection could complete the file: the disk is full, or the file is too large.
    var isFinal = false
    /// The connection had received bytes before.
    var hasBrought = false
}

extension ConnectionLoss {
    /// - Parameter now: the moment from which `Retry-After` is counted.
    init(_ failure: Failure, _ end: Download.End, at now: Date) {
        let facts = end.result.head.map { ResponseFacts(status: $0.status, headers: $0.headers) }
        let hasNoRoute = if case .failed(.networkUnreachable) = end.result.outcome { true } else { false }
        self.init(
            failure: failure,
            hint: RetryPolicy.Hint(retryAfter: facts?.retryDelay(at: now), hasNoRoute: hasNoRoute),
            hasBrought: end.target != nil && end.result.bytesReceived > 0)
    }
}

extension Download.Target {
    /// Ends the lease after the exchange that filled the segment.
    ///
    /// - Parameters:
    ///   - url: the URL that the bytes came from.
    ///   - now: the moment from which `Retry-After` is counted.
    /// - Returns: nil when the exchange received all wanted bytes, or was cancelled.
    func settle(after end: Download.End, from url: String, at now: Date) -> ConnectionLoss? {
        let missing = file.range(of: lease)
        let isBodyWhole = end.result.outcome == .completed && end.failure == nil
        file.leave(lease, isBodyWhole: isBodyWhole)
        if let failure = end.failure { return ConnectionLoss(failure: failure, isFinal: true) }
        guard let missing, !missing.isEmpty, !end.isSegmentFull else { return nil }
        switch end.result.outcome {
        case .completed where missing.upperBound == .max: return nil
        case .completed:
            let text = "The body ended \(missing.count) bytes before its end."
            return ConnectionLoss(Failure(.truncated, text), end, at: now)
        case .failed(let error): return ConnectionLoss(Failure(error, url: url), end, at: now)
        case .cancelled, .rejected: return nil
        }
    }
}
