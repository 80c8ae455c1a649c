import Downloads
import Formats
import HTTPSemantics

/// A merge patch of a job (RFC 7396): members that are named replace what is there, `null` takes it away, objects are
/// merged member by member.
struct JobPatch: Sendable {
    let fields: Set<PatchableField>
    private let members: JSONObject

    init(reading reader: inout FieldReader) throws(Problem) {
        members = reader.object
        fields = Set(PatchableField.allCases.filter { reader.object[$0.rawValue] != nil })
        for field in PatchableField.allCases { _ = reader.value(field.rawValue) }
        if reader.object["url"] == .null { throw reader.invalid("url", "cannot be taken away") }
    }

    /// - Throws: 422 for values that the result may not have.
    func applied(to spec: JobSpec) throws(Problem) -> JobSpec {
        var merged = spec.patchable(members["headers"]?.objectValue ?? [:])
        for (name, value) in members.members {
            merged = merged.merged(with: [name: value], isOpen: Self.namedFreely.contains(name))
        }
        var reader = FieldReader(merged)
        var patched = spec
        for field in PatchableField.allCases where fields.contains(field) {
            try patched.take(field, &reader)
        }
        return patched
    }

    /// Those whose members the client names.
    private static let namedFreely: Set = ["headers", "metadata"]
}

extension JobSpec {
    fileprivate mutating func take(_ field: PatchableField, _ reader: inout FieldReader) throws(Problem) {
        switch field {
        case .url:
            url = try reader.source("url") ?? url
            mirrors = []
        case .headers: headers = try reader.headers("headers") ?? []
        case .credentials: credentials = try reader.object("credentials", Credentials.init(reading:))
        case .priority: priority = try reader.choice("priority", of: Priority.self)
        case .rateLimit: rateLimit = try reader.bytesPerSecond("rate_limit_bytes_per_second")
        case .connections: connections = try reader.connections("connections")
        case .metadata: metadata = try reader.metadata("metadata") ?? Metadata()
        case .notBefore: notBefore = try reader.time("not_before")
        case .deadline: deadline = try reader.time("deadline")
        case .waitFor: waitFor = try reader.choices("wait_for", of: WaitFor.self)
        case .destination:
            destination = try reader.object("destination", Destination.init(reading:)) ?? Destination()
        }
    }

    /// Those members whose own members are merged; the others are replaced whole.
    ///
    /// - Parameter patched: headers by the names that the patch has for them, which need not be spelt in the same case.
    fileprivate func patchable(_ patched: JSONObject) -> JSONObject {
        let headers = headers.reduce(into: JSONObject()) { known, header in
            let name = patched.names.first { $0.lowercased() == header.name.lowercased() } ?? header.name
            known[name] = .string(header.value)
        }
        return [
            "headers": .object(headers),
            "metadata": metadata.parsed, "destination": destination.document,
        ]
    }
}

extension JSONObject {
    /// RFC 7396, section 2.
    ///
    /// - Parameter isOpen: whether a member that is not there may be taken away. Else the null is left to whoever reads the
    ///   result, who knows whether there can be such a member.
    func merged(with patch: JSONObject, isOpen: Bool) -> JSONObject {
        var merged = self
        for (name, value) in patch.members {
            switch value {
            case .null where isOpen || merged[name] != nil: merged[name] = nil
            case .object(let members):
                merged[name] = .object((merged[name]?.objectValue ?? [:]).merged(with: members, isOpen: isOpen))
            default: merged[name] = value
            }
        }
        return merged
    }
}
