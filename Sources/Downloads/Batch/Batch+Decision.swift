import Foundation

extension Batch {
    /// The batch after a signal; nil if the signal has no effect in this state.
    public func after(_ signal: BatchSignal) -> Batch? {
        switch signal {
        case .jobJoined: joined()
        case .jobRejoined(let ending): rejoined(ending)
        case .jobEnded(let ending, let due): ended(ending, due: due)
        case .sessionInvalidated(let now): expedited(now)
        case .delayElapsed(let finish): finished(finish)
        case .finishAcknowledged: acknowledged()
        }
    }

    private func joined() -> Batch? {
        guard state.takesJobs else { return nil }
        return changed {
            $0.state = .open
            $0.counts.outstanding += 1
        }
    }

    private func rejoined(_ ending: BatchSignal.Ending) -> Batch? {
        guard counts[ending] > 0 else { return nil }
        return joined()?.changed { $0.counts[ending] -= 1 }
    }

    private func ended(_ ending: BatchSignal.Ending, due: Date) -> Batch? {
        guard case .open = state, counts.outstanding > 0 else { return nil }
        return changed {
            $0.counts.outstanding -= 1
            $0.counts[ending] += 1
            if $0.counts.outstanding == 0 { $0.state = .due(due) }
        }
    }

    private func expedited(_ now: Date) -> Batch? {
        guard case .due(let due) = state, due > now else { return nil }
        return changed { $0.state = .due(now) }
    }

    private func finished(_ finish: EventID) -> Batch? {
        guard case .due = state else { return nil }
        return changed { $0.state = .finished(finish) }
    }

    private func acknowledged() -> Batch? {
        guard case .finished(let finish) = state else { return nil }
        return changed { $0.state = .acknowledged(finish) }
    }

    private func changed(_ change: (inout Batch) -> Void) -> Batch {
        var batch = self
        change(&batch)
        return batch
    }
}

extension Batch.Counts {
    public subscript(ending: BatchSignal.Ending) -> Int {
        get {
            switch ending {
            case .succeeded: succeeded
            case .failed: failed
            case .cancelled: cancelled
            }
        }
        set {
            switch ending {
            case .succeeded: succeeded = newValue
            case .failed: failed = newValue
            case .cancelled: cancelled = newValue
            }
        }
    }
}
