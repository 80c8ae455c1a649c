/// The state machine of a delivery: a pure function of state and signal. docs/job-lifecycle.md contains the table.
extension Delivery.State {
    /// The state after a signal; nil if the signal has no effect.
    public func after(_ signal: DeliverySignal) -> Delivery.State? {
        switch signal {
        case .accepted: accepted()
        case .rejected(let retryAt): whilePending(retryAt.map(Delivery.State.pending) ?? .exhausted)
        case .withdrawn: whilePending(.cancelled)
        case .redeliveryRequested(let date): .pending(next: date)
        }
    }

    /// A 2xx also counts after fetchd has given the delivery up, because the event has arrived.
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
