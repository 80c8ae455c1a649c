import CurlClient
import Downloads
import Locks

/// Stops a running attempt, and lets callers wait for its end.
///
/// An attempt either stops or promotes its file, never both. A lock decides which of the two comes first.
final class AttemptControl: Sendable {
    enum Stop: Sendable, Equatable {
        /// The job's state machine decided the stop.
        case decided(AttemptStop)
        /// The bytes that the attempt wrote after its last promise are lost.
        case failed(Failure)
        /// The service stops. This costs the job neither an attempt nor a delay.
        case shutdown
    }

    private struct State {
        var stop: Stop?
        var transfers: [Int: Transfer] = [:]
        var watches = 0
        var isPromoting = false
    }

    private let state = Locked(State())
    /// Opens when the attempt's end is committed.
    let ended = Latch()

    var stop: Stop? { state.withLock { $0.stop } }
    var isStopping: Bool { stop != nil }

    /// Stops the attempt. Has no effect after the promotion has begun, because the file is then published shortly.
    func requestStop(_ stop: Stop) {
        let transfers: [Transfer] = state.withLock { state in
            guard !state.isPromoting else { return [] }
            // A cancellation replaces an earlier stop. Any other stop has no effect after the first one.
            if state.stop == nil || stop.isCancellation { state.stop = stop }
            return Array(state.transfers.values)
        }
        for transfer in transfers { transfer.cancel() }
    }

    /// Makes a stop cancel this transfer, also a stop that was requested before.
    ///
    /// - Returns: the argument of `forget(_:)`.
    func watch(_ transfer: Transfer) -> Int {
        let (watch, isStopped) = state.withLock { state in
            state.watches += 1
            state.transfers[state.watches] = transfer
            return (state.watches, state.stop != nil)
        }
        if isStopped { transfer.cancel() }
        return watch
    }

    /// Called when the transfer has ended.
    func forget(_ watch: Int) { state.withLock { $0.transfers[watch] = nil } }

    /// - Returns: false when a stop was requested before.
    func beginPromotion() -> Bool {
        state.withLock { state in
            guard state.stop == nil else { return false }
            state.isPromoting = true
            return true
        }
    }
}

extension AttemptControl.Stop {
    fileprivate var isCancellation: Bool { if case .decided(.asked(.cancel)) = self { true } else { false } }
}
