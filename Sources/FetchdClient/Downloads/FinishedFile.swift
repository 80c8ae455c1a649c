/// A file that is complete, verified and in its place on the machine of the service.
public struct FinishedFile: Sendable, Equatable, Decodable {
    /// The path from the downloads folder of the service.
    public let path: String
    /// In bytes.
    public let size: Int64
    /// In lower-case hexadecimal; nil if the job has `digest: "none"`.
    public let sha256: String?
    public let contentType: String?

    /// The last component of the path.
    public var name: String { path.split(separator: "/").last.map(String.init) ?? path }
}
