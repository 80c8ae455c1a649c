/// The destination of the file, as the client specified it.
public struct Destination: Sendable, Equatable, Codable {
    /// Relative to the downloads root, with `/` between components; nil: the session's folder, otherwise the root
    /// itself.
    public var directory: String?
    /// A name or a template (`FilenameTemplate`); nil: the name that the response suggests.
    public var filename: String?
    public var onConflict: Conflict?
    public var createDirectories = true

    public init(directory: String? = nil, filename: String? = nil, onConflict: Conflict? = nil) {
        self.directory = directory
        self.filename = filename
        self.onConflict = onConflict
    }

    public init(from decoder: any Decoder) throws {
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        directory = try stored.decodeIfPresent(String.self, forKey: .directory)
        filename = try stored.decodeIfPresent(String.self, forKey: .filename)
        onConflict = try stored.decodeIfPresent(Conflict.self, forKey: .onConflict)
        createDirectories = try stored.decode(.createDirectories, default: true)
    }

    /// What fetchd does if a file with that name exists at promotion.
    public enum Conflict: String, Sendable, Codable, CaseIterable {
        /// The new file is named `name (1).ext`.
        case rename
        /// The job fails with `destination_exists`.
        case error
        /// The new file replaces the existing file.
        case replace
    }
}
