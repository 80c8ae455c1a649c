/// The file in place.
public struct FinishedFile: Sendable, Equatable, Codable {
    /// From the downloads root, `/` between components.
    public var path: String
    /// Bytes.
    public var size: Int64
    /// Lowercase hexadecimal; nil where the job asked for `digest: "none"`.
    public var sha256: String?
    public var contentType: String?
    /// What tells it from whatever else comes to have its path; nil of files that were finished before it was kept.
    public var mark: FileMark?

    public init(path: String, size: Int64, sha256: String?, contentType: String?, mark: FileMark? = nil) {
        self.path = path
        self.size = size
        self.sha256 = sha256
        self.contentType = contentType
        self.mark = mark
    }

    /// Whether what has its path is this file, which may have been written to since, or a faithful copy: one that a move
    /// to another disk or a backup has put there keeps size and time.
    public func isThis(size: Int64, _ found: FileMark) -> Bool {
        guard let mark else { return true }
        return found.isOfSameFile(as: mark) || size == self.size && found.modified == mark.modified
    }
}
