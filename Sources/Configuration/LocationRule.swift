import Downloads
import Formats
import Foundation

/// A named place for files, as the setting `location` declares it: `films=/mnt/films` or `archive=s3://bucket/prefix`, with parameters
/// after a `?`.
public struct LocationRule: Sendable, Equatable {
    public enum Place: Sendable, Equatable {
        case folder(FolderRule)
        case bucket(BucketRule)
    }

    public let name: Name
    public let place: Place
    /// As it was declared.
    let text: String

    /// - Throws: the end of a sentence that begins with the text.
    init(_ text: String) throws(ValueFault) {
        self.text = text
        let (declared, target) = try LocationParameters.halves(
            of: text, at: "=", or: "has no '='; write a name and a path, such as films=/mnt/films")
        guard let name = Name(declared), name != .default else {
            throw ValueFault(
                declared == Name.default.text
                    ? "is for the downloads folder, which --downloads-dir declares"
                    : "has no name of 1 to 128 of the characters A-Z a-z 0-9 . _ - before the '='")
        }
        self.name = name
        let question = target.firstIndex(of: "?") ?? target.endIndex
        let parameters = try LocationParameters(target[question...].dropFirst())
        place =
            if target.hasPrefix(BucketRule.scheme) {
                .bucket(try BucketRule(target[..<question].dropFirst(BucketRule.scheme.count), parameters))
            } else {
                .folder(try FolderRule(String(target[..<question]), parameters))
            }
    }

    /// nil: the location is a bucket.
    public var folder: FolderRule? { if case .folder(let folder) = place { folder } else { nil } }

    /// nil: the location is a folder.
    public var bucket: BucketRule? { if case .bucket(let bucket) = place { bucket } else { nil } }
}

/// The parameters behind the `?` of a location.
struct LocationParameters {
    private var values: [String: String] = [:]

    init(_ query: Substring) throws(ValueFault) {
        for field in query.split(separator: "&") {
            let (name, encoded) = try Self.halves(
                of: String(field), at: "=", or: "has the parameter '\(field)' without a value")
            guard let value = encoded.removingPercentEncoding, values.updateValue(value, forKey: name) == nil
            else { throw ValueFault("has the parameter '\(name)' twice, or with a wrong percent-encoding") }
        }
    }

    subscript(name: some RawRepresentable<String>) -> String? { values[name.rawValue] }

    /// - Parameter owner: what has the parameters, for the error.
    func require<Known: RawRepresentable<String> & CaseIterable>(
        _ known: Known.Type, of owner: String
    ) throws(ValueFault) {
        let names = known.allCases.map(\.rawValue)
        guard let other = values.keys.sorted().first(where: { !names.contains($0) }) else { return }
        throw ValueFault(
            "has the parameter '\(other)'; the parameters of \(owner) are \(names.joined(separator: ", "))")
    }

    static func halves(
        of text: String, at separator: Character, or fault: @autoclosure () -> String
    ) throws(ValueFault) -> (String, String) {
        guard let index = text.firstIndex(of: separator) else { throw ValueFault(fault()) }
        return (String(text[..<index]), String(text[text.index(after: index)...]))
    }
}

/// A location that is a folder of this machine.
public struct FolderRule: Sendable, Equatable {
    /// Absolute.
    public let path: String
    /// The folder in which the parts grow, also absolute; nil: `.incomplete` in the path.
    public let incompletePath: String?
    /// Bytes that downloads leave free on the file system of the parts; nil: as the service.
    public let minimumFreeBytes: Int64?
    /// nil: as the service.
    public let fileMode: UInt32?
    public let directoryMode: UInt32?

    private enum Parameter: String, CaseIterable {
        case incomplete
        case minimumFreeBytes = "minimum_free_bytes"
        case fileMode = "file_mode"
        case directoryMode = "directory_mode"
    }

    init(_ path: String, _ parameters: LocationParameters) throws(ValueFault) {
        self.path = try Self.path(path)
        try parameters.require(Parameter.self, of: "a folder")
        incompletePath = try parameters[Parameter.incomplete].map { text throws(ValueFault) in try Self.path(text) }
        minimumFreeBytes = try parameters[Parameter.minimumFreeBytes].map { text throws(ValueFault) in
            guard let bytes = Quantity.bytes(text) else {
                throw ValueFault("has the minimum_free_bytes '\(text)'; it takes bytes such as 500M or 2Gi")
            }
            return bytes
        }
        fileMode = try parameters[Parameter.fileMode].map { text throws(ValueFault) in
            try Grammar<UInt32>.fileMode.read(.string(text))
        }
        directoryMode = try parameters[Parameter.directoryMode].map { text throws(ValueFault) in
            try Grammar<UInt32>.directoryMode.read(.string(text))
        }
    }

    private static func path(_ text: String) throws(ValueFault) -> String {
        guard !text.isEmpty, !text.utf8.contains(0) else { throw ValueFault("has an empty path") }
        guard !text.contains("://") else {
            throw ValueFault("has the path '\(text)'; a location is a folder of this machine, or an s3:// bucket")
        }
        guard let expanded = text.expandingHome() else {
            throw ValueFault(
                "has the path '\(text)', and fetchd knows only the home folder of its own user (~/)")
        }
        return AbsolutePath.of(expanded)
    }
}

extension Grammar<[LocationRule]> {
    static let locations = texts(separator: ";") { texts throws(ValueFault) in
        var rules: [LocationRule] = []
        for text in texts {
            do throws(ValueFault) {
                let rule = try LocationRule(text)
                try rule.requireDisjoint(from: rules)
                rules.append(rule)
            } catch {
                // A user and a password do not belong there, and are not shown.
                let shown = text.replacing(#/:\/\/[^\/?]*@/#, with: "://(not shown)@")
                throw ValueFault("contains '\(shown)', which \(error.why)")
            }
        }
        return rules
    } write: {
        $0.map(\.text)
    }
}

extension LocationRule {
    /// Two locations in one folder would take each other's parts for their own. Two in one bucket could not tell whose uploads are
    /// left over.
    fileprivate func requireDisjoint(from others: [LocationRule]) throws(ValueFault) {
        for other in others {
            guard name != other.name else { throw ValueFault("has a name that another location has") }
            if let bucket, let other = other.bucket, bucket.isSamePlace(as: other) {
                throw ValueFault("has a bucket and a prefix that another location has, too")
            }
            guard let folder, let others = other.folder else { continue }
            try folder.requireOtherFolders(
                than: [others.path, others.incompletePath].compactMap(\.self), of: "location \(other.name)")
        }
        if let folder, let incomplete = folder.incompletePath {
            try FolderRule.require(incomplete, notShownIn: folder.path)
        }
    }
}

extension FolderRule {
    /// - Parameter owner: what has the folders, for the error.
    func requireOtherFolders(than folders: [String], of owner: String) throws(ValueFault) {
        guard [path, incompletePath].allSatisfy({ path in path.map { !folders.contains($0) } ?? true }) else {
            throw ValueFault("has a folder that \(owner) has, too")
        }
        for folder in folders { if let incompletePath { try Self.require(incompletePath, notShownIn: folder) } }
    }

    /// A folder of parts below the files of jobs would be a folder of jobs as well, unless its name is hidden from them.
    fileprivate static func require(_ incomplete: String, notShownIn path: String) throws(ValueFault) {
        guard incomplete == path || incomplete.hasPrefix(path == "/" ? path : path + "/") else { return }
        guard incomplete.dropFirst(path.count).contains("/.") else {
            throw ValueFault(
                "has the incomplete folder \(incomplete) below \(path), where the files of jobs go; choose another, or a hidden name such as \(path)/.parts"
            )
        }
    }
}
