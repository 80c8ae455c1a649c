import HTTPSemantics

/// The decision on a response, made from its head before any byte of its body is written.
///
/// libcurl alone would append the body of a 200, an error page or a range from another position to the received bytes.
/// This type distinguishes all these cases.
public enum ResponseDecision: Sendable, Equatable {
    /// Write the body from position `at`, without its first `skipping` bytes.
    case accept(at: Int64, skipping: Int64, size: Int64?, ResumeOutcome)
    /// The server has no byte left to send: the part is complete.
    case alreadyComplete(offset: Int64)
    /// Only equal bytes can show that the response belongs to the received bytes: compare samples, and request the rest with some of
    /// the bytes before it. If they differ, request the file again from the start.
    case weigh
    /// The received bytes cannot be continued, and this response does not begin at 0. Request the file again from the start.
    case askFromStart(ResumeOutcome.RestartReason)
    /// Follow the redirect. 307 and 308 repeat the request; the other statuses can change its method to GET.
    case redirect(status: Int)
    case fail(Failure)
}

extension ResponseDecision {
    /// - Parameters:
    ///   - presentBytes: the bytes that the job had before the request.
    ///   - access: decides what a refusal means.
    public static func judge(
        _ response: ResponseFacts, asked: RequestedRange, presentBytes: Int64, _ access: RequestAccess = RequestAccess()
    ) -> ResponseDecision {
        switch response.status {
        case 200, 201, 202, 203: whole(response, asked)
        case 206 where asked.presentBytes > 0: partial(response, asked)
        case 206: firstRange(response, asked)
        case 416 where asked.isRange: unsatisfied(response, asked)
        // Some servers answer so to a range that begins at the end of the file, or to any.
        case 400 where asked.isRange && !response.isOfProxy: .askFromStart(.badRange)
        case let status where response.isRedirect: .redirect(status: status)
        // Includes redirects without a location, and successful statuses without a file: 204, 205, 207, 226.
        default: .fail(Failure(refusing: response, presentBytes: presentBytes, access))
        }
    }

    private static func whole(_ response: ResponseFacts, _ asked: RequestedRange) -> ResponseDecision {
        // A 200 may wrongly contain only the rest of the file. Its `Content-Range` shows this, or only a different
        // length. A response to a request without a range is not checked, because its `Content-Range` has no meaning
        // (RFC 9110, section 14.4).
        if asked.isRange, let range = response.contentRange, !range.isWhole { return .askFromStart(.badRange) }
        guard asked.presentBytes > 0 else { return fromStart(size: response.contentLength, asked) }
        let reason = difference(of: response, size: response.contentLength, from: asked)
        if reason == .sizeChanged { return .askFromStart(.sizeChanged) }
        if reason != nil, !asked.isWeighed, asked.mayBeSame(response, size: response.contentLength) { return .weigh }
        return .accept(at: 0, skipping: 0, size: response.contentLength, .restarted(reason ?? .rangeIgnored))
    }

    private static func fromStart(size: Int64?, _ asked: RequestedRange) -> ResponseDecision {
        .accept(at: 0, skipping: 0, size: size, asked.restart.map(ResumeOutcome.restarted) ?? .fresh)
    }

    /// The request continued no bytes. A range is then as good as a 200 if it is the whole file. A piece is not the file.
    private static func firstRange(_ response: ResponseFacts, _ asked: RequestedRange) -> ResponseDecision {
        // The server coded the content although fetchd requested `identity`. Without a range it may send the content uncoded.
        let isRangeOfCoded = asked.isRange && response.validators.isEncoded
        guard case (_, _, let size?)? = statedRange(of: response), response.contentRange?.isWhole == true,
            !isRangeOfCoded
        else {
            return asked.isRange
                ? .askFromStart(.badRange)
                : .fail(Failure(.badRange, "The server sent a range that fetchd did not request.", status: 206))
        }
        return fromStart(size: size, asked)
    }

    private static func partial(_ response: ResponseFacts, _ asked: RequestedRange) -> ResponseDecision {
        guard !response.validators.isEncoded, let (first, last, complete) = statedRange(of: response) else {
            return .askFromStart(.badRange)
        }
        if let doubt = doubt(of: response, size: complete, asked) { return doubt }
        // A range that starts earlier is trimmed, if its length confirms the start: a wrong start would shift every
        // byte. A range that starts later leaves a gap. A range that ends too early would need a further request, which
        // a restart avoids.
        guard first == asked.start || first < asked.start && response.contentLength != nil && !asked.isWeighed,
            last >= asked.offset, let size = complete ?? asked.size, last < size,
            last >= min(asked.end ?? size, size) - 1
        else { return .askFromStart(.badRange) }
        return .accept(
            at: asked.offset, skipping: asked.offset - first, size: size,
            .resumed(offset: asked.presentBytes, why: asked.restart))
    }

    /// The single range that a 206 declares for its body; nil if it declares none or several, or if the content length
    /// contradicts the range.
    private static func statedRange(of response: ResponseFacts) -> (first: Int64, last: Int64, complete: Int64?)? {
        guard !response.isMultipart, case .bytes(let first, let last, let complete)? = response.contentRange,
            response.contentLength.map({ $0 == last - first + 1 }) ?? true
        else { return nil }
        return (first, last, complete)
    }

    /// Why the bytes of a partial response must not follow the received ones, or must be compared first; nil if they may.
    private static func doubt(of response: ResponseFacts, size: Int64?, _ asked: RequestedRange) -> ResponseDecision? {
        let isKnown = asked.restsOnChecksum || asked.isProven(by: response)
        guard let reason = difference(of: response, size: size, from: asked) ?? (isKnown ? nil : .noValidator) else {
            return nil
        }
        guard asked.mayBeSame(response, size: size) else { return .askFromStart(reason) }
        return asked.isWeighed ? nil : .weigh
    }

    private static func unsatisfied(_ response: ResponseFacts, _ asked: RequestedRange) -> ResponseDecision {
        guard case .unsatisfied(let complete)? = response.contentRange else { return .askFromStart(.badRange) }
        if let reason = difference(of: response, size: complete, from: asked) { return .askFromStart(reason) }
        guard asked.restsOnChecksum || asked.isProven(by: response) else { return .askFromStart(.noValidator) }
        let isWhole = asked.presentBytes > 0 && asked.offset == complete
        return isWhole ? .alreadyComplete(offset: complete) : .askFromStart(.badRange)
    }

    /// Why these bytes differ from the received bytes; nil if no difference is known.
    private static func difference(
        of response: ResponseFacts, size: Int64?, from asked: RequestedRange
    ) -> ResumeOutcome.RestartReason? {
        let now = response.validators
        let before = asked.validators
        if let old = before.etag, let new = now.etag, old != new { return .etagChanged }
        if before.etag == nil, let old = before.lastModified, let new = now.lastModified, old != new {
            return .lastModifiedChanged
        }
        if let old = asked.size, let size, old != size { return .sizeChanged }
        return nil
    }
}

extension ResponseDecision {
    /// The verdict on a request for one segment: only the bytes of that segment are accepted.
    public var ofRange: ResponseDecision {
        switch self {
        case .accept(_, _, _, .resumed), .redirect, .fail: self
        case .accept, .alreadyComplete, .askFromStart, .weigh:
            .fail(Failure(.badRange, "The server does not serve another range of the file as it served the first."))
        }
    }
}
