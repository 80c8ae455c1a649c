import Foundation
import HTTPServer
import HTTPTypes

/// The waiting preferences of a client, and the versions that it knows.
extension RequestContext {
    /// Seconds that the client is willing to wait for a change (`Prefer: wait=10`, RFC 7240, section 4.3), limited to
    /// `longestWait`. nil without the preference, or if it is invalid: a preference must not cause an error.
    var preferredWait: Int? {
        let preferences = (head.headers[.prefer] ?? "").split(separator: ",")
        let wait = preferences.lazy.compactMap(Self.wait).first
        return wait.map { min($0, Self.longestWait) }
    }

    /// Seconds.
    static let longestWait = 30

    /// Whether the client may have asked to wait: it sends `Prefer`, or the query contains `wait=`.
    var asksToWait: Bool { head.headers[.prefer] != nil || head.query?.contains("wait=") == true }

    /// The seconds of one preference with its parameters; nil for another preference. If the preference is repeated,
    /// the caller uses the first (RFC 7240, section 2).
    private static func wait(_ preference: Substring) -> Int? {
        let halves = preference.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        guard halves.count == 2, halves[0].lowercased() == "wait" else { return nil }
        let digits = halves[1].trimmingCharacters(in: CharacterSet(charactersIn: "\""))
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(digits) ?? Self.longestWait
    }

    /// The versions that the client knows (`If-None-Match`); nil without the field.
    var knownVersions: KnownVersions? { head.headers[.ifNoneMatch].map { KnownVersions($0) } }

    /// Whether the client accepts a stream of events and does not prefer JSON (RFC 9110, section 12.5.1). With equal
    /// weights, the first one counts: generated clients list all described media types, and can only read the page.
    var wantsEventStream: Bool {
        let accepted = (head.headers[.accept] ?? "").split(separator: ",").map { AcceptedType($0) }
        let readable = accepted.filter { ["application/json", "text/event-stream"].contains($0.name) && $0.weight > 0 }
        let heaviest = readable.map(\.weight).max()
        return readable.first { $0.weight == heaviest }?.name == "text/event-stream"
    }
}

/// One member of an `Accept` field.
private struct AcceptedType {
    let name: String
    /// The weight, from 0 (not acceptable) to 1.
    var weight = 1.0

    init(_ member: Substring) {
        let parts = member.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        name = parts.first ?? ""
        for part in parts.dropFirst() where part.hasPrefix("q=") { weight = Double(part.dropFirst(2)) ?? 1 }
    }
}

/// The versions of an `If-None-Match` field (RFC 9110, section 13.1.2). A tag that fetchd has not sent matches nothing.
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

    /// A tag without progress matches every progress of its revision.
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
