import CurlClient
import Downloads

/// What an attempt asks for: everything, or what is missing behind the bytes had so far.
struct RequestPlan {
    var asked: RequestedRange
    /// The promised part that a continued response is appended to.
    var continued: (part: Part, file: Descriptor)?

    /// Bytes are only ever continued under a strong validator, and only where they really are on disk.
    init(for job: Job, _ spec: ResolvedSpec, in folder: DownloadsFolder) {
        guard let part = job.part, part.bytesDurable > 0 else {
            asked = job.isPartLost ? Self.fromStart(.partMissing) : .whole
            return
        }
        // What answers another method than GET is no file with ranges (RFC 9110, section 14.2).
        guard spec.method == .get, part.validators.strong != nil else {
            asked = Self.fromStart(.noValidator)
            return
        }
        do throws(DownloadsFolder.PartLoss) {
            let file = try folder.openPart(part)
            continued = (part, file)
            asked = RequestedRange(offset: part.bytesDurable, validators: part.validators, size: part.size)
        } catch {
            switch error {
            case .missing: asked = Self.fromStart(.partMissing)
            case .shorterThanRecorded: asked = Self.fromStart(.partShorterThanRecorded)
            }
        }
    }

    static func fromStart(_ why: ResumeOutcome.RestartReason) -> RequestedRange {
        RequestedRange(offset: 0, restart: why)
    }

    /// The next request on an attempt's way. The job's own headers and credentials stay with the origin that they are
    /// meant for; session-wide rules of the connection hold everywhere.
    static func request(
        _ way: Itinerary, _ spec: ResolvedSpec, limits: [RateLimit], _ services: EngineServices
    ) -> TransferRequest {
        let isHome = URLRule.origin(of: way.url) == URLRule.origin(of: spec.url)
        var request = TransferRequest(
            url: services.address(of: way.url), method: way.method.rawValue, userAgent: spec.userAgent)
        // What describes a body goes and stays with it, whoever is asked (fetch.spec.whatwg.org, "HTTP-redirect fetch").
        let hasLostBody = way.method == .get && spec.method != .get
        let headers = isHome ? spec.headers.filter { !(hasLostBody && $0.isContentType) } : []
        request.headers = headers.map { (name: $0.name, value: $0.value) }
        request.credentials = isHome ? spec.credentials.map(TransferRequest.Credentials.init) : nil
        if way.asked.offset > 0 {
            request.rangeStart = way.asked.offset
            if let validator = way.asked.validators.strong { request.headers.append(("If-Range", validator)) }
        }
        if way.method != .get, let body = spec.body {
            request.body = body.bytes
            if !headers.contains(where: \.isContentType) {
                let given = spec.headers.first(where: \.isContentType)?.value
                request.headers.append(("Content-Type", given ?? body.contentType))
            }
        }
        request.timeouts = .init(connect: .seconds(spec.connectSeconds), idle: .seconds(spec.requestSeconds))
        request.minimumSpeed = spec.minimumSpeed.map {
            .init(bytesPerSecond: $0, over: .seconds(services.minimumSpeedSeconds))
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
