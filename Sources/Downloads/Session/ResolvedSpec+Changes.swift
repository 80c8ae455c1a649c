/// Clients can change a job and its session while an attempt runs.
extension ResolvedSpec {
    /// Whether an attempt with the other specification sends the same requests, and its failure has the same
    /// consequence. If so, the end of an attempt with one of them also holds for the other.
    public func endsLike(_ other: ResolvedSpec) -> Bool {
        asksLike(other) && waitFor == other.waitFor && retry == other.retry && lost == other.lost
            && lostBySession == other.lostBySession
    }

    private func asksLike(_ other: ResolvedSpec) -> Bool {
        let isSameSource = url == other.url && mirrors == other.mirrors && proxy == other.proxy && tls == other.tls
        return isSameSource && headers == other.headers && credentials == other.credentials
            && userAgent == other.userAgent
    }
}
