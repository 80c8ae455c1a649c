struct NewDestination: Encodable, Sendable, Equatable {
    var directory: String?
    var filename: String?
    var onConflict: String?
}

extension NewDestination {
    /// - Parameter path: `videos/film.mkv`, or `videos/` for only a folder.
    /// - Returns: nil if neither a path nor a conflict rule is given.
    init?(path: String?, onConflict: ConflictArgument?) {
        self.onConflict = onConflict?.rawValue
        if let path {
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            let folder = parts.dropLast().joined(separator: "/")
            directory = folder.isEmpty ? nil : folder
            filename = parts.last.flatMap { $0.isEmpty ? nil : String($0) }
        }
        if directory == nil, filename == nil, self.onConflict == nil { return nil }
    }
}
