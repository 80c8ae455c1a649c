import Dispatch

/// Handles failures of the disk, and notices when it works again.
extension Writer {
    /// Why writes fail now, or are only in the log; nil when the disk works.
    var fault: StoreError? { condition.withLock { $0.fault } }

    /// Records a fault, and probes every second until it has passed.
    func report(_ fault: StoreError) {
        guard note(fault) else { return }
        log.error("\(fault) fetchd may refuse requests that change data, and tries to write again every second.")
        scheduleProbe()
    }

    private func scheduleProbe() { queue.asyncAfter(deadline: .now() + 1) { [self] in probe() } }

    private func probe() {
        guard !condition.withLock({ $0.isClosed }) else { return }
        do {
            try engine.probe()
            // Begins a group, and so settles the former one.
            if unsettled.withLock({ $0 != nil }) { commit([]) }
            condition.withLock { $0.fault = nil }
            log.notice("fetchd can write the database again.")
        } catch {
            _ = note(StoreError(error))
            scheduleProbe()
        }
    }

    /// - Returns: whether there was no fault before.
    private func note(_ fault: StoreError) -> Bool {
        switch fault {
        case .databaseInUse, .nodeReplaced, .changesLost: onReplacement(fault)
        default: break
        }
        return condition.withLock { condition in
            defer { condition.fault = fault }
            return condition.fault == nil
        }
    }
}
