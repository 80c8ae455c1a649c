/// What a finished job proves.
public struct Receipt: Sendable, Equatable, Codable {
    public var finalURL: String
    /// The addresses that were left by a redirect, in order.
    public var redirects: [String]
    public var status: Int
    public var etag: String?
    public var lastModified: String?
    public var remoteAddress: String?
    public var networkProtocol: String
    /// Whether the end of the body was known to the server's own word (a length, or chunks) or to `expected_size`, or its
    /// bytes bear a digest out.
    public var lengthVerified: Bool
    public var attempts: Int
    public var timings: Timings

    /// Seconds, of the last attempt; `total` is from the first attempt's start to the file in place.
    public struct Timings: Sendable, Equatable, Codable {
        public var connect: Double
        public var firstByte: Double
        public var transfer: Double
        public var total: Double

        public init(connect: Double, firstByte: Double, transfer: Double, total: Double) {
            self.connect = connect
            self.firstByte = firstByte
            self.transfer = transfer
            self.total = total
        }
    }

    public init(
        finalURL: String, redirects: [String], status: Int, etag: String?, lastModified: String?,
        remoteAddress: String?, networkProtocol: String, lengthVerified: Bool, attempts: Int, timings: Timings
    ) {
        self.finalURL = finalURL
        self.redirects = redirects
        self.status = status
        self.etag = etag
        self.lastModified = lastModified
        self.remoteAddress = remoteAddress
        self.networkProtocol = networkProtocol
        self.lengthVerified = lengthVerified
        self.attempts = attempts
        self.timings = timings
    }
}
