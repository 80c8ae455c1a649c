import Formats

/// The result of an import.
struct ImportSummary: Sendable {
    var added: [String] = []
    /// The number of jobs, sessions and webhooks that the service has already.
    var present = 0
    var sessions = 0
    var webhooks = 0
    /// What was not imported, and why.
    var failures: [Remark] = []
    /// What was imported with a difference.
    var remarks: [Remark] = []

    struct Remark: Sendable, Equatable {
        /// `line 12`
        var place: String
        var text: String

        var json: JSON { ["place": .string(place), "text": .string(text)] }
    }

    mutating func fail(_ place: String, _ text: String) { failures.append(Remark(place: place, text: text)) }
    mutating func remark(_ place: String, _ text: String) { remarks.append(Remark(place: place, text: text)) }

    var document: JSONText {
        JSONText(
            [
                "added": .strings(added), "present": .count(present), "sessions": .count(sessions),
                "webhooks": .count(webhooks), "failures": .array(failures.map(\.json)),
                "remarks": .array(remarks.map(\.json)),
            ] as JSON)
    }

    /// - Parameter isRehearsed: whether nothing was sent to the service.
    func sentence(isRehearsed: Bool) -> String {
        let verb = isRehearsed ? "would be added" : "added"
        var parts = ["\(Self.counted(added.count, "job")) \(verb)"]
        if sessions > 0 { parts.append("\(Self.counted(sessions, "session")) declared") }
        if webhooks > 0 { parts.append("\(Self.counted(webhooks, "webhook")) declared") }
        if present > 0 { parts.append("\(present) already there") }
        if !failures.isEmpty { parts.append("\(failures.count) not imported") }
        return parts.joined(separator: ", ") + "."
    }

    private static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}

extension Console {
    /// Prints the result of an import: what was not imported first, on standard error.
    func print(_ summary: ImportSummary, isRehearsed: Bool) throws(ClientError) {
        if isJSON { return try print(summary.document) }
        for failure in summary.failures { say("Not imported: \(failure.place): \(failure.text)") }
        for remark in summary.remarks { say("\(remark.place): \(remark.text)") }
        try print(summary.sentence(isRehearsed: isRehearsed))
    }
}
