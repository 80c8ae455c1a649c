import CurlClient
import Downloads
import Locks

/// Stops an attempt under way, and lets callers wait for its end.
///
/// A stop and the promotion exclude each other: the first one wins, which one lock decides.
final class AttemptControl: Sendable {
    enum Stop: Sendable, Equatable {
        /// The job's state machine has decided it.
        case decided(AttemptStop)
        /// The bytes that the attempt has written since its last promise are lost.
        case failed(Failure)
        /// The service is going down; it costs the job neither attempt nor delay.
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

    /// Has no effect once the promotion has begun: the file will be in its place in a moment.
    func requestStop(_ stop: Stop) {
        let transfers: [Transfer] = state.withLock { state in
            guard !state.isPromoting else { return [] }
            // A cancellation overrules a pause; nothing overrules the first otherwise.
            if state.stop == nil || stop.isCancellation { state.stop = stop }
            return Array(state.transfers.values)
        }
        for transfer in transfers { transfer.cancel() }
    }

    /// From now on a stop cancels this transfer.
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

    /// The transfer is over.
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
