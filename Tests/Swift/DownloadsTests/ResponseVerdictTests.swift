import Downloads
import HTTPSemantics
import Testing

/// Verdicts on every kind of response, with and without a requested range, from the head alone.
@Suite struct ResponseVerdictTests {
    private static let strong = Validators(etag: "\"v1\"")
    private let asked = RequestedRange(offset: 100, validators: strong, size: 1000)

    private func judge(
        _ status: Int, _ headers: [(String, String)] = [], _ asked: RequestedRange, had: Int64 = 0
    ) -> ResponseDecision {
        .judge(
            ResponseFacts(status: status, headers: headers.map { (name: $0.0, value: $0.1) }), asked: asked,
            presentBytes: had)
    }

    // MARK: 200

    @Test func acceptsWholeFileFromZero() {
        #expect(judge(200, [("Content-Length", "5")], .whole) == .accept(at: 0, skipping: 0, size: 5, .fresh))
        #expect(judge(200, [], .whole) == .accept(at: 0, skipping: 0, size: nil, .fresh))
    }

    @Test func reportsReasonOfPlannedRestart() {
        let plan = RequestedRange(offset: 0, restart: .noValidator)
        #expect(judge(200, [], plan) == .accept(at: 0, skipping: 0, size: nil, .restarted(.noValidator)))
    }

    @Test(arguments: [
        ([("ETag", "\"v2\""), ("Content-Length", "1000")], ResumeOutcome.RestartReason.etagChanged),
        ([("ETag", "\"v2\""), ("Content-Length", "900")], .etagChanged),
        ([("ETag", "\"v1\""), ("Content-Length", "1000")], .rangeIgnored), ([], .rangeIgnored),
        // The length is that of the whole file, so the Content-Range has no meaning.
        ([("Content-Length", "1000"), ("Content-Range", "bytes 0-999/1000")], .rangeIgnored),
    ])
    func restartsOn200ToRangeRequest(_ headers: [(String, String)], _ why: ResumeOutcome.RestartReason) {
        guard case .accept(at: 0, skipping: 0, _, .restarted(why)) = judge(200, headers, asked) else {
            Issue.record("expected a restart because of \(why)")
            return
        }
    }

    /// Some servers send the rest with status 200.
    @Test func requestsWholeFileAgainWhen200MayBeTheRest() {
        for length in ["900", "100", "0", "2000"] {
            #expect(judge(200, [("Content-Length", length)], asked) == .askFromStart(.sizeChanged), "\(length)")
            let marked = [("ETag", "\"v1\""), ("Content-Length", length)]
            #expect(judge(200, marked, asked) == .askFromStart(.sizeChanged), "\(length)")
        }
        for range in ["bytes 100-999/1000", "bytes 0-99/1000", "bytes 0-999/*", "bytes */1000"] {
            #expect(judge(200, self.range(range), asked) == .askFromStart(.badRange), "\(range)")
        }
    }

    /// RFC 9110, section 14.4: the field has no meaning there.
    @Test func ignoresContentRangeOf200WithoutRange() {
        let headers = [("Content-Range", "bytes 5-9/10"), ("Content-Length", "5")]
        #expect(judge(200, headers, .whole) == .accept(at: 0, skipping: 0, size: 5, .fresh))
    }

    // MARK: 206

    private func range(_ text: String, etag: String? = "\"v1\"") -> [(String, String)] {
        [("Content-Range", text)] + (etag.map { [("ETag", $0)] } ?? [])
    }

    @Test func acceptsRequestedRange() {
        #expect(
            judge(206, range("bytes 100-999/1000"), asked)
                == .accept(at: 100, skipping: 0, size: 1000, .resumed(offset: 100)))
        #expect(
            judge(206, range("bytes 100-999/*"), asked)
                == .accept(at: 100, skipping: 0, size: 1000, .resumed(offset: 100)))
    }

    @Test func skipsBytesOfRangeThatStartsEarlier() {
        #expect(
            judge(206, range("bytes 64-999/1000") + [("Content-Length", "936")], asked)
                == .accept(at: 100, skipping: 36, size: 1000, .resumed(offset: 100)))
    }

    /// The start could be wrong, and every byte would be written at a wrong offset.
    @Test(arguments: [[], [("Content-Length", "900")], [("Content-Length", "936"), ("Transfer-Encoding", "chunked")]])
    func refusesEarlierRangeWithoutMatchingLength(_ headers: [(String, String)]) {
        #expect(judge(206, range("bytes 64-999/1000") + headers, asked) == .askFromStart(.badRange))
    }

    @Test(arguments: [
        "bytes 101-999/1000", "bytes 0-99/1000", "bytes 100-899/1000", "bytes */1000", "bytes 100-999", "bytes x-y/z",
        "items 100-999/1000", "bytes 999-100/1000", "bytes 100-1000/1000", "bytes +100-999/1000",
    ])
    func requestsWholeFileAgainOnOtherRange(_ text: String) {
        #expect(judge(206, range(text), asked) == .askFromStart(.badRange))
    }

    @Test func restartsWhenRangeIsOfAnotherFile() {
        #expect(judge(206, range("bytes 100-999/1000", etag: "\"v2\""), asked) == .askFromStart(.etagChanged))
        #expect(judge(206, range("bytes 100-999/1000", etag: "W/\"v1\""), asked) == .askFromStart(.etagChanged))
        #expect(judge(206, range("bytes 100-1999/2000"), asked) == .askFromStart(.sizeChanged))
        let encoded = range("bytes 100-999/1000") + [("Content-Encoding", "gzip")]
        #expect(judge(206, encoded, asked) == .askFromStart(.badRange))
        let multipart = range("bytes 100-999/1000") + [("Content-Type", "multipart/byteranges; boundary=x")]
        #expect(judge(206, multipart, asked) == .askFromStart(.badRange))
        #expect(
            judge(206, range("bytes 100-999/1000") + [("Content-Length", "10")], asked) == .askFromStart(.badRange))
    }

    /// RFC 9110, section 15.3.7.3: parts are combined when they share the same strong validator.
    @Test func resumesOnlyWithSameStrongValidator() {
        #expect(judge(206, range("bytes 100-999/1000", etag: nil), asked) == .askFromStart(.noValidator))
        let (old, new) = ("Mon, 19 Aug 2019 14:23:14 GMT", "Mon, 19 Aug 2019 15:00:00 GMT")
        let dated = RequestedRange(
            offset: 100, validators: Validators(lastModified: old, lastModifiedIsStrong: true), size: 1000)
        let rest = [("Content-Range", "bytes 100-999/1000"), ("Date", "Mon, 19 Aug 2019 16:00:00 GMT")]
        let accepted = ResponseDecision.accept(at: 100, skipping: 0, size: 1000, .resumed(offset: 100))
        #expect(judge(206, rest + [("Last-Modified", old)], dated) == accepted)
        #expect(judge(206, rest + [("Last-Modified", new)], dated) == .askFromStart(.lastModifiedChanged))
        #expect(judge(206, rest, dated) == .askFromStart(.noValidator))
    }

    /// A 416 adds no bytes, and most servers send no validator with it.
    @Test func requiresValidatorOf416FromAnotherURL() {
        var asked = asked
        asked.offset = 1000
        #expect(judge(416, range("bytes */1000", etag: nil), asked) == .alreadyComplete(offset: 1000))
        asked.isElsewhere = true
        #expect(judge(416, range("bytes */1000"), asked) == .alreadyComplete(offset: 1000))
        #expect(judge(416, range("bytes */1000", etag: nil), asked) == .askFromStart(.noValidator))
    }

    @Test func acceptsUnrequestedRangeOfWholeFile() {
        let whole = range("bytes 0-999/1000")
        #expect(judge(206, whole, .whole) == .accept(at: 0, skipping: 0, size: 1000, .fresh))
        let again = RequestedRange(offset: 0, restart: .badRange)
        #expect(judge(206, whole, again) == .accept(at: 0, skipping: 0, size: 1000, .restarted(.badRange)))
    }

    @Test(arguments: ["bytes 0-998/1000", "bytes 1-999/1000", "bytes 0-999/*", "bytes */1000", "bytes 0-", ""])
    func failsOnUnrequestedPieceOfFile(_ text: String) {
        #expect(code(judge(206, range(text), .whole)) == .badRange)
    }

    @Test func failsOnWholeRangeThatContradictsItself() {
        let (whole, parts) = (range("bytes 0-999/1000"), ("Content-Type", "multipart/byteranges; boundary=x"))
        #expect(code(judge(206, whole + [("Content-Length", "999")], .whole)) == .badRange)
        #expect(code(judge(206, whole + [parts], .whole)) == .badRange)
    }

    // MARK: 416

    @Test func acceptsCompletePartOn416() {
        let complete = RequestedRange(offset: 1000, validators: Self.strong, size: 1000)
        #expect(judge(416, range("bytes */1000"), complete) == .alreadyComplete(offset: 1000))
        #expect(judge(416, range("bytes */1000", etag: "\"v2\""), complete) == .askFromStart(.etagChanged))
        #expect(judge(416, range("bytes */500"), complete) == .askFromStart(.sizeChanged))
        #expect(judge(416, [], complete) == .askFromStart(.badRange))
        #expect(judge(416, range("bytes */1000"), asked) == .askFromStart(.badRange))
    }

    /// webfs answers so to a range that begins at the end of the file.
    @Test func asksOnceMoreWithoutARangeOn400() {
        let complete = RequestedRange(offset: 1000, validators: Self.strong, size: 1000)
        for asked in [complete, asked] { #expect(judge(400, [], asked) == .askFromStart(.badRange)) }
        #expect(code(judge(400, [], .whole)) == .badStatus)
    }

    // MARK: Other statuses

    @Test(arguments: [301, 302, 303, 307, 308]) func followsRedirectStatus(_ status: Int) {
        #expect(judge(status, [("Location", "/b")], .whole) == .redirect(status: status))
    }

    @Test(arguments: [[], [("Location", "")]]) func failsOnRedirectWithoutLocation(_ headers: [(String, String)]) {
        #expect(code(judge(302, headers, .whole)) == .badStatus)
    }

    @Test(arguments: [401, 403, 404, 410]) func reportsLinkExpiredWithBytesOrIfJobWaitsForURL(_ status: Int) {
        #expect(code(judge(status, [], asked, had: 100)) == .linkExpired)
        #expect(code(judge(status, [], .whole, had: 0)) == .badStatus)
        let facts = ResponseFacts(status: status, headers: [])
        let verdict = ResponseDecision.judge(facts, asked: .whole, presentBytes: 0, RequestAccess(waitsForURL: true))
        #expect(code(verdict) == .linkExpired)
    }

    @Test func reportsCredentialsRequiredOnChallenge() {
        #expect(code(judge(401, [("WWW-Authenticate", "Basic realm=\"x\"")], asked, had: 100)) == .credentialsRequired)
        // Nothing says that a proxy sent it.
        #expect(code(judge(407, [("Proxy-Authenticate", "Basic")], .whole)) == .badStatus)
    }

    @Test(arguments: [204, 205, 304, 400, 416, 418, 500, 503]) func failsOnAnyOtherStatus(_ status: Int) {
        #expect(code(judge(status, [], .whole)) == .badStatus)
    }

    private func code(_ verdict: ResponseDecision) -> Failure.Code? {
        if case .fail(let failure) = verdict { failure.code } else { nil }
    }
}
