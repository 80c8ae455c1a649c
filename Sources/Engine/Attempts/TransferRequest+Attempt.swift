import CurlClient
import Downloads
import HTTPSemantics

extension Attempt {
    /// The next request of a sequence. fetchd sends the job's headers and credentials to one origin only. The session's
    /// rules for connections apply to every request.
    ///
    /// - Parameters:
    ///   - home: the job's URL that the sequence began with. Its origin receives headers and credentials.
    ///   - isSegment: other connections fetch the rest of the file at the same time.
    func request(
        _ requests: RequestSequence, _ asked: RequestedRange, home: String, isSegment: Bool = false
    ) -> TransferRequest {
        let isHome = isHome(requests, home)
        var request = TransferRequest(
            url: address(of: requests.url), method: requests.method.rawValue, userAgent: spec.userAgent)
        // Headers that describe the body are dropped with the body, for every origin (fetch.spec.whatwg.org,
        // "HTTP-redirect fetch").
        let hasLostBody = requests.method == .get && spec.method != .get
        let headers = isHome ? spec.headers.filter { !(hasLostBody && $0.isContentType) } : []
        request.headers = headers.map { (name: $0.name, value: $0.value) }
        if isHome, services.options.tracesOrigins, let trace = job.trace {
            request.headers += trace.fields(unlessIn: spec.headers)
        }
        request.credentials = isHome ? spec.credentials : nil
        if asked.isRange {
            request.rangeStart = asked.start
            request.rangeEnd = asked.end.map { $0 - 1 }
        }
        if asked.presentBytes > 0, let condition = asked.condition { request.headers.append(("If-Range", condition)) }
        if requests.method != .get, let body = spec.body {
            request.body = body.bytes
            if !headers.contains(where: \.isContentType) {
                let given = spec.headers.first(where: \.isContentType)?.value
                request.headers.append(("Content-Type", given ?? body.contentType))
            }
        }
        request.timeouts = .init(connect: .seconds(spec.connectSeconds), idle: .seconds(spec.requestSeconds))
        request.minimumSpeed = spec.minimumSpeed.map {
            // The session demands this speed for the file, so each connection has to reach its share of it.
            .init(
                bytesPerSecond: isSegment ? max(1, $0 / Int64(control.connections)) : $0,
                over: .seconds(services.options.minimumSpeedSeconds))
        }
        request.rateLimits = control.rates
        // fetchd itself answers rehearsals, on a loopback address.
        request.admitsAnyAddress = Rehearsal.isRehearsal(requests.url)
        if !request.admitsAnyAddress {
            request.tls = .init(spec.tls, for: URLRule.host(of: requests.url))
            request.proxy = spec.proxy
        }
        return request
    }

    func access(_ requests: RequestSequence, home: String) -> RequestAccess {
        RequestAccess(
            authorization: authorization(isHome: isHome(requests, home)), waitsForURL: spec.waitFor.contains(.url),
            proxy: Rehearsal.isRehearsal(requests.url) ? nil : spec.proxy)
    }

    private func authorization(isHome: Bool) -> RequestAccess.Authorization {
        let hasHeader = spec.headers.contains { $0.name.lowercased() == "authorization" }
        guard spec.credentials != nil || hasHeader else { return .none }
        guard isHome else { return .withheld }
        return spec.credentials.map { .credentials(scheme: $0.scheme) } ?? .header
    }

    /// Whether the request goes to the origin that receives headers and credentials.
    private func isHome(_ requests: RequestSequence, _ home: String) -> Bool {
        URLRule.origin(of: requests.url) == URLRule.origin(of: home)
    }

    /// The URL to connect to. A rehearsal URL is replaced by its URL at the rehearsal origin.
    private func address(of url: String) -> String {
        guard Rehearsal.isRehearsal(url), let rehearsalOrigin = services.options.rehearsalOrigin else { return url }
        return Rehearsal.address(of: url, at: rehearsalOrigin)
    }
}

extension TraceContext {
    /// The fields of a request that this service sends. Those that the job names itself are not replaced.
    fileprivate func fields(unlessIn given: [HeaderField]) -> [(name: String, value: String)] {
        guard !given.contains(where: { ["traceparent", "tracestate"].contains($0.name.lowercased()) }) else {
            return []
        }
        return child().fields
    }
}

extension HeaderField {
    fileprivate var isContentType: Bool { name.lowercased() == "content-type" }
}

extension TransferRequest.TLSOptions {
    init(_ rule: TLSRule, for host: String) {
        self.init(caFile: rule.caFile, pinnedPublicKeys: rule.pinnedPublicKeys[host] ?? [], verifies: rule.verify)
    }
}
