/// A simulated download. Its URL says how it ends, so that a client can be tested with a success, a failure or a partly
/// failed session without another server.
///
///     rehearse:film.mkv?size=1000000&seconds=5
///
/// The bytes are made up, too, but the way they come is not: the URL stands for an address of an origin within this
/// process, and everything between it and the finished file is as it would be with any other.
public struct Rehearsal: Sendable, Equatable {
    public static let scheme = "rehearse"
    /// Bytes of a name, once its percent-encoding is undone: short enough for every file system, with room to number it.
    public static let longestName = 200
    /// The largest ``size``, in bytes: 1 TiB.
    public static let largestSize: Int64 = 1 << 40
    /// The most for ``duration`` and ``retryAfter``, in seconds: a day.
    public static let longestSeconds: Int64 = 86_400

    /// One path component, its percent-encoding undone.
    public let name: String
    /// `size`: bytes of the file, 0 to ``largestSize``.
    public internal(set) var size: Int64 = 1 << 20
    /// `seconds`: how long the whole file takes, zero (as fast as it can) to a day. A range takes its share.
    public internal(set) var duration = Duration.zero
    /// `status`: answered instead of the file, 400 to 599. A 401 gives way to the file once there is an authorization.
    public internal(set) var status: Int?
    /// `then`: the same, but for requests with a range only, as a resumed download sends. It goes before `status`.
    public internal(set) var rangeStatus: Int?
    /// `retry_after`: seconds, 0 to a day, named by the answers of `status` and `then`.
    public internal(set) var retryAfter: Int64?
    /// `lose_at`: how much of the file, more than nothing and less than all, is sent before the connection is closed. A
    /// request that begins there or behind it is served to the end: it is lost once, and then resumed.
    public internal(set) var lossPosition: Int64?

    init(name: String) {
        self.name = name
    }

    /// Whether a URL is meant as a rehearsal, well-formed or not.
    public static func isRehearsal(_ url: String) -> Bool {
        String(decoding: url.utf8.prefix(prefix.utf8.count), as: UTF8.self).lowercased() == prefix
    }

    /// Where a rehearsal is fetched from.
    ///
    /// - Parameters:
    ///   - url: a rehearsal without a ``fault(in:)``.
    ///   - base: the origin, such as `http://127.0.0.1:4711`.
    public static func address(of url: String, at base: String) -> String {
        "\(base)/\(withoutScheme(url))"
    }

    static func withoutScheme(_ url: String) -> Substring {
        Substring(url.utf8.dropFirst(prefix.utf8.count))
    }

    private static let prefix = scheme + ":"
}
