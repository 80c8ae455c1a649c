/// The response to one request. It depends only on the rehearsal and the request, because no state is kept between
/// requests.
extension Rehearsal {
    /// The status that refuses a request; nil if the request gets the file.
    public func refusal(hasRange: Bool, isAuthorized: Bool) -> Int? {
        guard let refusal = hasRange ? rangeStatus ?? status : status else { return nil }
        return refusal == 401 && isAuthorized ? nil : refusal
    }

    /// The part of a requested range that is sent before the connection is closed. The complete range if the connection
    /// is not to be lost.
    public func sent(of range: Range<Int64>) -> Range<Int64> {
        guard let lossPosition, range.lowerBound < lossPosition else { return range }
        return range.lowerBound..<min(range.upperBound, lossPosition)
    }

    /// The number of bytes that should have been sent after this time.
    public func bytesDue(after elapsed: Duration) -> Int64 {
        guard elapsed < duration else { return size }
        return Int64(Double(size) * max(0, elapsed / duration))
    }

    /// The time for this number of bytes, 1 to ``size``.
    public func time(of bytes: Int64) -> Duration {
        duration * (Double(bytes) / Double(size))
    }
}
