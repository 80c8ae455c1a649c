/// The destination of a file, with the session's defaults applied. Only the file name may still depend on the response.
public struct Place: Sendable, Equatable {
    /// Relative to the downloads root; empty is the root itself.
    public var directory: String
    /// A name or a template; nil: the name that the response suggests.
    public var filename: String?
    public var conflict: Destination.Conflict
    public var createDirectories: Bool

    public init(directory: String, filename: String?, conflict: Destination.Conflict, createDirectories: Bool) {
        self.directory = directory
        self.filename = filename
        self.conflict = conflict
        self.createDirectories = createDirectories
    }

    /// The place that a job specifies. This place supplies the members that the job leaves out.
    public func specified(by destination: Destination) -> Place {
        Place(
            directory: destination.directory ?? directory, filename: destination.filename ?? filename,
            conflict: destination.onConflict ?? conflict, createDirectories: destination.createDirectories)
    }
}
