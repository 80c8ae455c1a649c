import Foundation
import HTTPTypes

/// Which bytes a request asks for (RFC 9110, section 14), for whoever answers with something that has a size and a tag.
public enum RequestedRanges: Sendable, Equatable {
    /// Everything: no range was asked for, or none that has a meaning here.
    case whole
    /// At least one, in the order of the request, each within the size.
    case parts([ClosedRange<Int64>])
    /// None of them has a byte in common with what there is: 416.
    case unsatisfiable

    /// More than this is nothing that a reader needs, and much that an attacker wants (RFC 9110, section 17.15).
    private static let most = 32

    /// Whatever is not well formed, or of another version (`If-Range`), is answered with the whole, as the RFC allows. So
    /// are more ranges than make sense, or those that together are larger than the whole.
    ///
    /// - Parameters:
    ///   - size: bytes that there are.
    ///   - tag: the strong entity tag of what there is.
    public init(of head: RequestHead, size: Int64, tag: String) {
        let headers = head.headers
        // A range has no meaning to any other method, HEAD among them (section 14.2).
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

    /// One element for each range, nil for one outside of what there is; nil when the field is not well formed.
    private static func parsed(_ text: String, size: Int64) -> [ClosedRange<Int64>?]? {
        guard text.lowercased().hasPrefix("bytes=") else { return nil }
        // Lists may have empty elements (section 5.6.1).
        let elements = text.dropFirst(6).split(separator: ",")
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        var ranges: [ClosedRange<Int64>?] = []
        for element in elements {
            guard let range = Self.range(element, size: size) else { return nil }
            ranges.append(range)
        }
        return ranges.isEmpty ? nil : ranges
    }

    /// The outer nil: not a range; the inner one: outside.
    private static func range(_ text: String, size: Int64) -> ClosedRange<Int64>?? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
            return nil
        }
        switch (Int64(ends[0]), Int64(ends[1])) {
        case (let first?, let last?) where first <= last: return .some(bounded(first, last, size))
        case (let first?, nil) where ends[1].isEmpty: return .some(bounded(first, .max, size))
        case (nil, let suffix?) where ends[0].isEmpty:
            return .some(suffix == 0 ? nil : bounded(max(0, size - suffix), .max, size))
        default: return nil
        }
    }

    private static func bounded(_ first: Int64, _ last: Int64, _ size: Int64) -> ClosedRange<Int64>? {
        first < size ? first...min(last, size - 1) : nil
    }
}
