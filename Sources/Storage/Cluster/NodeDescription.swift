/// What a service says about itself to the other nodes of its database.
public struct NodeDescription: Sendable, Equatable {
    /// Where other nodes reach its API, such as `http://10.0.0.7:8080`; nil: they do not.
    public var url: String?
    public var version = ""
    /// The largest number of jobs that run on it at once.
    public var slots = 16
    /// Whether all nodes use one downloads folder.
    public var sharesDownloads = false

    public init() {}
}
