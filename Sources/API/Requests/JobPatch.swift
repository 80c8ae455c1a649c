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
        let present = spec.patchable(members["headers"]?.objectValue ?? [:])
        var reader = FieldReader(present.merged(with: members, openMembers: Self.openFields))
        var patched = spec
        if fields.contains(.url) {
            let given = try reader.source("url") ?? patched.url
            patched.url = patched.url(shownAs: given) ?? given
            patched.mirrors = []
        }
        let names = fields.map(\.rawValue)
        for member in JobSpec.members where names.contains(member.name) { try member.read(&reader, &patched) }
        patched.endLoss(supplied: fields)
        return patched
    }

    /// The fields whose members the client names.
    private static let openFields: Set = ["headers", "metadata"]
}

extension JobSpec {
    /// The fields whose own members are merged. All other fields are replaced as a whole.
    ///
    /// - Parameter patched: the headers of the patch.
    fileprivate func patchable(_ patched: JSONObject) -> JSONObject {
        [
            "headers": headers.spelled(asIn: patched).request,
            "metadata": metadata.parsed, "destination": destination.document,
        ]
    }
}

extension [HeaderField] {
    /// The headers with the names as a patch spells them, because the case may differ.
    func spelled(asIn patch: JSONObject) -> [HeaderField] {
        map { header in
            let name = patch.names.first { $0.lowercased() == header.name.lowercased() }
            return HeaderField(name: name ?? header.name, value: header.value)
        }
    }
}

extension JSONObject {
    /// Merges objects by RFC 7396, section 2.
    ///
    /// - Parameters:
    ///   - openMembers: the names of objects whose members the client names.
    ///   - isOpen: whether this is such an object, or in one. Then `null` is accepted for a member that does not exist. If not,
    ///     the null stays in the result, and the reader of the result checks whether such a member is allowed.
    func merged(with patch: JSONObject, openMembers: Set<String>, isOpen: Bool = false) -> JSONObject {
        var merged = self
        for (name, value) in patch.members {
            switch value {
            case .null where isOpen || merged[name] != nil: merged[name] = nil
            case .object(let members):
                let present = merged[name]?.objectValue ?? [:]
                let isOpen = isOpen || openMembers.contains(name)
                merged[name] = .object(present.merged(with: members, openMembers: openMembers, isOpen: isOpen))
            default: merged[name] = value
            }
        }
        return merged
    }
}
