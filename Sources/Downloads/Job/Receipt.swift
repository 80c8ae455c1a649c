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
    /// The content coding of the response, for example gzip; nil if it had none.
    public var coding: Coding?
    public var attempts: Int
    public var timings: Timings

    /// How the server has coded the content, although fetchd asks for it uncoded.
    public struct Coding: Sendable, Equatable, Codable {
        /// As the server named it, in lower case: `gzip`.
        public var name: String
        /// Whether the file has the decoded bytes. If not, it has the bytes as they were received.
        public var isDecoded: Bool
        /// The number of received, coded bytes.
        public var size: Int64
        /// The sha-256 of the coded bytes in lowercase hexadecimal; nil if the job specified `digest: "none"`.
        public var sha256: String?

        public init(name: String, isDecoded: Bool, size: Int64, sha256: String?) {
            self.name = name
            self.isDecoded = isDecoded
            self.size = size
            self.sha256 = sha256
        }
    }

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
        remoteAddress: String?, networkProtocol: String, lengthVerified: Bool, coding: Coding? = nil,
        attempts: Int, timings: Timings
    ) {
        self.finalURL = finalURL
        self.redirects = redirects
        self.status = status
        self.etag = etag
        self.lastModified = lastModified
        self.remoteAddress = remoteAddress
        self.networkProtocol = networkProtocol
        self.lengthVerified = lengthVerified
        self.coding = coding
        self.attempts = attempts
        self.timings = timings
    }
}
