/// Where the file goes.
public struct Destination: Sendable, Equatable, Codable {
    /// Below the downloads root, `/` between components; nil: the session's, else the root itself.
    public var directory: String?
    /// nil: what the response suggests.
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

    /// When the name is occupied at promotion.
    public enum Conflict: String, Sendable, Codable, CaseIterable {
        /// `name (1).ext`
        case rename
        /// The job fails with `destination_exists`.
        case error
        /// The file that was there is gone.
        case replace
    }
}
