import Downloads
import Formats
import HTTPSemantics

/// A merge patch of a job (RFC 7396): a named member replaces the present value, `null` removes the value, and objects
/// are merged member by member.
struct JobPatch: Sendable {
    let fields: Set<PatchableField>
    private let members: JSONObject

    init(reading reader: inout FieldReader) throws(Problem) {
        members = reader.object
        fields = Set(PatchableField.allCases.filter { reader.object[$0.rawValue] != nil })
        for field in PatchableField.allCases { _ = reader.value(field.rawValue) }
        if reader.object["url"] == .null { throw reader.invalid("url", "cannot be removed") }
    }

    /// - Throws: 422 when a resulting value is not allowed.
    func applied(to spec: JobSpec) throws(Problem) -> JobSpec {
        var merged = spec.patchable(members["headers"]?.objectValue ?? [:])
        for (name, value) in members.members {
            merged = merged.merged(with: [name: value], isOpen: Self.openFields.contains(name))
        }
        var reader = FieldReader(merged)
        var patched = spec
        for field in PatchableField.allCases where fields.contains(field) {
            try patched.take(field, &reader)
        }
        patched.endLoss(supplied: fields)
        return patched
    }

    /// The fields whose members the client names.
    private static let openFields: Set = ["headers", "metadata"]
}

extension JobSpec {
    fileprivate mutating func take(_ field: PatchableField, _ reader: inout FieldReader) throws(Problem) {
        switch field {
        case .url:
            let given = try reader.source("url") ?? url
            url = self.url(shownAs: given) ?? given
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

    /// The fields whose own members are merged. All other fields are replaced as a whole.
    ///
    /// - Parameter patched: the headers of the patch. A header of the job takes the patch's spelling of its name,
    ///   because the case may differ.
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
    /// Merges objects by RFC 7396, section 2.
    ///
    /// - Parameter isOpen: whether `null` is accepted for a member that does not exist. If not, the null stays in the
    ///   result, and the reader of the result checks whether such a member is allowed.
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
