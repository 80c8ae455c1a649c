/// The record of how a finished job received its file.
public struct Receipt: Sendable, Equatable, Codable {
    public var finalURL: String
    /// The URLs that redirected, in order.
    public var redirects: [String]
    public var status: Int
    public var etag: String?
    public var lastModified: String?
    public var remoteAddress: String?
    public var networkProtocol: String
    /// Whether the end of the body was confirmed: by the server (a length, or chunks), by `expected_size`, or by a
    /// digest that the bytes match.
    public var lengthVerified: Bool
    public var attempts: Int
    public var timings: Timings

    /// In seconds, for the last attempt. `total` is the time from the start of the first attempt to the promotion.
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
