import Foundation
import HTTPServer
import HTTPTypes

/// The preferences of a client about waiting, and the versions that it has.
extension RequestContext {
    /// Seconds that the client would wait for news (`Prefer: wait=10`, RFC 7240, section 4.3), cut to the most that there
    /// is; nil where it did not say so, or not in a way that is understood: a preference is no demand.
    var preferredWait: Int? {
        let preferences = (head.headers[.prefer] ?? "").split(separator: ",")
        let wait = preferences.lazy.compactMap(Self.wait).first
        return wait.map { min($0, Self.longestWait) }
    }

    /// Seconds.
    static let longestWait = 30

    /// Whether it may take longer because the client wants it so.
    var asksToWait: Bool { head.headers[.prefer] != nil || head.query?.contains("wait=") == true }

    /// Of one preference with its parameters; the first counts where one is repeated (RFC 7240, section 2).
    private static func wait(_ preference: Substring) -> Int? {
        let halves = preference.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        guard halves.count == 2, halves[0].lowercased() == "wait" else { return nil }
        let digits = halves[1].trimmingCharacters(in: CharacterSet(charactersIn: "\""))
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(digits) ?? Self.longestWait
    }

    /// The versions that the client has (`If-None-Match`); nil without the field.
    var knownVersions: KnownVersions? { head.headers[.ifNoneMatch].map { KnownVersions($0) } }

    /// Whether it asks for a stream of events, and for nothing else rather (RFC 9110, section 12.5.1).
    var wantsEventStream: Bool {
        let accepted = (head.headers[.accept] ?? "").split(separator: ",").map { AcceptedType($0) }
        guard let stream = accepted.first(where: { $0.name == "text/event-stream" }), stream.weight > 0 else {
            return false
        }
        return !accepted.contains { $0.name == "application/json" && $0.weight > stream.weight }
    }
}

/// One member of an `Accept`.
private struct AcceptedType {
    let name: String
    /// From 0, not acceptable, to 1.
    var weight = 1.0

    init(_ member: Substring) {
        let parts = member.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        name = parts.first ?? ""
        for part in parts.dropFirst() where part.hasPrefix("q=") { weight = Double(part.dropFirst(2)) ?? 1 }
    }
}

/// What an `If-None-Match` lists (RFC 9110, section 13.1.2). Tags that are none of ours match nothing.
enum KnownVersions {
    case any
    case tags([JobETag])

    init(_ field: String) {
        let entries = field.split(separator: ",").map(Self.withoutOuterSpace)
        self = entries.contains("*") ? .any : .tags(entries.compactMap { JobETag(String($0)) })
    }

    private static func withoutOuterSpace(_ entry: Substring) -> Substring {
        func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let bytes = entry.utf8.drop(while: isSpace)
        return bytes.lastIndex { !isSpace($0) }.map { Substring(bytes.prefix(through: $0)) } ?? ""
    }

    /// A tag without progress knows the revision, however far the job has come since.
    func include(_ tag: JobETag) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags):
            tags.contains { $0.revision == tag.revision && ($0.progress == nil || $0.progress == tag.progress) }
        }
    }
}

extension HTTPField.Name {
    static let prefer = HTTPField.Name("Prefer")!
    static let preferenceApplied = HTTPField.Name("Preference-Applied")!
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
}
