extension ExceededQuota: CustomStringConvertible {
    /// What the quota is, and what to do.
    public var description: String {
        switch self {
        case .outstandingJobs(let limit, let left, let requested):
            "The token may have \(limit) outstanding jobs. It can create \(left) more, and the request has \(requested). Wait until jobs have ended."
        case .bytesPerDay(let limit, let seconds):
            "The jobs of the token have received the \(limit) bytes of this day. It can create jobs again in \(seconds) seconds, at midnight UTC."
        case .requestsPerSecond(let limit, _):
            "The token may send \(limit) request\(limit == 1 ? "" : "s") a second."
        }
    }
}
