import Downloads
import Formats
import HTTPSemantics

/// The specification of a job from the options of a download.
extension DownloadOptions {
    func spec(of sources: [String], in root: DownloadsRoot, _ folder: String? = nil) throws(RPCError) -> JobSpec {
        var spec = JobSpec(url: sources[0])
        spec.mirrors = Array(sources.dropFirst())
        spec.checksum = try checksum.map(ExpectedChecksum.value)
        spec.timeouts = try timeouts
        spec.retry = try retry(changing: nil)
        try change(&spec, in: root, folder)
        return spec
    }

    /// Applies the options that can be changed later, too.
    @discardableResult
    func change(
        _ spec: inout JobSpec, in root: DownloadsRoot, _ folder: String? = nil
    ) throws(RPCError) -> Set<PatchableField> {
        try refuseProxies()
        try refuseDryRun()
        var fields: Set<PatchableField> = []
        if let connections = try connections {
            spec.connections = connections
            fields.insert(.connections)
        }
        if let limit = try rate(.maxDownloadLimit) {
            spec.rateLimit = limit == 0 ? nil : limit
            fields.insert(.rateLimit)
        }
        if [.header, .userAgent, .referer].contains(where: has) {
            spec.headers = try headers(replacing: spec.headers, url: spec.url)
            fields.insert(.headers)
        }
        if has(.httpUser) || has(.httpPassword) {
            spec.credentials = credentials(replacing: spec.credentials)
            fields.insert(.credentials)
        }
        if [.dir, .out, .allowOverwrite, .autoFileRenaming].contains(where: has) {
            try change(&spec.destination, in: root, folder)
            fields.insert(.destination)
        }
        return fields
    }

    static let mostSeconds = 600

    /// `split` is the number of connections, wherever they lead. Without it, `max-connection-per-server` is.
    var connections: Int? {
        get throws(RPCError) {
            let split = try integer(.split, in: 1...Int(Int32.max))
            let perServer = try integer(.maxConnectionPerServer, in: 1...16)
            return (split ?? perServer).map { min($0, JobSpec.mostConnections) }
        }
    }

    var checksum: Checksum? {
        get throws(RPCError) {
            guard let text = text(.checksum) else { return nil }
            let parts = text.split(separator: "=", maxSplits: 1)
            guard parts.count == 2,
                let algorithm = Checksum.Algorithm.allCases.first(where: { $0.rawValue == parts[0].lowercased() }),
                let checksum = Checksum(algorithm, hexadecimal: String(parts[1]))
            else {
                let names = Checksum.Algorithm.allCases.map(\.rawValue).joined(separator: ", ")
                throw problem(.checksum, "It takes TYPE=DIGEST; the types are \(names).")
            }
            return checksum
        }
    }

    var timeouts: Timeouts {
        get throws(RPCError) {
            Timeouts(
                requestSeconds: try integer(.timeout, in: 1...Self.mostSeconds).map(Double.init),
                connectSeconds: try integer(.connectTimeout, in: 1...Self.mostSeconds).map(Double.init))
        }
    }

    /// 0 tries mean as many as possible.
    func retry(changing present: RetryPolicy?) throws(RPCError) -> RetryPolicy? {
        let tries = try integer(.maxTries, in: 0...Int(Int32.max))
        let wait = try integer(.retryWait, in: 0...Self.mostSeconds)
        guard tries != nil || wait != nil else { return nil }
        var retry = present ?? RetryPolicy()
        if let tries { retry.maxAttempts = tries == 0 ? 1000 : min(tries, 1000) }
        if let wait { retry.baseSeconds = Double(max(wait, 1)) }
        return retry
    }

    /// Otherwise the file would be stored, against the will of the client.
    func refuseDryRun() throws(RPCError) {
        guard try bool(.dryRun) == true else { return }
        throw problem(.dryRun, "fetchd has no dry run: it would download the file.")
    }

    /// A proxy belongs to a session of fetchd. A download that a client wants to go through a proxy must not go without it.
    private func refuseProxies() throws(RPCError) {
        for option in [DownloadOption.allProxy, .httpProxy, .httpsProxy] where !(text(option) ?? "").isEmpty {
            throw problem(option, "A proxy is set for all downloads: aria2.changeGlobalOption with all-proxy.")
        }
    }

    private func credentials(replacing present: Credentials?) -> Credentials {
        var (user, password) = ("", "")
        if case .basic(let presentUser, let presentPassword)? = present {
            (user, password) = (presentUser, presentPassword)
        }
        return .basic(username: text(.httpUser) ?? user, password: text(.httpPassword) ?? password)
    }

    private func change(_ destination: inout Destination, in root: DownloadsRoot, _ folder: String?) throws(RPCError) {
        if let dir = text(.dir) {
            let place = try root.place(dir)
            (destination.location, destination.directory) = (place.location ?? destination.location, place.directory)
        }
        if let out = text(.out), !out.isEmpty { try change(&destination, out: out, folder) }
        destination.onConflict = try conflict ?? destination.onConflict
    }

    var conflict: Destination.Conflict? {
        get throws(RPCError) {
            if try bool(.allowOverwrite) == true { return .replace }
            if let renames = try bool(.autoFileRenaming) { return renames ? .rename : .error }
            return has(.allowOverwrite) ? .rename : nil
        }
    }

    /// `out` may have folders, which are below `dir`.
    private func change(_ destination: inout Destination, out: String, _ folder: String?) throws(RPCError) {
        let components = out.split(separator: "/").filter { $0 != "." }
        guard let name = components.last.map(String.init), out.utf8.first != UInt8(ascii: "/") else {
            throw problem(.out, "It takes a path below dir.")
        }
        if let fault = FilePathRule.fault(inFilename: name) ?? Self.braces(in: name) {
            throw problem(.out, "The name \(fault).")
        }
        let directory =
            ([destination.directory ?? folder].compactMap { $0 }.filter { !$0.isEmpty }
            + components.dropLast().map(String.init)).joined(separator: "/")
        if let fault = FilePathRule.fault(inDirectory: directory) { throw problem(.out, "The path \(fault).") }
        if components.count > 1 { destination.directory = directory }
        destination.filename = name
    }

    /// In the names of fetchd, braces are placeholders.
    static func braces(in name: String) -> String? {
        name.utf8.contains { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") } ? "contains a brace" : nil
    }
}

/// The headers of the requests: the options `header`, `user-agent` and `referer`.
extension DownloadOptions {
    /// As in aria2, a line of `header` counts more than `user-agent` and `referer`.
    func headers(replacing present: [HeaderField], url: String) throws(RPCError) -> [HeaderField] {
        let lines = try lines(url)
        let others = ownFields(url).filter { other in !lines.contains { $0.hasName(of: other) } }
        var fields = has(.header) ? present.filter { Self.hasOwnOption($0) } : present
        for field in lines + others {
            fields.removeAll { $0.hasName(of: field) }
            fields.append(field)
        }
        guard fields.count <= 64 else { throw problem(.header, "A download has at most 64 headers.") }
        for field in fields {
            if let fault = field.fault { throw problem(.header, "\(field.name) \(fault).") }
        }
        return fields
    }

    /// The lines of `header`. Lines of one name become one field (RFC 9110, section 5.3; RFC 6265, section 5.4).
    private func lines(_ url: String) throws(RPCError) -> [HeaderField] {
        var fields: [HeaderField] = []
        for line in texts(.header) where !line.isEmpty {
            guard let colon = line.firstIndex(of: ":") else { throw problem(.header, "It takes NAME: VALUE.") }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            let field = HeaderField(name: String(line[..<colon]), value: String(value))
            if field.isOfConnection(to: url) { continue }
            if let index = fields.firstIndex(where: { $0.hasName(of: field) }) {
                fields[index].value += (field.name.lowercased() == "cookie" ? "; " : ", ") + field.value
            } else {
                fields.append(field)
            }
        }
        return fields
    }

    private func ownFields(_ url: String) -> [HeaderField] {
        var fields: [HeaderField] = []
        if let agent = text(.userAgent), !agent.isEmpty { fields.append(HeaderField(name: "User-Agent", value: agent)) }
        if let referer = text(.referer), !referer.isEmpty {
            let value = referer == "*" ? URLRule.withoutCredentials(url) : referer
            fields.append(HeaderField(name: "Referer", value: value))
        }
        return fields
    }

    /// Whether another option than `header` sets the field.
    static func hasOwnOption(_ field: HeaderField) -> Bool {
        ["user-agent", "referer"].contains(field.name.lowercased())
    }
}

extension HeaderField {
    fileprivate func hasName(of other: HeaderField) -> Bool { name.lowercased() == other.name.lowercased() }

    /// Whether the field says only what fetchd itself says with its own fields. Browser extensions send all fields of the
    /// browser's request, and these among them.
    ///
    /// A `Host` of another server and a `Range` of a part are not such fields: they ask for another file.
    fileprivate func isOfConnection(to url: String) -> Bool {
        switch name.lowercased() {
        case "connection", "keep-alive", "proxy-connection", "te", "upgrade", "accept-encoding": true
        case "host": URLRule.hostAndPort(of: "\(url.prefix { $0 != ":" })://\(value)/") == URLRule.hostAndPort(of: url)
        case "range": value == "bytes=0-"
        default: false
        }
    }
}

/// `aria2.changeGlobalOption`. Two of its options are limits of the service; those of downloads hold for each download of the
/// session that does not have its own.
extension DownloadOptions {
    /// The new limits. Options that the request does not name change nothing.
    var serviceLimits: ServiceLimits.Change {
        get throws(RPCError) {
            ServiceLimits.Change(
                maxConcurrentJobs: try integer(.maxConcurrentDownloads, in: 1...10_000),
                rateLimit: try rate(.maxOverallDownloadLimit))
        }
    }

    /// Applies the options. As in aria2, those that only one download can have, such as `out`, have no effect.
    func change(_ configuration: inout SessionConfiguration, in root: DownloadsRoot) throws(RPCError) {
        try refuseWhatNoSessionHas()
        if let dir = text(.dir) {
            let place = try root.place(dir)
            (configuration.location, configuration.directory) = (
                place.location ?? configuration.location, place.directory
            )
        }
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
        if try rate(.maxDownloadLimit) ?? 0 > 0 {
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
    /// The largest number of running jobs, and bytes per second of all transfers together; nil: no limit.
    public typealias Values = (maxConcurrentJobs: Int, rateLimit: Int64?)

    /// New values of the limits that a client has named; nil: the limit stays.
    public struct Change: Sendable, Equatable {
        public var maxConcurrentJobs: Int?
        /// 0: no limit.
        public var rateLimit: Int64?

    }

    let current: @Sendable () -> Values
    /// Stores and applies new values, also those that apply at present: only a stored value holds after a restart, and
    /// another client may change the present one at any moment.
    let change: @Sendable (Change, AuditNote) async throws -> Void

    public init(
        current: @escaping @Sendable () -> Values,
        change: @escaping @Sendable (Change, AuditNote) async throws -> Void
    ) {
        self.current = current
        self.change = change
    }
}
