/// Why a job failed or waits.
public struct DownloadFailure: Error, Sendable, Equatable, Decodable {
    /// A stable code, such as `bad_status` or `checksum_mismatch`.
    public let code: String
    /// One or two sentences for a person.
    public let message: String
    /// The HTTP status of the server, if there was one.
    public let status: Int?
}
