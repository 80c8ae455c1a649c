import CurlClient
import Downloads
import Formats
import HTTPSemantics

extension Attempt {
    /// The next request on its way. The job's own headers and credentials stay with the origin that they are meant for;
    /// session-wide rules of the connection hold everywhere.
    ///
    /// - Parameters:
    ///   - asked: what is asked for at the present address.
    ///   - home: the address of the job that the way began at.
    ///   - isShare: others bring the rest of the file at the same time.
    func request(_ way: Itinerary, _ asked: RequestedRange, home: String, isShare: Bool = false) -> TransferRequest {
        let isHome = URLRule.origin(of: way.url) == URLRule.origin(of: home)
        var request = TransferRequest(
            url: services.address(of: way.url), method: way.method.rawValue, userAgent: spec.userAgent)
        // What describes a body goes and stays with it, whoever is asked (fetch.spec.whatwg.org, "HTTP-redirect fetch").
        let hasLostBody = way.method == .get && spec.method != .get
        let headers = isHome ? spec.headers.filter { !(hasLostBody && $0.isContentType) } : []
        request.headers = headers.map { (name: $0.name, value: $0.value) }
        request.credentials = isHome ? spec.credentials.map(TransferRequest.Credentials.init) : nil
        if asked.isRange {
            request.rangeStart = asked.offset
            request.rangeEnd = asked.end.map { $0 - 1 }
        }
        if asked.bytesHad > 0, let condition = asked.condition { request.headers.append(("If-Range", condition)) }
        if way.method != .get, let body = spec.body {
            request.body = body.bytes
            if !headers.contains(where: \.isContentType) {
                let given = spec.headers.first(where: \.isContentType)?.value
                request.headers.append(("Content-Type", given ?? body.contentType))
            }
        }
        request.timeouts = .init(connect: .seconds(spec.connectSeconds), idle: .seconds(spec.requestSeconds))
        request.minimumSpeed = spec.minimumSpeed.map {
            // Demanded of a file; no connection has to bring it alone.
            .init(
                bytesPerSecond: isShare ? max(1, $0 / Int64(connections)) : $0,
                over: .seconds(services.minimumSpeedSeconds))
        }
        request.rateLimits = limits
        // A rehearsal is no matter of the network, and what answers it is our own.
        request.admitsAnyAddress = Rehearsal.isRehearsal(way.url)
        if !request.admitsAnyAddress {
            request.tls = .init(spec.tls, for: URLRule.host(of: way.url))
            request.proxy = spec.proxy.map(TransferRequest.Proxy.init)
        }
        return request
    }
}

extension HeaderField {
    fileprivate var isContentType: Bool { name.lowercased() == "content-type" }
}
