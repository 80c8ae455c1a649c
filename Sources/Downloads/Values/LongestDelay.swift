import Foundation

/// How long whatever goes on by itself can have to wait, from any moment on. A stored moment that lies further ahead comes
/// from a clock that was wrong, and is brought forward: it is due after its own longest delay.
extension Date {
    /// This moment, or the end of the longest delay from now on where that is sooner.
    public func bounded(by longestDelay: TimeInterval, from now: Date) -> Date {
        min(self, now.addingTimeInterval(longestDelay))
    }
}

extension RetryPolicy {
    /// The longest wait for this reason, in seconds; nil where the client or a person has to help.
    public func longestDelay(of reason: Wait.Name) -> TimeInterval? {
        switch reason {
        case .retry: max(maxSeconds, Self.retryAfterLimit)
        case .network: Self.networkSeconds
        case .space, .storage: Self.spaceSeconds
        case .credentials, .url: nil
        }
    }
}

extension Wait {
    /// As it is written down: from now on it lasts no longer than it was meant to last when its attempt had ended. (In
    /// between, the clock may have been set back.)
    public func bounded(at now: Date) -> Wait {
        guard let until, until > now else { return self }
        let end = until.bounded(by: max(0, until.timeIntervalSince(cause.at)), from: now)
        switch reason {
        case .retry: return Wait(.retry(until: end), cause: cause)
        case .network: return Wait(.network(until: end), cause: cause)
        case .space: return Wait(.space(until: end), cause: cause)
        case .storage: return Wait(.storage(until: end), cause: cause)
        case .credentials, .url: return self
        }
    }
}

extension JobSignal {
    public func bounded(at now: Date) -> JobSignal {
        switch self {
        case .attemptDeferred(let wait): .attemptDeferred(wait.bounded(at: now))
        case .attemptDiverted(let wait): .attemptDiverted(wait.bounded(at: now))
        case .admitted, .waitEnded, .pauseRequested, .resumeRequested, .cancelRequested, .retryRequested, .helpSupplied,
            .timeElapsed, .attemptStopped, .attemptInterrupted, .attemptFailed, .promotionPlanned, .promoted:
            self
        }
    }
}

extension Session {
    /// Seconds between the end of a batch's last job and its finish. Nothing can join the batch of a session that was
    /// deleted.
    public var finishDelay: TimeInterval {
        isFinishing ? 0 : configuration.finishDelaySeconds ?? SessionConfiguration.defaultFinishDelaySeconds
    }
}

extension Webhook {
    /// With nothing that is still to come, or began later than now.
    public func bounded(at now: Date) -> Webhook {
        var webhook = self
        webhook.formerSecrets = formerSecrets.map {
            FormerSecret($0.secret, until: $0.until.bounded(by: FormerSecret.lifetime, from: now))
        }
        if case .enabled(let since?) = state { webhook.state = .enabled(failingSince: min(since, now)) }
        return webhook
    }

    /// As it is after the clock has jumped by so many seconds: what began or ends some time from now still does.
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
