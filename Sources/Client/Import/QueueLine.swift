import Formats

/// One line of a file of `fetchd export`.
enum QueueLine: Sendable {
    case header
    case session(name: String, configuration: JSON, missing: [String])
    case webhook(session: String, name: String, declaration: JSON, missing: [String])
    case job(ImportedJob)

    /// Why a line cannot be read: a sentence.
    struct Fault: Error, Equatable { var reason: String }

    /// The latest form of the file that this program reads.
    static let version: Int64 = 1

    init(_ text: some Collection<UInt8>, place: String) throws(Fault) {
        let parsed: JSON
        do { parsed = try JSON(parsing: Array(text)) } catch { throw Fault(reason: "It is no JSON: \(error)") }
        guard let object = parsed.objectValue, let kind = object["kind"]?.stringValue else {
            throw Fault(reason: "It is no object with the member kind.")
        }
        let missing = (object["missing"]?.arrayValue ?? []).compactMap(\.stringValue)
        switch kind {
        case "fetchd-export":
            guard let version = object["version"]?.integerValue, version <= Self.version else {
                throw Fault(reason: "A newer version of fetchd has written the file.")
            }
            self = .header
        case "session":
            self = .session(
                name: try Self.text("id", object), configuration: try Self.member("configuration", object),
                missing: missing)
        case "webhook":
            self = .webhook(
                session: try Self.text("session", object), name: try Self.text("name", object),
                declaration: try Self.member("declaration", object), missing: missing)
        case "job":
            guard let body = try Self.member("request", object).objectValue else {
                throw Fault(reason: "The member request must be an object.")
            }
            self = .job(
                ImportedJob(
                    place: place, origin: try Self.text("id", object), body: body,
                    isPaused: object["state"]?.stringValue == "paused", missing: missing))
        case _: throw Fault(reason: "The kind \(Printable(kind)) is not known.")
        }
    }

    private static func member(_ name: String, _ object: JSONObject) throws(Fault) -> JSON {
        guard let value = object[name] else { throw Fault(reason: "The member \(name) is missing.") }
        return value
    }

    private static func text(_ name: String, _ object: JSONObject) throws(Fault) -> String {
        guard let text = object[name]?.stringValue else { throw Fault(reason: "The member \(name) must be a string.") }
        return text
    }
}
