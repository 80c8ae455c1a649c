import Foundation

/// The longest possible delay of each wait that ends by itself. A stored time that is further ahead comes from a wrong
/// clock. fetchd replaces it with an earlier time: the end of the longest delay from now.
extension Date {
    /// This time, or the end of the longest delay from now, if that is sooner.
    public func bounded(by longestDelay: TimeInterval, from now: Date) -> Date {
        min(self, now.addingTimeInterval(longestDelay))
    }
}

extension RetryPolicy {
    /// The longest wait for this reason, in seconds; nil if the client or a person must help.
    public func longestDelay(of reason: Wait.Kind) -> TimeInterval? {
        switch reason {
        case .retry: max(maxSeconds, Self.retryAfterLimit)
        case .network: Self.networkSeconds
        case .space, .storage: Self.spaceSeconds
        case .credentials, .url: nil
        }
    }
}

extension Wait {
    /// The wait as it is stored: from now, it lasts no longer than intended when its attempt ended. (The clock may have
    /// been set back since then.)
    public func bounded(at now: Date) -> Wait {
        guard let until, until > now else { return self }
        return ending(at: until.bounded(by: max(0, until.timeIntervalSince(cause.at)), from: now))
    }
}

extension JobSignal {
    public func bounded(at now: Date) -> JobSignal {
        switch self {
        case .attemptDeferred(let wait): .attemptDeferred(wait.bounded(at: now))
        case .attemptHeldOff(let wait): .attemptHeldOff(wait.bounded(at: now))
        case .attemptDiverted(let wait): .attemptDiverted(wait.bounded(at: now))
        case .admitted, .waitEnded, .pauseRequested, .resumeRequested, .cancelRequested, .retryRequested,
            .inputSupplied, .timeElapsed, .attemptStopped, .attemptInterrupted, .attemptFailed, .finalizePlanned,
            .finalized:
            self
        }
    }
}

extension Session {
    /// Seconds between the end of a batch's last job and its finish. 0 for a deleted session, because no job can join its batch.
    public var finishDelay: TimeInterval {
        isFinishing ? 0 : configuration.finishDelaySeconds ?? SessionConfiguration.defaultFinishDelaySeconds
    }
}

extension Webhook {
    /// Limits times that a wrong clock has set: a former secret signs no longer than its lifetime from now, and the
    /// failures began no later than now.
    public func bounded(at now: Date) -> Webhook {
        var webhook = self
        webhook.formerSecrets = formerSecrets.map {
            FormerSecret($0.secret, until: $0.until.bounded(by: FormerSecret.lifetime, from: now))
        }
        if case .enabled(let since?) = state { webhook.state = .enabled(failingSince: min(since, now)) }
        return webhook
    }

    /// Moves the times of the webhook by the seconds by which the clock has jumped, so that their distance from now
    /// stays the same.
    public func moved(by seconds: TimeInterval) -> Webhook {
        var webhook = self
        webhook.formerSecrets = formerSecrets.map {
            FormerSecret($0.secret, until: $0.until.addingTimeInterval(seconds))
        }
        if case .enabled(let since?) = state {
            webhook.state = .enabled(failingSince: since.addingTimeInterval(seconds))
        }
        return webhook
    }
}

/// The remaining time of a countdown that can be stopped: the time limit of a job, and the expiry of its part, stop
/// while the job is paused.
public enum Countdown: Sendable, Equatable {
    /// The countdown is stopped, with this number of seconds left.
    case stopped(left: TimeInterval)
    case running(until: Date)

    public func stopping(at now: Date) -> Countdown {
        switch self {
        case .stopped: self
        case .running(let until): .stopped(left: max(0, until.timeIntervalSince(now)))
        }
    }

    public func running(at now: Date) -> Countdown {
        switch self {
        case .stopped(let left): .running(until: now.addingTimeInterval(left))
        case .running: self
        }
    }

    /// The end of the countdown; nil while it is stopped.
    public var end: Date? { if case .running(let until) = self { until } else { nil } }
    /// The remaining seconds; nil while the countdown runs.
    public var left: TimeInterval? { if case .stopped(let left) = self { left } else { nil } }
}
