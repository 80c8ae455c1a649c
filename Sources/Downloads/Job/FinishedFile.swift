/// The downloaded file at its destination.
public struct FinishedFile: Sendable, Equatable, Codable {
    /// Relative to the downloads root, with `/` between components.
    public var path: String
    /// In bytes.
    public var size: Int64
    /// Lowercase hexadecimal; nil if the job specified `digest: "none"`.
    public var sha256: String?
    public var contentType: String?
    /// Distinguishes the file from another file that later has the same path. nil for files that were finished by a
    /// version that did not store the mark.
    public var mark: FileMark?

    public init(path: String, size: Int64, sha256: String?, contentType: String?, mark: FileMark? = nil) {
        self.path = path
        self.size = size
        self.sha256 = sha256
        self.contentType = contentType
        self.mark = mark
    }

    /// Whether the file found at the path is this file (possibly modified since) or a faithful copy of it. A copy that
    /// was moved from another disk or restored from a backup keeps size and time. Without a stored mark, every file
    /// counts as this one.
    public func isThis(size: Int64, _ found: FileMark) -> Bool {
        guard let mark else { return true }
        return found.isOfSameFile(as: mark) || size == self.size && found.modified == mark.modified
    }
}
