import Downloads
import Formats
import Foundation
import HTTPSemantics

/// Reads the values that several documents have, and checks each by its rule.
extension FieldReader {
    mutating func url(_ name: String) throws(Problem) -> String? {
        guard let url = try string(name) else { return nil }
        if let fault = URLRule.fault(in: url) { throw invalid(name, fault) }
        return URLRule.normalized(url)
    }

    /// The source of a download: a URL, or a rehearsal.
    mutating func source(_ name: String) throws(Problem) -> String? {
        guard let text = try string(name) else { return nil }
        if let fault = Self.fault(inSource: text) { throw invalid(name, fault) }
        return Self.normalized(source: text)
    }

    static func fault(inSource text: String) -> String? {
        Rehearsal.isRehearsal(text) ? Rehearsal.fault(in: text) : URLRule.fault(in: text)
    }

    static func normalized(source text: String) -> String {
        Rehearsal.isRehearsal(text) ? text : URLRule.normalized(text)
    }

    /// - Parameter fault: the rule for one header.
    mutating func headers(
        _ name: String, rule fault: (HeaderField) -> String? = \.fault
    ) throws(Problem) -> [HeaderField]? {
        guard let value = value(name) else { return nil }
        guard let object = value.objectValue else { throw invalid(name, "must be an object of strings") }
        guard object.members.count <= 64 else { throw invalid(name, "has more than 64 headers") }
        let reader = FieldReader(object, at: pointer(to: name))
        var fields: [HeaderField] = []
        for member in object.members {
            guard let text = member.value.stringValue else { throw reader.invalid(member.name, "must be a string") }
            let field = HeaderField(name: member.name, value: text)
            if let fault = fault(field) { throw reader.invalid(member.name, fault) }
            fields.append(field)
        }
        return fields
    }

    /// A rate of at least 1.
    mutating func bytesPerSecond(_ name: String) throws(Problem) -> Int64? {
        try integer(name, in: 1...(1 << 40))
    }

    /// The number of connections to one file.
    mutating func connections(_ name: String) throws(Problem) -> Int? {
        try integer(name, in: 1...Int64(JobSpec.mostConnections)).map(Int.init)
    }

    /// A time in RFC 3339, rounded to a millisecond.
    mutating func time(_ name: String) throws(Problem) -> Date? {
        guard let text = try string(name) else { return nil }
        guard let date = Date(rfc3339: text) else {
            throw invalid(name, "must be a time such as 2019-08-19T15:23:14Z (RFC 3339)")
        }
        return Date(milliseconds: date.milliseconds)
    }

    mutating func directory(_ name: String) throws(Problem) -> String? {
        guard let path = try string(name) else { return nil }
        if let fault = FilePathRule.fault(inDirectory: path) { throw invalid(name, fault) }
        return path
    }

    /// A file name, or a template for one.
    mutating func filename(_ name: String) throws(Problem) -> String? {
        guard let filename = try string(name) else { return nil }
        if let fault = FilenameTemplate.fault(in: filename) { throw invalid(name, fault) }
        return filename
    }

    mutating func tags(_ name: String) throws(Problem) -> [String]? {
        guard let tags = try strings(name) else { return nil }
        guard tags.count <= 32, tags.allSatisfy({ (1...128).contains($0.utf8.count) }) else {
            throw invalid(name, "may contain at most 32 tags of 1 to 128 bytes each")
        }
        guard Set(tags).count == tags.count else { throw invalid(name, "contains a tag twice") }
        return tags
    }

    mutating func metadata(_ name: String) throws(Problem) -> Metadata? {
        guard let value = value(name) else { return nil }
        guard let object = value.objectValue else { throw invalid(name, "must be an object") }
        let metadata = Metadata(object)
        guard metadata.size <= Metadata.limit else { throw invalid(name, "is larger than \(Metadata.limit) bytes") }
        return metadata
    }

    /// A required event identifier.
    ///
    /// - Parameter what: the meaning of the number, as the end of a sentence.
    mutating func eventNumber(_ name: String, _ what: String) throws(Problem) -> EventID {
        guard let number = try integer(name, in: 0...Int64.max) else { throw missing(name, what) }
        return number
    }

    mutating func eventPatterns(_ name: String) throws(Problem) -> [EventPattern]? {
        guard let texts = try strings(name) else { return nil }
        guard !texts.isEmpty, Set(texts).count == texts.count else {
            throw invalid(name, "must name at least one type of event, each once")
        }
        var patterns: [EventPattern] = []
        for text in texts {
            guard let pattern = EventPattern(text) else {
                let types = EventType.allCases.map(\.rawValue).joined(separator: ", ")
                throw invalid(
                    name, "contains '\(text)', which matches no event type; use job.*, session.*, webhook.*, \(types)")
            }
            patterns.append(pattern)
        }
        return patterns
    }
}
