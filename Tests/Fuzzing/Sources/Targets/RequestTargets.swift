import Downloads
import Foundation
import HTTPTypes

@testable import API
@testable import Formats
@testable import HTTPServer

/// Targets, queries and fields of requests.
extension FuzzTarget {
    static let query = FuzzTarget.text("query") { text in
        let decoded = text.percentDecoded
        if let decoded, !decoded.utf8.contains(0) {
            require(decoded == text.removingPercentEncoding, "Foundation decodes it differently")
        }
        require((decoded?.utf8.count ?? 0) <= text.utf8.count, "the decoded text is longer")
        guard var query = try? Query(text) else {
            require(
                text.split(separator: "&").contains { $0.replacing("+", with: " ").percentDecoded == nil },
                "refused")
            return
        }
        _ = try? query.limit()
        if let name = try? query.name("session") { require(name.text.utf8.count <= 128, "the name is too long") }
        if let number = try? query.integer("after", in: 0...100) {
            require((0...100).contains(number), "out of range")
        }
        _ = try? query.finish()
    }

    /// A position comes back as it was; no other text is accepted but the one that is written.
    static let cursor = FuzzTarget.text("cursor") { text in
        require((try? Cursor.position(Cursor.text(text))) == text, "the position changed")
        guard let position = try? Cursor.position(text) else { return }
        require((try? Cursor.position(Cursor.text(position))) == position, "the position changed")
    }

    static let entityTag = FuzzTarget.text("entity-tag") { text in
        guard let tag = JobETag(text) else { return }
        require(JobETag(tag.text)?.revision == tag.revision, "the revision changed")
        if tag.progress != nil { require(text.hasSuffix(tag.text), "the tag has another form") }
    }

    static let requestedRanges = FuzzTarget("requested-ranges") { bytes in
        let size = Int64(bytes.count) * 1_000
        let head = RequestHead(method: .get, target: "/", headers: [.range: String(decoding: bytes, as: UTF8.self)])
        switch RequestedRanges(of: head, size: size, tag: "") {
        case .whole, .unsatisfiable: break
        case .parts(let parts):
            require((1...32).contains(parts.count), "too many ranges")
            for part in parts { require(part.lowerBound >= 0 && part.upperBound < size, "a range outside the file") }
            require(parts.count == 1 || parts.reduce(0) { $0 + Int64($1.count) } <= size, "more than the file")
        }
    }

    static let requestTarget = FuzzTarget.text("request-target") { text in
        for method in [HTTPRequest.Method.get, .options, .connect] {
            guard let target = RequestTarget(text, method) else { continue }
            require(method != .connect, "CONNECT")
            require(
                target.local.utf8.first == UInt8(ascii: "/") || target.local == "*" && method == .options, "not a path")
            require(!target.local.utf8.contains { $0 <= 0x20 || $0 == 0x7F }, "a control character")
            if let authority = target.authority {
                require(!authority.isEmpty && !authority.utf8.contains { "/?".utf8.contains($0) }, "not a host")
            } else {
                require(target.local == text, "the path changed")
            }
        }
    }
}
