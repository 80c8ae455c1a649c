import Foundation
import HTTPTypes

/// The first and last byte that a `Range` asks for (RFC 9110, section 14).
enum ByteRange: Equatable {
    case whole
    case part(ClosedRange<Int64>)
    case unsatisfiable

    /// Anything but one well-formed byte range under a matching `If-Range` is answered with the whole, as the RFC allows.
    static func requested(_ headers: HTTPFields, size: Int64, tag: String) -> ByteRange {
        guard let text = headers[.range], headers[.ifRange].map({ $0 == tag }) ?? true else { return .whole }
        guard text.hasPrefix("bytes=") else { return .whole }
        let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
            return .whole
        }
        switch (Int64(ends[0]), Int64(ends[1])) {
        case (let first?, let last?) where first <= last: return bounded(first, last, size)
        case (let first?, nil) where ends[1].isEmpty: return bounded(first, .max, size)
        case (nil, let suffix?) where ends[0].isEmpty:
            return suffix == 0 ? .unsatisfiable : bounded(max(0, size - suffix), .max, size)
        default: return .whole
        }
    }

    private static func bounded(_ first: Int64, _ last: Int64, _ size: Int64) -> ByteRange {
        first < size ? .part(first...min(last, size - 1)) : .unsatisfiable
    }
}
