/// A simulated download. Its URL says how it ends, so that a client can be tested with a success, a failure or a partly
/// failed session without another server.
///
///     rehearse:film.mkv?size=1000000&seconds=5
///
/// The bytes are generated, but their transfer is real: the URL stands for the address of an origin server within this
/// process. Everything between this origin and the finished file is the same as for any other download.
public struct Rehearsal: Sendable, Equatable {
    public static let scheme = "rehearse"
    /// The longest name in bytes, after percent-decoding: short enough for every file system, with room for a number.
    public static let longestName = 200
    /// The largest ``size``, in bytes: 1 TiB.
    public static let largestSize: Int64 = 1 << 40
    /// The maximum of ``duration`` and ``retryAfter``, in seconds: a day.
    public static let longestSeconds: Int64 = 86_400

    /// One path component, percent-decoded.
    public let name: String
    /// `size`: bytes of the file, 0 to ``largestSize``.
    public internal(set) var size: Int64 = 1 << 20
    /// `seconds`: the time for the whole file, from zero (as fast as possible) to a day. A range takes its share.
    public internal(set) var duration = Duration.zero
    /// `status`: the status that is sent instead of the file, 400 to 599. A request with an authorization gets the file
    /// instead of a 401.
    public internal(set) var status: Int?
    /// `then`: the same, but only for requests with a range, which a resumed download sends. It takes precedence over `status`.
    public internal(set) var rangeStatus: Int?
    /// `retry_after`: seconds, 0 to a day, sent with the responses of `status` and `then`.
    public internal(set) var retryAfter: Int64?
    /// `lose_at`: the position, between 0 and ``size``, at which the connection is closed. A request that begins at or
    /// after this position is served to its end. So the connection is lost once, and the download can be resumed.
    public internal(set) var lossPosition: Int64?

    init(name: String) { self.name = name }

    /// Whether a URL has the scheme of a rehearsal. The rehearsal may be invalid.
    public static func isRehearsal(_ url: String) -> Bool {
        String(decoding: url.utf8.prefix(prefix.utf8.count), as: UTF8.self).lowercased() == prefix
    }

    /// The URL under which the origin serves a rehearsal.
    ///
    /// - Parameter url: a valid rehearsal, for which ``fault(in:)`` returns nil.
    public static func address(of url: String, at base: String) -> String { "\(base)/\(withoutScheme(url))" }

    static func withoutScheme(_ url: String) -> Substring { Substring(url.utf8.dropFirst(prefix.utf8.count)) }

    private static let prefix = scheme + ":"
}

/// The response to one request. It depends only on the rehearsal and the request, because no state is kept between requests.
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
    public func time(of bytes: Int64) -> Duration { duration * (Double(bytes) / Double(size)) }
}
