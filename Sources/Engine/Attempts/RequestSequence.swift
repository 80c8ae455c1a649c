import CurlClient
import Downloads
import HTTPSemantics

/// The requests that one connection makes for one response, through redirects and at most one restart from 0. This
/// value decides the next request, and a connection sends it.
struct RequestSequence: Sendable {
    /// The URL of the next request.
    private(set) var url: String
    /// The URLs that redirected, in order.
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
        asked.isElsewhere = asked.bytesHad > 0 && source != url
        return asked
    }

    enum Step: Sendable, Equatable {
        case askAgain
        /// All bytes of the response were received.
        case arrived
        /// The server has no byte left to send.
        case alreadyThere(size: Int64)
        case failed(Failure)
        /// The exchange was cancelled: the attempt stops, or the transfer client shuts down.
        case abandoned
    }

    /// The next step after an exchange.
    ///
    /// - Parameter target: the absolute URL of the redirect; nil when the response has none, or one that cannot be
    ///   parsed.
    mutating func step(
        after outcome: TransferResult.Outcome, _ verdict: ResponseVerdict?, redirectingTo target: String?
    ) -> Step {
        switch (outcome, verdict) {
        case (.rejected, .redirect(let status)): follow(target, after: status)
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

    private mutating func follow(_ target: String?, after status: Int) -> Step {
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
        if asked.bytesHad == 0, asked.probesRanges {
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
