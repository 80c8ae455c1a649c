import Downloads
import Formats
import HTTPSemantics

/// The options of `aria2.changeGlobalOption`. Two of them are limits of the service; those of downloads hold for each download
/// of the session that does not have its own.
struct GlobalOptions {
    private var concurrent: String?
    private var rate: String?
    /// The other options.
    let downloads: DownloadOptions

    init(_ object: JSONObject) {
        var others = JSONObject()
        for (name, value) in object.members {
            switch name {
            case "max-concurrent-downloads": concurrent = value.stringValue
            case "max-overall-download-limit": rate = value.stringValue
            default: others[name] = value
            }
        }
        downloads = DownloadOptions(others)
    }

    /// The new limits. Options that the request does not name change nothing.
    func change() throws(RPCError) -> ServiceLimits.Change {
        var change = ServiceLimits.Change()
        if let concurrent {
            guard concurrent.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(concurrent),
                (1...10_000).contains(number)
            else { throw Self.problem("max-concurrent-downloads", "It takes a number from 1 to 10000.") }
            change.maxConcurrentJobs = number
        }
        if let rate {
            guard let bytes = SizeText.bytes(rate), bytes <= 1 << 40 else {
                throw Self.problem("max-overall-download-limit", "It takes bytes per second, such as 200K or 1M.")
            }
            change.rateLimit = bytes
        }
        return change
    }

    private static func problem(_ name: String, _ why: String) -> RPCError {
        RPCError("We encountered a problem while processing the option '--\(name)'. \(why)")
    }
}

/// What the options of downloads mean for the configuration of the session.
extension DownloadOptions {
    /// Applies the options. As in aria2, those that only one download can have, such as `out`, have no effect.
    func change(_ configuration: inout SessionConfiguration, in root: DownloadsRoot) throws(RPCError) {
        try refuseWhatNoSessionHas()
        if let dir = text(.dir) { configuration.directory = try root.relative(dir) }
        configuration.connections = try connections ?? configuration.connections
        configuration.onConflict = try conflict ?? configuration.onConflict
        configuration.retry = try retry(changing: configuration.retry) ?? configuration.retry
        let timeouts = try timeouts
        configuration.timeouts.requestSeconds = timeouts.requestSeconds ?? configuration.timeouts.requestSeconds
        configuration.timeouts.connectSeconds = timeouts.connectSeconds ?? configuration.timeouts.connectSeconds
        if has(.allProxy) { configuration.proxy = try proxy }
        if let agent = text(.userAgent) {
            if let fault = HeaderField(name: "User-Agent", value: agent).fault {
                throw problem(.userAgent, "The value \(fault).")
            }
            configuration.userAgent = agent.isEmpty ? nil : agent
        }
        if has(.header) || has(.referer) {
            // A header that is also an option of its own has its own member in a session.
            configuration.headers = try headers(replacing: configuration.headers, url: "")
                .filter { $0.name.lowercased() != "user-agent" }
        }
    }

    private func refuseWhatNoSessionHas() throws(RPCError) {
        try refuseDryRun()
        for option in [DownloadOption.httpProxy, .httpsProxy] where !(text(option) ?? "").isEmpty {
            throw problem(option, "fetchd has one proxy for all schemes: all-proxy.")
        }
        for option in [DownloadOption.httpUser, .httpPassword] where !(text(option) ?? "").isEmpty {
            throw problem(option, "Credentials belong to one download: set them with aria2.addUri.")
        }
        if case .some(.some) = try rate(.maxDownloadLimit) {
            throw problem(
                .maxDownloadLimit,
                "fetchd has no default for the limit of each download: set it with aria2.addUri or aria2.changeOption.")
        }
        if text(.referer) == "*" { throw problem(.referer, "* is possible for one download only.") }
    }

    /// nil if the value is empty: no proxy.
    private var proxy: Proxy? {
        get throws(RPCError) {
            guard let text = text(.allProxy), !text.isEmpty else { return nil }
            // As in aria2, HTTP is the default.
            guard let proxy = Proxy(text.contains("://") ? text : "http://" + text) else {
                throw problem(.allProxy, "It takes [http://][USER:PASSWORD@]HOST:PORT, or the same with socks5://.")
            }
            return proxy
        }
    }
}

/// The limits of the whole service that `aria2.changeGlobalOption` changes.
public struct ServiceLimits: Sendable {
    public struct Values: Sendable, Equatable {
        /// The largest number of running jobs.
        public var maxConcurrentJobs: Int
        /// Bytes per second of all transfers together; nil: no limit.
        public var rateLimit: Int64?

        public init(maxConcurrentJobs: Int, rateLimit: Int64?) {
            (self.maxConcurrentJobs, self.rateLimit) = (maxConcurrentJobs, rateLimit)
        }
    }

    /// New values of the limits that a client has named; nil: the limit stays.
    public struct Change: Sendable, Equatable {
        public var maxConcurrentJobs: Int?
        /// 0: no limit.
        public var rateLimit: Int64?

        public init(maxConcurrentJobs: Int? = nil, rateLimit: Int64? = nil) {
            (self.maxConcurrentJobs, self.rateLimit) = (maxConcurrentJobs, rateLimit)
        }
    }

    let current: @Sendable () -> Values
    /// Stores and applies new values, also those that apply at present: only a stored value holds after a restart, and
    /// another client may change the present one at any moment.
    let change: @Sendable (Change, AuditNote) async throws -> Void

    public init(
        current: @escaping @Sendable () -> Values,
        change: @escaping @Sendable (Change, AuditNote) async throws -> Void
    ) {
        (self.current, self.change) = (current, change)
    }
}
