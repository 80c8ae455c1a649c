import CurlClient
import Downloads
import HTTPSemantics

/// The way of one attempt through redirects and a restart, as a value: what to ask next is decided here, asking is done
/// elsewhere.
struct Itinerary: Sendable {
    /// The address to ask now.
    private(set) var url: String
    /// Addresses left behind, in order.
    private(set) var redirects: [String] = []
    private(set) var asked: RequestedRange
    /// How it is asked: a redirect can turn a request with a body into a GET.
    private(set) var method: RequestMethod
    private var hasRestarted = false

    private static let mostRedirects = 20

    init(from url: String, with method: RequestMethod = .get, asking asked: RequestedRange) {
        self.url = url
        self.method = method
        self.asked = asked
    }

    /// What is asked for at the present address, to go on with those bytes.
    ///
    /// - Parameter source: where those bytes came from.
    func asked(continuing source: String?) -> RequestedRange {
        var asked = asked
        asked.isElsewhere = asked.bytesHad > 0 && source != url
        return asked
    }

    enum Step: Sendable, Equatable {
        case askAgain
        /// Every byte came.
        case arrived
        /// There was nothing left to send.
        case alreadyThere(size: Int64)
        case failed(Failure)
        /// Without anybody's request: the client is shutting down.
        case abandoned
    }

    /// What to do after an exchange.
    ///
    /// - Parameter target: where the response redirects to, absolute.
    mutating func step(
        after outcome: TransferResult.Outcome, _ verdict: ResponseVerdict?, redirectingTo target: String?
    ) -> Step {
        switch (outcome, verdict) {
        case (.rejected, .redirect(let status)): follow(target, after: status)
        // Of its head, or of a body that was not what the head had said.
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
        url = target
        if Self.turnsToGet(method, after: status) { method = .get }
        return .askAgain
    }

    /// As browsers do (RFC 9110, sections 15.4.2 to 15.4.4; fetch.spec.whatwg.org, "HTTP-redirect fetch").
    private static func turnsToGet(_ method: RequestMethod, after status: Int) -> Bool {
        status == 303 || method == .post && (status == 301 || status == 302)
    }

    /// Once: a server that answers a request for everything with a range is beyond help.
    private mutating func restart(_ why: ResumeOutcome.RestartReason) -> Step {
        if asked.bytesHad == 0, asked.probesRanges {
            asked.probesRanges = false
            return .askAgain
        }
        guard !hasRestarted else {
            return .failed(Failure(.badRange, "The server answers a request for the whole file with a range."))
        }
        hasRestarted = true
        // Ranges that cannot be gone on from are not asked for again in this attempt.
        asked = RequestPlan.fromStart(why, probing: asked.probesRanges && why != .badRange)
        return .askAgain
    }
}
