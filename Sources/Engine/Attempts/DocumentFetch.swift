import CurlClient
import Downloads
import Foundation
import HTTPSemantics

/// A small file that an attempt reads besides the file of its job.
struct FetchedDocument: Sendable {
    var bytes: [UInt8]
    var etag: String?
}

extension Attempt {
    enum DocumentOutcome: Sendable {
        case received(FetchedDocument)
        /// The server has the version whose tag was given.
        case unchanged
        case tooLarge
        case failed(ConnectionLoss)
        case stopped
    }

    /// Requests a document by the rules for the file of the job: its limits, its proxy, the address policy. Headers and credentials
    /// are sent to the origin of the job's URL only. Ends early if the task is cancelled.
    ///
    /// - Parameters:
    ///   - largest: in bytes.
    ///   - etag: of the version that is known.
    ///   - onHead: called with the head of each response that is not refused, redirects included.
    func fetchDocument(
        _ url: String, largest: Int, unless etag: String? = nil, onHead: (MirrorOffer.Head) -> Void = { _ in }
    ) async -> DocumentOutcome {
        var requests = RequestSequence(from: url, asking: .whole)
        while !control.isStopping {
            let start: RequestStart
            switch await waitForStart(at: requests.url) {
            case .started(let given): start = given
            case .heldOff(let until): return .failed(ConnectionLoss(heldOff: requests.url, until: until))
            case .stopped: return .stopped
            }
            var request = request(requests, .whole, home: spec.home)
            request.minimumSpeed = nil
            if let etag { request.headers.append(("If-None-Match", etag)) }
            let response: ExchangeResponse
            do throws(TransferError) {
                response = try await services.client.exchange(request, bodyLimit: largest)
            } catch {
                start.receive { _ in .none }
                if case .cancelled = error { return .stopped }
                return .failed(ConnectionLoss(error, from: requests.url))
            }
            let facts = ResponseFacts(
                status: response.status, headers: response.headers, isOfProxy: response.isOfProxy)
            let heldOff = start.receive(facts, response.headers, of: self)
            if response.status == 304, etag != nil { return .unchanged }
            let verdict = ResponseDecision.judge(
                facts, asked: .whole, presentBytes: 0, access(requests, home: spec.home))
            if facts.isRedirect || 200...299 ~= response.status {
                onHead(.init(url: requests.url, status: response.status, headers: response.headers))
            }
            if case .accept = verdict {
                let document = FetchedDocument(bytes: response.body, etag: facts.validators.etag)
                return response.bodyTruncated ? .tooLarge : .received(document)
            }
            switch requests.step(after: .rejected, verdict, redirectingTo: response.metrics.redirectURL) {
            case .askAgain: continue
            case .failed(let failure):
                var loss = ConnectionLoss(failure: failure)
                loss.hint.retryAfter = facts.retryDelay(at: services.time.now)
                loss.hint.heldOffUntil = heldOff
                return .failed(loss)
            case .weigh, .arrived, .alreadyThere, .abandoned: return .stopped
            }
        }
        return .stopped
    }
}

extension ConnectionLoss {
    /// The gate of a host is closed.
    init(heldOff url: String, until: Date) {
        self.init(
            failure: Failure(.badStatus, "\(URLRule.hostAndPort(of: url)) accepts no requests for a time."),
            hint: RetryPolicy.Hint(heldOffUntil: until))
    }

    fileprivate init(_ error: TransferError, from url: String) {
        let hasNoRoute = if case .networkUnreachable = error { true } else { false }
        self.init(failure: Failure(error, url: url), hint: RetryPolicy.Hint(hasNoRoute: hasNoRoute))
    }
}
