/// Where a file goes, with nothing left open but the name that a response suggests.
public struct Place: Sendable, Equatable {
    /// Below the downloads root; empty is the root itself.
    public var directory: String
    /// A name or a template; nil: what the response suggests.
    public var filename: String?
    public var conflict: Destination.Conflict
    public var createDirectories: Bool

    public init(directory: String, filename: String?, conflict: Destination.Conflict, createDirectories: Bool) {
        self.directory = directory
        self.filename = filename
        self.conflict = conflict
        self.createDirectories = createDirectories
    }

    /// What a job asks for, and for the rest this.
    public func specified(by destination: Destination) -> Place {
        Place(
            directory: destination.directory ?? directory, filename: destination.filename ?? filename,
            conflict: destination.onConflict ?? conflict, createDirectories: destination.createDirectories)
    }
}
