/// Whether the services that share a database have one downloads folder or several.
public enum FolderSharing: String, Sendable, CaseIterable {
    /// Each service has a folder of its own: a job that moves to another service begins again from 0.
    case local
    /// All services use the same folder: a job that moves to another service keeps its bytes.
    case shared
}
