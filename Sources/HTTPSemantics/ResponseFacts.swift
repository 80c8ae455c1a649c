import Formats
import Foundation

/// The members of a response head that the verdict needs, read once.
public struct ResponseFacts: Sendable, Equatable {
    public var status: Int
    public var contentLength: Int64?
    public var contentRange: ContentRange?
    public var isMultipart: Bool
    /// Whether the response is a redirect with a location.
    public var isRedirect: Bool
    public var validators: Validators
    /// `Content-Encoding` in lower case; nil without a coding.
    public var contentCoding: String?
    public var label: FileLabel
    /// The challenges of the server, or of the proxy if it sent the response.
    public var challenges: [Challenge]
    /// Whether the response is the proxy's own demand for credentials.
    public var isOfProxy: Bool
    public var retryAfter: String?

    public init(status: Int, headers: [(name: String, value: String)], isOfProxy: Bool = false) {
        func value(_ name: String) -> String? { headers.value(of: name)?.trimmingHTTPSpace }
        self.status = status
        // A transfer coding overrides the length (RFC 9112, section 6.3).
        let isCoded = value("transfer-encoding") != nil
        contentLength = isCoded ? nil : value("content-length").flatMap(Self.length)
        contentRange = value("content-range").flatMap(ContentRange.init)
        isMultipart = value("content-type")?.lowercased().hasPrefix("multipart/byteranges") ?? false
        isRedirect = [300, 301, 302, 303, 307, 308].contains(status) && !(value("location") ?? "").isEmpty
        self.isOfProxy = isOfProxy
        challenges = headers.values(of: isOfProxy ? "Proxy-Authenticate" : "WWW-Authenticate")
            .flatMap(Challenge.all(in:))
        retryAfter = value("retry-after")
        label = FileLabel(
            contentType: value("content-type"), contentDisposition: value("content-disposition"),
            digests: DigestClaim.claims(ofStatus: status, headers))
        contentCoding = Self.contentCoding(of: headers)
        let date = value("date").flatMap(Date.init(httpDate:))
        let modified = value("last-modified").flatMap(Date.init(httpDate:))
        // The age of the version by the clock of the server.
        let age = date.flatMap { date in modified.map { date.timeIntervalSince($0) } }
        validators = Validators(
            etag: value("etag"), etagIsRecent: age.map { $0 < Validators.leastAge } ?? false,
            lastModified: modified == nil ? nil : value("last-modified"),
            lastModifiedIsStrong: age.map { $0 >= 1 } ?? false,
            isEncoded: contentCoding != nil)
    }

    /// `Content-Encoding` in lower case; nil without a coding.
    public static func contentCoding(of headers: [(name: String, value: String)]) -> String? {
        let codings = headers.values(of: "content-encoding").joined(separator: ", ")
        let coding = codings.trimmingHTTPSpace.lowercased()
        return coding.isEmpty || coding == "identity" ? nil : coding
    }

    /// The offset after the last byte of a 206 response's range; nil for every other response.
    public var rangeEnd: Int64? {
        guard status == 206, case .bytes(_, let last, _)? = contentRange else { return nil }
        return last + 1
    }

    /// The length in bytes of `Content-Length`. A list repeats one length (RFC 9110, section 8.6); nil if it does not.
    private static func length(_ field: String) -> Int64? {
        let lengths = Set(field.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } })
        guard lengths.count == 1, let text = lengths.first, text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        return Int64(text)
    }

    /// The delay in seconds that `Retry-After` requests, as a number or as a date (RFC 9110, section 10.2.3); nil if
    /// the header is missing or invalid.
    public func retryDelay(at now: Date) -> Double? {
        guard let retryAfter else { return nil }
        if !retryAfter.isEmpty, retryAfter.utf8.allSatisfy(\.isASCIIDigit) { return Double(retryAfter) }
        return Date(httpDate: retryAfter).map { max(0, $0.timeIntervalSince(now)) }
    }
}

/// `Content-Range` of RFC 9110, section 14.4.
public enum ContentRange: Sendable, Equatable {
    /// `bytes first-last/complete`; `complete` is nil for `*`.
    case bytes(first: Int64, last: Int64, complete: Int64?)
    case unsatisfied(complete: Int64)

    public init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let complete = Self.number(halves[1])
        guard complete != nil || halves[1] == "*" else { return nil }
        if halves[0] == "*" {
            guard let complete else { return nil }
            self = .unsatisfied(complete: complete)
            return
        }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            complete.map({ last < $0 }) ?? true
        else { return nil }
        self = .bytes(first: first, last: last, complete: complete)
    }

    public var isWhole: Bool {
        guard case .bytes(0, let last, let complete?) = self else { return false }
        return last == complete - 1
    }

    /// Accepts digits only. `Int64` would also accept a sign. The largest number is refused: a range that ended there would
    /// have an end and a length that `Int64` cannot hold.
    private static func number(_ text: Substring) -> Int64? {
        guard text.utf8.allSatisfy(\.isASCIIDigit), let number = Int64(text), number < .max else { return nil }
        return number
    }
}

/// What a response states about the version of the representation. fetchd compares it with later responses, to
/// recognise the same version.
public struct Validators: Sendable, Equatable, Codable {
    public var etag: String?
    /// Whether the file was modified less than ``leastAge`` before the response. Servers that make a tag of the date and the size give
    /// the same one to another version of the same second (RFC 9110, section 8.8.2.2), so it does not identify the bytes.
    public var etagIsRecent: Bool
    public var lastModified: String?
    /// Whether the date is precise enough to identify the bytes: in the response, the server's clock was at least a
    /// second past this date (RFC 9110, section 8.8.2.2).
    public var lastModifiedIsStrong: Bool
    /// The body is coded although fetchd requested `identity`. fetchd stores its bytes as received, but never continues them.
    public var isEncoded: Bool

    public init(
        etag: String? = nil, etagIsRecent: Bool = false, lastModified: String? = nil,
        lastModifiedIsStrong: Bool = false,
        isEncoded: Bool = false
    ) {
        self.etag = etag
        self.etagIsRecent = etagIsRecent
        self.lastModified = lastModified
        self.lastModifiedIsStrong = lastModifiedIsStrong
        self.isEncoded = isEncoded
    }

    /// Seconds.
    static let leastAge: Double = 2

    /// The value for `If-Range`: a strong entity tag or, only if the response has no entity tag, a strong date (RFC
    /// 9110, section 13.1.5). nil: bytes of two responses must not be combined.
    public var strong: String? {
        if isEncoded { return nil }
        if let etag { return Self.isStrong(etag) && !etagIsRecent ? etag : nil }
        return lastModifiedIsStrong ? lastModified : nil
    }

    /// Whether there is a strong tag, also one of a file that had just changed.
    public var hasStrongTag: Bool { etag.map(Self.isStrong) ?? false }

    /// Whether the tag is one opaque tag in quotes (RFC 9110, section 8.8.3). Any other value (a weak or empty tag, a
    /// list, a word without quotes) does not distinguish one version from the next.
    private static func isStrong(_ tag: String) -> Bool {
        let bytes = tag.utf8
        guard bytes.count > 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else { return false }
        return bytes.dropFirst().dropLast().allSatisfy { $0 == 0x21 || $0 >= 0x23 && $0 != 0x7F }
    }

    /// Validators that can show that a version differs, but cannot prove that it is the same.
    public var withoutStrength: Validators {
        var validators = self
        if strong == etag { validators.etag = nil }
        validators.lastModifiedIsStrong = false
        return validators
    }
}

/// The facts that a response states about its file: the type, a suggested name, and digests.
///
/// A part stores its label. The response with the rest of the file need not repeat it (RFC 9110, section 15.3.7), and
/// the headers of a 416 describe that response, not the file.
public struct FileLabel: Sendable, Equatable {
    public var contentType: String?
    public var contentDisposition: String?
    /// The digests are valid as long as the validators of the same response.
    public var digests: [DigestClaim]

    public init(contentType: String? = nil, contentDisposition: String? = nil, digests: [DigestClaim] = []) {
        self.contentType = contentType
        self.contentDisposition = contentDisposition
        self.digests = digests
    }

    /// This label, with the members that it lacks taken from an earlier one. Two digests that contradict each other are
    /// both kept. No bytes can match both, so fetchd fetches the file again.
    public func completed(by earlier: FileLabel) -> FileLabel {
        FileLabel(
            contentType: contentType ?? earlier.contentType,
            contentDisposition: contentDisposition ?? earlier.contentDisposition,
            digests: digests + earlier.digests.filter { !digests.contains($0) })
    }
}

extension Date {
    /// Reads an HTTP date (RFC 9110, section 5.6.7) in any of its forms: `Sun, 06 Nov 1994 08:49:37 GMT`, and the
    /// obsolete `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
    public init?(httpDate text: String) {
        let words = text.split { $0 == " " || $0 == "-" }
        let parts: (day: Substring, month: Substring, year: Substring, time: Substring)
        switch words.count {
        case 6 where words[5] == "GMT": parts = (words[1], words[2], words[3], words[4])
        case 5: parts = (words[2], words[1], words[4], words[3])
        default: return nil
        }
        guard let day = Int(parts.day), 1...31 ~= day, let year = Self.year(parts.year),
            let month = Self.months.firstIndex(of: String(parts.month))
        else { return nil }
        let clock = parts.time.split(separator: ":").compactMap { Int($0) }
        guard clock.count == 3, 0...23 ~= clock[0], 0...59 ~= clock[1], 0...60 ~= clock[2] else { return nil }
        self.init(year: year, month: month + 1, day: day, hour: clock[0], minute: clock[1], second: clock[2])
    }

    /// A two-digit year is 20xx if it is below 70, otherwise 19xx.
    private static func year(_ text: Substring) -> Int? {
        guard let year = Int(text), 0...9999 ~= year else { return nil }
        return text.count == 2 ? year + (year < 70 ? 2000 : 1900) : year
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
