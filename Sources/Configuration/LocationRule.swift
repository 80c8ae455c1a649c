import Downloads
import Formats
import Foundation

/// A named place for files, as the setting `location` declares it: `films=/mnt/films`, with parameters after a `?`.
public struct LocationRule: Sendable, Equatable {
    public let name: Name
    /// Absolute.
    public let path: String
    /// The folder in which the parts grow, also absolute; nil: `.incomplete` in the path.
    public let incompletePath: String?
    /// Bytes that downloads leave free on the file system of the parts; nil: as the service.
    public let minimumFreeBytes: Int64?
    /// nil: as the service.
    public let fileMode: UInt32?
    public let directoryMode: UInt32?
    /// As it was declared.
    let text: String

    private enum Parameter: String, CaseIterable {
        case incomplete
        case minimumFreeBytes = "minimum_free_bytes"
        case fileMode = "file_mode"
        case directoryMode = "directory_mode"
    }

    /// - Throws: the end of a sentence that begins with the text.
    init(_ text: String) throws(ValueFault) {
        self.text = text
        let (declared, target) = try Self.halves(
            of: text, at: "=", or: "has no '='; write a name and a path, such as films=/mnt/films")
        guard let name = Name(declared), name != .default else {
            throw ValueFault(
                declared == Name.default.text
                    ? "is for the downloads folder, which --downloads-dir declares"
                    : "has no name of 1 to 128 of the characters A-Z a-z 0-9 . _ - before the '='")
        }
        self.name = name
        let question = target.firstIndex(of: "?")
        path = try Self.path(String(target[..<(question ?? target.endIndex)]))
        let parameters = try question.map { question throws(ValueFault) in
            try Self.parameters(in: target[target.index(after: question)...])
        }
        incompletePath = try parameters?[.incomplete].map { text throws(ValueFault) in try Self.path(text) }
        minimumFreeBytes = try parameters?[.minimumFreeBytes].map { text throws(ValueFault) in
            guard let bytes = Quantity.bytes(text) else {
                throw ValueFault("has the minimum_free_bytes '\(text)'; it takes bytes such as 500M or 2Gi")
            }
            return bytes
        }
        fileMode = try parameters?[.fileMode].map { text throws(ValueFault) in
            try Grammar<UInt32>.fileMode.read(.string(text))
        }
        directoryMode = try parameters?[.directoryMode].map { text throws(ValueFault) in
            try Grammar<UInt32>.directoryMode.read(.string(text))
        }
    }

    private static func parameters(in query: Substring) throws(ValueFault) -> [Parameter: String] {
        var parameters: [Parameter: String] = [:]
        for field in query.split(separator: "&") {
            let (name, encoded) = try halves(
                of: String(field), at: "=", or: "has the parameter '\(field)' without a value")
            guard let parameter = Parameter(rawValue: name) else {
                let known = Parameter.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValueFault("has the parameter '\(name)'; the parameters of a folder are \(known)")
            }
            guard let value = encoded.removingPercentEncoding, parameters.updateValue(value, forKey: parameter) == nil
            else { throw ValueFault("has the parameter '\(name)' twice, or with a wrong percent-encoding") }
        }
        return parameters
    }

    private static func halves(
        of text: String, at separator: Character, or fault: @autoclosure () -> String
    ) throws(ValueFault) -> (String, String) {
        guard let index = text.firstIndex(of: separator) else { throw ValueFault(fault()) }
        return (String(text[..<index]), String(text[text.index(after: index)...]))
    }

    private static func path(_ text: String) throws(ValueFault) -> String {
        guard !text.isEmpty, !text.utf8.contains(0) else { throw ValueFault("has an empty path") }
        guard !text.contains("://") else {
            throw ValueFault("has the path '\(text)'; a location is a folder of this machine")
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
                throw ValueFault("contains '\(text)', which \(error.why)")
            }
        }
        return rules
    } write: {
        $0.map(\.text)
    }
}

extension LocationRule {
    /// Two locations in one folder would take each other's parts for their own.
    fileprivate func requireDisjoint(from others: [LocationRule]) throws(ValueFault) {
        for other in others {
            guard name != other.name else { throw ValueFault("has a name that another location has") }
            try requireOtherFolders(
                than: [other.path, other.incompletePath].compactMap(\.self), of: "location \(other.name)")
        }
        if let incompletePath { try Self.require(incompletePath, notShownIn: path) }
    }

    /// - Parameter owner: what has the folders, for the error.
    func requireOtherFolders(than folders: [String], of owner: String) throws(ValueFault) {
        guard [path, incompletePath].allSatisfy({ path in path.map { !folders.contains($0) } ?? true }) else {
            throw ValueFault("has a folder that \(owner) has, too")
        }
        for folder in folders { if let incompletePath { try Self.require(incompletePath, notShownIn: folder) } }
    }

    /// A folder of parts below the files of jobs would be a folder of jobs as well, unless its name is hidden from them.
    private static func require(_ incomplete: String, notShownIn path: String) throws(ValueFault) {
        guard incomplete == path || incomplete.hasPrefix(path == "/" ? path : path + "/") else { return }
        guard incomplete.dropFirst(path.count).contains("/.") else {
            throw ValueFault(
                "has the incomplete folder \(incomplete) below \(path), where the files of jobs go; choose another, or a hidden name such as \(path)/.parts"
            )
        }
    }
}
