import Downloads
import HTTPTypes

/// Maps an exceeded quota to a 429.
extension Problem {
    /// With `Retry-After`, and the fields of draft-ietf-httpapi-ratelimit-headers-10.
    init(_ quota: ExceededQuota) {
        self.init(.quotaExceeded, quota.description)
        let (name, limit, left, window, seconds): (String, Int64, Int, Int?, Int) =
            switch quota {
            case .outstandingJobs(let limit, let left, _):
                ("outstanding-jobs", Int64(limit), left, nil, Self.usualWait)
            case .bytesPerDay(let limit, let seconds): ("bytes-per-day", limit, 0, 86_400, seconds)
            case .requestsPerSecond(let limit, let seconds):
                ("requests-per-second", Int64(limit), 0, 1, Int(seconds.rounded(.up)))
            }
        headers[.retryAfter] = "\(max(1, seconds))"
        headers[.rateLimitPolicy] = "\"\(name)\";q=\(limit)" + (window.map { ";w=\($0)" } ?? "")
        headers[.rateLimit] = "\"\(name)\";r=\(left);t=\(max(1, seconds))"
    }

    /// Seconds. The end of a job has no known time.
    private static let usualWait = 30
}

extension HTTPField.Name {
    static let rateLimit = Self("RateLimit")!
    static let rateLimitPolicy = Self("RateLimit-Policy")!
}
