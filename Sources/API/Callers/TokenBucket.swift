/// The requests that a token may still send: it holds those of one second at most, and fills steadily.
struct TokenBucket: Sendable {
    private var left: Double
    private var filledAt: Duration

    /// A full bucket.
    ///
    /// - Parameter uptime: the present time of a clock that never jumps.
    init(limit: Int, at uptime: Duration) {
        left = Double(limit)
        filledAt = uptime
    }

    /// Takes a request.
    ///
    /// - Parameter limit: requests a second.
    /// - Returns: nil if the request is allowed; else the seconds until the next one is.
    mutating func take(limit: Int, at uptime: Duration) -> Double? {
        let gained = max(0, (uptime - filledAt) / .seconds(1)) * Double(limit)
        left = min(Double(limit), left + gained)
        filledAt = uptime
        guard left < 1 else {
            left -= 1
            return nil
        }
        return (1 - left) / Double(limit)
    }
}
