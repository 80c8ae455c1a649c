/// How far a download is.
public struct DownloadProgress: Sendable, Equatable, Decodable {
    /// Bytes that have arrived, over all attempts.
    public let bytesReceived: Int64
    /// Bytes that the service keeps after a crash.
    public let bytesDurable: Int64
    /// The size of the file; nil if the server has not sent it.
    public let bytesExpected: Int64?
    /// From 0 to 1; nil if the size is not known.
    public let fraction: Double?
    /// The rate of the last seconds; nil if the download does not run.
    public let bytesPerSecond: Int64?
    /// The remaining time; nil if it is not known.
    public let etaSeconds: Int64?

    static let none = DownloadProgress(
        bytesReceived: 0, bytesDurable: 0, bytesExpected: nil, fraction: nil, bytesPerSecond: nil, etaSeconds: nil)
}
