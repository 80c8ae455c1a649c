import Base
import CurlClient
import Downloads
import HTTPSemantics

/// The first request of an attempt: for the whole file, or for the bytes that the job's part lacks.
struct RequestPlan {
    var asked: RequestedRange
    /// The stored part that a partial response continues.
    var continued: Continued?
    /// The part has the whole file, so nothing is requested.
    private(set) var isWhole = false
    /// Bytes that the disk has room for.
    var room: Int64 = 0

    struct Continued: Sendable {
        let part: Part
        /// nil: it is opened for each operation.
        let file: Descriptor?

        func open(in folder: DownloadsFolder) throws(DiskError) -> Descriptor {
            if let file { file } else { try folder.openFile(of: part.id, to: "open the part again") }
        }
    }

    /// Continues a part only if it has a strong validator or the job has a checksum, and only if its bytes are on disk.
    ///
    /// - Parameter listed: what a list of digests says about the file; nil without a list.
    /// - Returns: nil if this service may no longer act for its jobs.
    init?(for job: Job, _ spec: ResolvedSpec, listed: Checksum?, in folder: DownloadsFolder) {
        self.init(continuing: job, spec, listed, in: folder)
        // Only GET defines ranges (RFC 9110, section 14.2).
        asked.probesRanges = spec.connections > 1 && spec.method == .get
    }

    /// Requests the whole file, without a range, and continues no part.
    init(fromStart why: ResumeOutcome.RestartReason) { asked = Self.fromStart(why) }

    private init?(continuing job: Job, _ spec: ResolvedSpec, _ listed: Checksum?, in folder: DownloadsFolder) {
        guard let part = job.part, part.bytesDurable > 0 else {
            asked = job.lossBefore.map { Self.fromStart($0) } ?? .whole
            return
        }
        let isWhole = part.isWhole(of: spec)
        guard isWhole || spec.canContinue(part.validators) else {
            asked = Self.fromStart(.noValidator)
            return
        }
        // Without a validator, only the digest can show that the rest belongs to these bytes, and it is that of other bytes now.
        let hasListChanged = part.isListed(otherThan: listed)
        guard !hasListChanged || part.validators.strong != nil else {
            asked = Self.fromStart(.checksumChanged)
            return
        }
        do throws(DownloadsFolder.PartLoss) {
            let file = try folder.openPart(part)
            continued = Continued(part: part, file: folder.closesParts ? nil : file)
            asked = part.rest
            asked.restsOnChecksum = spec.restsOnChecksum
            asked.policy = spec.resumePolicy
            if hasListChanged { asked.restart = .checksumChanged }
            if job.hasSyncFailed { asked.restart = .syncFailed }
            self.isWhole = isWhole
        } catch {
            switch error {
            case .missing: asked = Self.fromStart(.partMissing)
            case .shorterThanRecorded: asked = Self.fromStart(.partShorterThanRecorded)
            case .leaseLost: return nil
            }
        }
    }

    static func fromStart(_ why: ResumeOutcome.RestartReason, probing: Bool = false) -> RequestedRange {
        var asked = RequestedRange(offset: 0, restart: why)
        asked.probesRanges = probing
        return asked
    }
}

extension Part {
    /// Whether a list had another digest for the file when these bytes were received.
    fileprivate func isListed(otherThan listed: Checksum?) -> Bool {
        guard let listed else { return false }
        return label.digests.contains { $0.claimant == .checksumFile && $0.checksum != listed }
    }

    /// Whether it has every byte of the file that the job wants. If the job has another URL since, or accepts no file of this
    /// size, the server may have the right one.
    fileprivate func isWhole(of spec: ResolvedSpec) -> Bool {
        guard let size, bytesDurable == size, url == spec.url, !validators.isEncoded else { return false }
        return spec.refusal(ofSize: size) == nil
    }
}

extension Job {
    /// Why a job without a part has lost its earlier bytes; nil when it had none.
    fileprivate var lossBefore: ResumeOutcome.RestartReason? {
        if hasSyncFailed { return .syncFailed }
        guard isPartLost else { return nil }
        // The pieces did not match the digest, so the part's validators cannot be trusted.
        return isCorrupt ? .noValidator : .partMissing
    }
}

/// The requests that one connection makes for one response, through redirects and at most one restart from 0. This
/// value decides the next request, and a connection sends it.
struct RequestSequence: Sendable {
    private(set) var url: String
    private(set) var redirects: [String] = []
    private(set) var asked: RequestedRange
    /// A redirect can turn a request with a body into a GET.
    private(set) var method: RequestMethod
    private var hasRestarted = false

    private static let mostRedirects = 20

    init(from url: String, with method: RequestMethod = .get, asking asked: RequestedRange) {
        self.url = url
        self.method = method
        self.asked = asked
    }

    /// The range that the next request asks for, to continue the existing bytes.
    ///
    /// - Parameter source: the URL that those bytes came from; nil when the job has no bytes.
    func asked(continuing source: String?) -> RequestedRange {
        var asked = asked
        asked.isElsewhere = asked.presentBytes > 0 && source != url
        return asked
    }

    enum Step: Sendable, Equatable {
        case askAgain
        /// Compare samples, and ask again.
        case weigh
        /// All bytes of the response were received.
        case arrived
        /// The server has no byte left to send.
        case alreadyThere(size: Int64)
        case failed(Failure)
        /// The exchange was cancelled: the attempt stops, or the transfer client shuts down.
        case abandoned
    }

    /// - Parameter target: the absolute URL of the redirect; nil when the response has none, or one that cannot be
    ///   parsed.
    mutating func step(
        after outcome: TransferResult.Outcome, _ verdict: ResponseDecision?, redirectingTo target: String?
    ) -> Step {
        switch (outcome, verdict) {
        case (.rejected, .redirect(let status)): redirect(to: target, after: status)
        case (.rejected, .weigh): .weigh
        // The verdict applies to the head, or to a body that did not match its head.
        case (_, .askFromStart(let why)): restart(why)
        case (.rejected, .alreadyComplete(let size)): .alreadyThere(size: size)
        case (.rejected, .fail(let failure)): .failed(failure)
        case (.completed, .accept): .arrived
        case (.failed(let error), _): .failed(Failure(error, url: url))
        case (.cancelled, _): .abandoned
        case (.completed, _), (.rejected, _):
            .failed(Failure(.connectionLost, "The server closed the connection without an answer."))
        }
    }

    /// Samples were equal: the next request asks for some bytes again.
    mutating func weigh(overlapping overlap: Int64) { asked = asked.weighed(overlapping: overlap) }

    /// Samples differ, or the server has none: the next request asks for the whole file.
    mutating func refute(_ why: ResumeOutcome.RestartReason) {
        asked = RequestPlan.fromStart(why, probing: asked.probesRanges && why != .badRange)
    }

    private mutating func redirect(to target: String?, after status: Int) -> Step {
        guard let target, URLRule.fault(in: target) == nil else {
            let place =
                target.map { "to \(URLRule.redacted($0)), which cannot be fetched" } ?? "to what is no address"
            return .failed(Failure(.badURL, "The server redirects \(place)."))
        }
        redirects.append(url)
        guard redirects.count <= Self.mostRedirects else {
            return .failed(
                Failure(.tooManyRedirects, "The server redirected more than \(Self.mostRedirects) times."))
        }
        url = URLRule.normalized(target)
        if Self.turnsToGet(method, after: status) { method = .get }
        return .askAgain
    }

    /// The same rule as in browsers (RFC 9110, sections 15.4.2 to 15.4.4; fetch.spec.whatwg.org, "HTTP-redirect
    /// fetch").
    private static func turnsToGet(_ method: RequestMethod, after status: Int) -> Bool {
        status == 303 || method == .post && (status == 301 || status == 302)
    }

    /// Restarts once: a server that answers a request for the whole file with a range would do so again.
    private mutating func restart(_ why: ResumeOutcome.RestartReason) -> Step {
        if asked.presentBytes == 0, asked.probesRanges {
            asked.probesRanges = false
            return .askAgain
        }
        guard !hasRestarted else {
            return .failed(Failure(.badRange, "The server answers a request for the whole file with a range."))
        }
        hasRestarted = true
        // After a wrong range the attempt sends no more range requests.
        asked = RequestPlan.fromStart(why, probing: asked.probesRanges && why != .badRange)
        return .askAgain
    }
}

// MARK: - Sizes

extension ResolvedSpec {
    /// Why the job refuses a file of `size` bytes; nil when it accepts it.
    func refusal(ofSize size: Int64) -> Failure? {
        if let wanted = expectedSize, wanted != size {
            return Failure(.sizeMismatch, "The file has \(size) bytes; \(wanted) were expected.")
        }
        if let limit = sizeLimit, size > limit.bytes { return limit.failure }
        return nil
    }
}

extension ResponseDecision {
    /// Judges a response, and also refuses a file whose size the job refuses, before fetchd writes a byte.
    static func judge(
        _ facts: ResponseFacts, asked: RequestedRange, presentBytes: Int64, _ access: RequestAccess,
        _ spec: ResolvedSpec
    ) -> ResponseDecision {
        let verdict = judge(facts, asked: asked, presentBytes: presentBytes, access)
        guard case .accept(_, _, let size, _) = verdict else { return verdict }
        if spec.decodes, let coding = facts.contentCoding {
            // The size of the decoded file is not known yet.
            return ContentCoding(coding) == nil ? .fail(Failure(ofUnknownCoding: coding, facts.status)) : verdict
        }
        return size.flatMap(spec.refusal(ofSize:)).map(ResponseDecision.fail) ?? verdict
    }
}

extension Failure {
    fileprivate init(ofUnknownCoding coding: String, _ status: Int) {
        self.init(
            .badStatus,
            "The server coded the body as \(coding), which fetchd cannot decode. Without `decode`, the bytes are stored as they come.",
            status: status)
    }
}
