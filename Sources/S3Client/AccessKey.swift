/// An access key of S3-compatible storage. No description shows it.
public struct AccessKey: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    public var id: String
    public var secret: String
    /// Of temporary credentials.
    public var sessionToken: String?

    public init(id: String, secret: String, sessionToken: String? = nil) {
        self.id = id
        self.secret = secret
        self.sessionToken = sessionToken
    }

    public var description: String { "access key" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: - Where operators keep it

extension AccessKey {
    /// Why a source has no usable key, as a sentence without any of its values.
    public struct Fault: Error, Sendable, Equatable {
        public let why: String

        public init(why: String) { self.why = why }
    }

    /// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.
    ///
    /// - Returns: nil if none of them is set. An empty variable counts as not set.
    public init?(environment: [String: String]) throws(Fault) {
        let value = { (name: String) in environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let (id, secret) = (value("AWS_ACCESS_KEY_ID"), value("AWS_SECRET_ACCESS_KEY"))
        guard id != nil || secret != nil else { return nil }
        guard let id, let secret else {
            throw Fault(why: "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong together, and one of them is not set.")
        }
        self.init(id: id, secret: secret, sessionToken: value("AWS_SESSION_TOKEN"))
    }

    /// Reads a file in the form of AWS's shared credentials (docs.aws.amazon.com/sdkref, "Shared config and credentials files"): the
    /// section `[default]`, or the only one.
    public init(file text: String) throws(Fault) {
        let sections = try Self.sections(of: text)
        guard let section = sections["default"] ?? (sections.count == 1 ? sections.first?.value : nil) else {
            throw Fault(
                why: sections.isEmpty
                    ? "It has no section, such as [default]." : "It has several sections, and none is [default].")
        }
        guard let id = section["aws_access_key_id"], let secret = section["aws_secret_access_key"] else {
            throw Fault(why: "It has no aws_access_key_id, or no aws_secret_access_key.")
        }
        self.init(id: id, secret: secret, sessionToken: section["aws_session_token"])
    }

    /// Comments begin with `#` or `;`. The names of settings are lower-case words.
    private static func sections(of text: String) throws(Fault) -> [String: [String: String]] {
        var (sections, name): ([String: [String: String]], String?) = ([:], nil)
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = line.trimmed
            guard let first = line.first, first != "#", first != ";" else { continue }
            if first == "[", line.last == "]" {
                let section = String(line.dropFirst().dropLast().trimmed)
                name = section
                sections[section, default: [:]].merge([:]) { $1 }
                continue
            }
            guard let name, let sign = line.firstIndex(of: "=") else {
                throw Fault(why: "Its line \(index + 1) is neither a section, such as [default], nor a setting in one.")
            }
            let value = line[line.index(after: sign)...].trimmed
            if !value.isEmpty { sections[name]?[line[..<sign].trimmed.lowercased()] = String(value) }
        }
        return sections
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let start = drop(while: \.isWhitespace)
        return start.lastIndex { !$0.isWhitespace }.map { start[...$0] } ?? ""
    }
}
