import Downloads
import Formats
import Foundation

/// The database keeps times in milliseconds. The version of a job in memory has the same precision as its row.
extension Job {
    var roundedToMilliseconds: Job {
        var job = self
        job.startedAt = startedAt?.roundedToMilliseconds
        job.finishedAt = finishedAt?.roundedToMilliseconds
        job.resourceTime = resourceTime?.roundedToMilliseconds
        if case .waiting(let wait) = state { job.state = .waiting(wait.roundedToMilliseconds) }
        if let part {
            job.part?.expiry.lifetime = Double(part.expiry.lifetimeMilliseconds) / 1000
            job.part?.expiry.countdown = part.expiry.countdown?.roundedToMilliseconds
        }
        return job
    }
}

extension Wait {
    fileprivate var roundedToMilliseconds: Wait {
        var wait = self
        switch reason {
        case .retry(let until): wait.reason = .retry(until: until.roundedToMilliseconds)
        case .network(let until): wait.reason = .network(until: until.roundedToMilliseconds)
        case .space(let until): wait.reason = .space(until: until.roundedToMilliseconds)
        case .storage(let until): wait.reason = .storage(until: until.roundedToMilliseconds)
        case .credentials, .url: break
        }
        return wait
    }
}

extension Countdown {
    /// Milliseconds that are left; nil while it runs.
    var leftMilliseconds: Int64? { left.map { Int64(($0 * 1000).rounded()) } }

    fileprivate var roundedToMilliseconds: Countdown {
        switch self {
        case .stopped: .stopped(left: Double(leftMilliseconds ?? 0) / 1000)
        case .running(let until): .running(until: until.roundedToMilliseconds)
        }
    }
}

extension Part.Expiry {
    var lifetimeMilliseconds: Int64 { Int64(lifetime * 1000) }
}

extension Date {
    fileprivate var roundedToMilliseconds: Date { Date(milliseconds: milliseconds) }
}
