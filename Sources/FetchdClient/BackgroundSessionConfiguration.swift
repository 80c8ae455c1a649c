import Foundation

/// Where the service is, where this client keeps its record, and how the downloads of a session behave.
///
/// A setting that is nil is left as the session has it: its default, or what another program has set. A header that is removed
/// here stays in the session, too.
public struct BackgroundSessionConfiguration: Sendable {
    /// A kind of help that downloads wait for instead of failing.
    public enum Help: String, Sendable, Codable { case space, credentials, url }

    /// When a download that has failed is tried again. A value that is nil is left as the session has it.
    public struct RetryPolicy: Sendable, Equatable, Codable {
        /// Attempts in a row without progress before the download fails, from 1 to 1000.
        public var maxAttempts: Int?
        /// The upper limit of the first delay in seconds. It doubles with each attempt in a row.
        public var baseSeconds: TimeInterval?
        /// The upper limit of every delay in seconds.
        public var maxSeconds: TimeInterval?

        public init(maxAttempts: Int? = nil, baseSeconds: TimeInterval? = nil, maxSeconds: TimeInterval? = nil) {
            self.maxAttempts = maxAttempts
            self.baseSeconds = baseSeconds
            self.maxSeconds = maxSeconds
        }
    }

    /// Which certificates of servers are trusted. A value that is nil is left as the session has it.
    public struct TLS: Sendable, Equatable, Codable {
        /// A PEM file on the machine of the service, in place of the system's certificates.
        public var caFile: String?
        /// For each host: base64 of the SHA-256 of the public keys (SubjectPublicKeyInfo) that it may have.
        public var pinnedPublicKeys: [String: [String]]?
        /// false: an attacker on the network path can read and change the downloads.
        public var verify: Bool?

        public init(caFile: String? = nil, pinnedPublicKeys: [String: [String]]? = nil, verify: Bool? = nil) {
            self.caFile = caFile
            self.pinnedPublicKeys = pinnedPublicKeys
            self.verify = verify
        }
    }

    /// The address of the service, such as `http://127.0.0.1:8080`.
    public var service: URL
    public var token: String?
    /// The folder of the client's record: the position in the journal, and tasks that the service does not have yet. A session
    /// with a delegate needs it, and no other program may change it. It must survive restarts of the process.
    public var stateFolder: URL
    /// The downloads folder of the service, if this process can read it. The location of a finished download is then the
    /// file itself, in its place. Otherwise the client copies the file over HTTP to a temporary location.
    public var downloadsFolder: URL?

    /// Headers of every request of the session; those of a download override them.
    public var httpAdditionalHeaders: [String: String]?
    /// The time in seconds in which a server may send nothing. The default is 60.
    public var timeoutIntervalForRequest: TimeInterval?
    /// The time in seconds for a whole download. The default is a week.
    public var timeoutIntervalForResource: TimeInterval?
    /// The default is the limit of the service, 6 unless it is configured.
    public var httpMaximumConnectionsPerHost: Int?
    /// How many downloads of the session run at the same time; 1 means one after the other. The default is the limit of
    /// the service.
    public var maximumConcurrentDownloads: Int?
    /// A folder below the downloads folder.
    public var directory: String?
    /// The time in seconds that a batch waits for another task before it is finished. The default is 1.
    public var finishDelay: TimeInterval?
    /// What downloads wait for. With `.credentials`, the delegate gets challenges; with `.url`, expired links.
    public var waitsFor: Set<Help>?

    /// The proxy of all downloads: `http://host:port` or `socks5://host:port`, with user and password if it requires them.
    public var proxy: URL?
    public var tls: TLS?
    public var retry: RetryPolicy?
    /// Bytes a second of all downloads of the session together.
    public var rateLimit: Int64?

    public init(service: URL = URL(string: "http://127.0.0.1:8080")!, token: String? = nil, stateFolder: URL) {
        self.service = service
        self.token = token
        self.stateFolder = stateFolder
    }

    var document: SessionConfigurationDocument {
        let timeouts = SessionConfigurationDocument.Timeouts(
            requestSeconds: timeoutIntervalForRequest, resourceSeconds: timeoutIntervalForResource)
        return SessionConfigurationDocument(
            headers: httpAdditionalHeaders, timeouts: timeouts, maxConcurrentJobs: maximumConcurrentDownloads,
            maxConnectionsPerHost: httpMaximumConnectionsPerHost, directory: directory, finishDelaySeconds: finishDelay,
            waitFor: waitsFor?.map(\.rawValue).sorted(), proxy: proxy?.absoluteString, tls: tls, retry: retry,
            rateLimitBytesPerSecond: rateLimit)
    }
}

/// The body of a request that changes or creates a session. A member that is nil is not sent.
struct SessionConfigurationDocument: Encodable {
    struct Timeouts: Encodable {
        var requestSeconds: Double?
        var resourceSeconds: Double?
    }

    var headers: [String: String]?
    var timeouts: Timeouts?
    var maxConcurrentJobs: Int?
    var maxConnectionsPerHost: Int?
    var directory: String?
    var finishDelaySeconds: Double?
    var waitFor: [String]?
    var acknowledgement: String?
    var proxy: String?
    var tls: BackgroundSessionConfiguration.TLS?
    var retry: BackgroundSessionConfiguration.RetryPolicy?
    var rateLimitBytesPerSecond: Int64?
}

struct SessionDocument: Decodable {
    struct Configuration: Decodable {
        let acknowledgement: String?
    }

    let state: String
    let configuration: Configuration
    /// When the batch whose jobs have ended is finished.
    let finishDueAt: String?
    let lastEvent: Int64
    let acknowledgedThrough: Int64
}
