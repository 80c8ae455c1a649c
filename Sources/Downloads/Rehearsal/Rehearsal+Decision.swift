/// What becomes of one request, and when: functions of the rehearsal and the request alone, as nothing is remembered
/// between two requests.
extension Rehearsal {
    /// The status that a request is turned down with; nil when it gets the file.
    public func refusal(hasRange: Bool, isAuthorized: Bool) -> Int? {
        guard let refusal = hasRange ? rangeStatus ?? status : status else { return nil }
        return refusal == 401 && isAuthorized ? nil : refusal
    }

    /// The part of a requested range that is sent before the connection is closed; all of it when it is not to be lost.
    public func sent(of range: Range<Int64>) -> Range<Int64> {
        guard let lossPosition, range.lowerBound < lossPosition else { return range }
        return range.lowerBound..<min(range.upperBound, lossPosition)
    }

    /// How many bytes should have been sent when a body has been under way for that long.
    public func bytesDue(after elapsed: Duration) -> Int64 {
        guard elapsed < duration else { return size }
        return Int64(Double(size) * max(0, elapsed / duration))
    }

    /// How long that many bytes take, 1 to ``size``.
    public func time(of bytes: Int64) -> Duration {
        duration * (Double(bytes) / Double(size))
    }
}
