import Foundation

/// What can happen to a delivery.
public enum DeliverySignal: Sendable, Equatable {
    /// The endpoint answered 2xx.
    case accepted
    /// It answered anything else, or nothing. `retryAt` is the next try; nil when the schedule has none left.
    case rejected(retryAt: Date?)
    /// Its webhook was deleted or disabled.
    case withdrawn
    /// Somebody wants it sent, whatever became of it before; or its endpoint is there again.
    case redeliveryRequested(at: Date)
}

/// The delivery's machine: a pure function of state and signal. docs/job-lifecycle.md has the table.
extension Delivery.State {
    /// The state after a signal; nil when nothing changes.
    public func after(_ signal: DeliverySignal) -> Delivery.State? {
        switch signal {
        case .accepted: accepted()
        case .rejected(let retryAt): whilePending(retryAt.map(Delivery.State.pending) ?? .exhausted)
        case .withdrawn: whilePending(.cancelled)
        case .redeliveryRequested(let date): .pending(next: date)
        }
    }

    /// Also when the answer comes after the delivery was given up: it has arrived.
    private func accepted() -> Delivery.State? {
        switch self {
        case .pending, .exhausted, .cancelled: .acknowledged
        case .acknowledged: nil
        }
    }

    private func whilePending(_ next: Delivery.State) -> Delivery.State? {
        switch self {
        case .pending: next
        case .acknowledged, .exhausted, .cancelled: nil
        }
    }
}
