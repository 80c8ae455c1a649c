import Formats
import Foundation
import HTTPTypes

/// The byte ranges that a request selects (RFC 9110, section 14).
public enum RequestedRanges: Sendable, Equatable {
    /// The complete file: the request has no range, or none that applies.
    case whole
    /// At least one range, in the order of the request, each within the size.
    case parts([ClosedRange<Int64>])
    /// No range overlaps the file: 416.
    case unsatisfiable

    /// More ranges than this are refused as a likely attack (RFC 9110, section 17.15).
    private static let most = 32

    /// Invalid ranges, and ranges for another version (`If-Range`), select the complete file, as the RFC allows. So do
    /// more ranges than the limit, and ranges that are together larger than the file.
    ///
    /// - Parameters:
    ///   - size: the size of the file in bytes.
    ///   - tag: the strong entity tag of the file.
    public init(of head: RequestHead, size: Int64, tag: String) {
        let headers = head.headers
        // Ranges apply only to GET, not to HEAD (section 14.2).
        guard head.method == .get, let text = headers[.range], headers[.ifRange].map({ $0 == tag }) ?? true,
            let ranges = Self.parsed(text, size: size)
        else {
            self = .whole
            return
        }
        let parts = ranges.compactMap { $0 }
        let total = parts.reduce(0) { $0 + Int64($1.count) }
        let isTooMuch = parts.count > Self.most || parts.count > 1 && total > size
        self = parts.isEmpty ? .unsatisfiable : isTooMuch ? .whole : .parts(parts)
    }

    /// One element for each range, nil for a range outside the file. The result is nil if the field is invalid.
    private static func parsed(_ text: String, size: Int64) -> [ClosedRange<Int64>?]? {
        guard text.lowercased().hasPrefix("bytes=") else { return nil }
        // Lists may contain empty elements (section 5.6.1).
        let elements = text.dropFirst(6).split(separator: ",")
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        var ranges: [ClosedRange<Int64>?] = []
        for element in elements {
            guard let range = Self.range(element, size: size) else { return nil }
            ranges.append(range)
        }
        return ranges.isEmpty ? nil : ranges
    }

    /// The outer optional is nil if the text is not a range, the inner one if the range is outside the file.
    private static func range(_ text: String, size: Int64) -> ClosedRange<Int64>?? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy(\.isASCIIDigit) }) else { return nil }
        switch (Int64(ends[0]), Int64(ends[1])) {
        case (let first?, let last?) where first <= last: return .some(bounded(first, last, size: size))
        case (let first?, nil) where ends[1].isEmpty: return .some(bounded(first, .max, size: size))
        case (nil, let suffix?) where ends[0].isEmpty:
            return .some(suffix == 0 ? nil : bounded(max(0, size - suffix), .max, size: size))
        default: return nil
        }
    }

    private static func bounded(_ first: Int64, _ last: Int64, size: Int64) -> ClosedRange<Int64>? {
        first < size ? first...min(last, size - 1) : nil
    }
}
