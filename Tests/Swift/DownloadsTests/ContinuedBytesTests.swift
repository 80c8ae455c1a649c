import Downloads
import Foundation
import HTTPSemantics
import Testing

/// Bytes without a strong validator: accepted if a checksum will verify the whole file, and never recorded as having a
/// strong validator.
@Suite struct ContinuedBytesTests {
    private func asked(_ validators: Validators, size: Int64? = 1000, elsewhere: Bool = false) -> RequestedRange {
        var asked = RequestedRange(offset: 100, validators: validators, size: size)
        asked.isElsewhere = elsewhere
        asked.restsOnChecksum = true
        return asked
    }

    private func judge(_ status: Int, _ headers: [(String, String)], _ asked: RequestedRange) -> ResponseDecision {
        .judge(
            ResponseFacts(status: status, headers: headers.map { (name: $0.0, value: $0.1) }), asked: asked,
            presentBytes: asked.offset)
    }

    private static let date = "Mon, 19 Aug 2019 15:23:14 GMT"
    private static let unproven = [
        Validators(), Validators(etag: "W/\"v1\""), Validators(lastModified: date),
    ]
    private let resumed = ResponseDecision.accept(at: 100, skipping: 0, size: 1000, .resumed(offset: 100))

    // MARK: Acceptance

    @Test(arguments: unproven) func resumesWithoutValidatorOnlyWithChecksum(_ validators: Validators) {
        var asked = asked(validators)
        let range = [("Content-Range", "bytes 100-999/1000")]
        #expect(judge(206, range, asked) == resumed)
        asked.isElsewhere = true
        #expect(judge(206, range, asked) == resumed)
        asked.restsOnChecksum = false
        #expect(judge(206, range, asked) == .askFromStart(.noValidator))
        asked.isElsewhere = false
        #expect(judge(206, range, asked) == .askFromStart(.noValidator))
    }

    @Test func acceptsCompletePartWithChecksumOn416() {
        var asked = asked(Validators(), size: nil)
        asked.offset = 1000
        #expect(judge(416, [("Content-Range", "bytes */1000")], asked) == .alreadyComplete(offset: 1000))
        #expect(judge(416, [("Content-Range", "bytes */999")], asked) == .askFromStart(.badRange))
    }

    /// A checksum does not help with bytes that are already known to be of another version.
    @Test func restartsDespiteChecksumWhenVersionDiffers() {
        let range = ("Content-Range", "bytes 100-999/1000")
        let strong = asked(Validators(etag: "\"v1\""), elsewhere: true)
        #expect(judge(206, [range, ("ETag", "\"v2\"")], strong) == .askFromStart(.etagChanged))
        #expect(judge(206, [range], strong) == resumed)
        #expect(judge(206, [("Content-Range", "bytes 100-1999/2000")], strong) == .askFromStart(.sizeChanged))
        #expect(judge(206, [("Content-Range", "bytes 101-999/1000")], strong) == .askFromStart(.badRange))
        let weak = asked(Validators(etag: "W/\"v1\""))
        #expect(judge(206, [range, ("ETag", "W/\"v2\"")], weak) == .askFromStart(.etagChanged))
        let dated = asked(Validators(lastModified: Self.date))
        let later = ("Last-Modified", "Mon, 19 Aug 2019 15:23:15 GMT")
        #expect(judge(206, [range, later], dated) == .askFromStart(.lastModifiedChanged))
    }

    @Test func decidesByValidatorChecksumAndMethodWhetherToContinue() {
        func spec(_ change: (inout Job) -> Void) -> ResolvedSpec {
            var job = Sample.job()
            change(&job)
            return ResolvedSpec(job, in: SessionConfiguration())
        }
        let checksum = Checksum(.md5, bytes: Array(repeating: 0, count: 16)).map(ExpectedChecksum.value)
        let plain = spec { _ in }
        let checked = spec { $0.spec.checksum = checksum }
        let disproved = spec {
            $0.spec.checksum = checksum
            $0.isCorrupt = true
        }
        let posted = spec {
            $0.spec.checksum = checksum
            $0.spec.method = .post
        }
        for validators in Self.unproven {
            #expect(
                [plain, checked, disproved, posted].map { $0.canContinue(validators) } == [false, true, false, false])
        }
        let strong = Validators(etag: "\"v1\"")
        #expect([plain, checked, disproved, posted].map { $0.canContinue(strong) } == [true, true, true, false])
        #expect(!checked.canContinue(Validators(etag: "\"v1\"", isEncoded: true)))
        // After a mismatch, pieces of several servers are not combined either.
        let many = [false, true].map { isCorrupt in
            spec {
                $0.spec.connections = 4
                $0.isCorrupt = isCorrupt
            }
        }
        #expect(many.map(\.connections) == [4, 1])
    }

    // MARK: Validators and digests of the whole file

    @Test func sendsOnlyStrongValidatorAsCondition() {
        let strong = Validators(etag: "\"v1\"")
        #expect(asked(strong).condition == "\"v1\"")
        #expect(asked(strong, elsewhere: true).condition == nil)
        var unchecked = asked(strong, elsewhere: true)
        unchecked.restsOnChecksum = false
        #expect(unchecked.condition == "\"v1\"")
        #expect(asked(Validators(etag: "W/\"v1\"")).condition == nil)
    }

    private func answer(_ validators: Validators, _ status: Int = 206) -> ResponseFacts {
        var response = ResponseFacts(status: status, headers: [])
        response.validators = validators
        return response
    }

    /// Otherwise a job without a checksum would adopt bytes under a validator that some of them never had.
    @Test func dropsStrongValidatorOfUnprovenBytes() {
        let strong = Validators(etag: "\"v1\"", lastModified: Self.date, lastModifiedIsStrong: true)
        let dated = Validators(lastModified: Self.date, lastModifiedIsStrong: true)
        for elsewhere in [false, true] {
            let tagged = asked(strong, elsewhere: elsewhere)
            #expect(tagged.validators(continuedBy: answer(Validators(etag: "\"v1\""))) == strong)
            for before in [strong, dated] {
                for now in [Validators(), Validators(etag: "W/\"v1\""), Validators(etag: "\"v2\"")] {
                    let whole = asked(before, elsewhere: elsewhere).validators(continuedBy: answer(now))
                    #expect(whole.strong == nil)
                    #expect(whole.lastModified == now.lastModified)
                }
            }
        }
        // Bytes without a validator keep their weak validators from the same URL; another URL has its own.
        for weak in Self.unproven {
            #expect(asked(weak).validators(continuedBy: answer(strong)) == weak)
            let whole = asked(weak, elsewhere: true).validators(continuedBy: answer(strong))
            #expect(whole == Validators(lastModified: Self.date))
        }
        // No bytes are added: the condition was met, if there was one.
        #expect(asked(strong).validators(continuedBy: answer(Validators(), 416)) == strong)
        #expect(asked(strong, elsewhere: true).validators(continuedBy: answer(Validators(), 416)).strong == nil)
    }

    /// Digests belong to one version; the content type does not.
    @Test func keepsDigestsOnlyWithSameStrongValidator() throws {
        let checksum = try #require(Checksum(.md5, bytes: Array(repeating: 1, count: 16)))
        let label = FileLabel(contentType: "video/mp4", digests: [DigestClaim(.contentMD5, checksum)])
        let without = FileLabel(contentType: "video/mp4")
        let strong = Validators(etag: "\"v1\"")
        for elsewhere in [false, true] {
            let asked = asked(strong, elsewhere: elsewhere)
            #expect(asked.label(label, continuedBy: answer(strong)) == label)
            #expect(asked.label(label, continuedBy: answer(Validators())) == without)
            #expect(asked.label(label, continuedBy: answer(Validators(), 416)) == (elsewhere ? without : label))
        }
        #expect(asked(Validators(etag: "W/\"v1\"")).label(label, continuedBy: answer(strong)) == without)
    }

    @Test func keepsRepeatedDigestOnce() throws {
        let claims = try (UInt8(1)...3).map { byte in
            DigestClaim(.reprDigest, try #require(Checksum(.md5, bytes: Array(repeating: byte, count: 16))))
        }
        let (now, before) = (FileLabel(digests: [claims[0], claims[1]]), FileLabel(digests: [claims[1], claims[2]]))
        #expect(now.completed(by: before).digests == claims)
    }
}

/// Jobs whose bytes failed verification.
@Suite struct DisprovedBytesTests {
    private let mismatch = Failure(.checksumMismatch, "wrong")

    private func job(_ change: (inout Job) -> Void = { _ in }) -> Job {
        var job = Sample.job(.running(.attempting))
        job.part = Part(
            id: PartID("part_1"), url: "https://host/b", validators: Validators(), size: 5,
            ranges: ByteRanges(prefix: 5))
        change(&job)
        return job
    }

    private func after(_ signal: JobSignal, _ job: Job) throws -> Job {
        guard case .become(let state, _, _) = job.state.transition(on: signal) else {
            throw Failure(.storageError, "\(signal) was refused")
        }
        return job.becoming(state, on: signal, at: Sample.now)
    }

    @Test func dropsPartAfterChecksumMismatch() throws {
        let wait = Wait(.retry(until: Sample.now), cause: mismatch)
        for signal in [JobSignal.attemptFailed(mismatch), .attemptDiverted(wait), .attemptDeferred(wait)] {
            #expect(try after(signal, job()).part == nil, "\(signal)")
        }
        #expect(try after(.attemptFailed(Sample.failure), job()).part != nil)
        #expect(try after(.attemptDeferred(Sample.wait), job()).part != nil)
    }

    @Test func recordsRestartOnlyWhenDeferredAtSameURL() throws {
        let wait = Wait(.retry(until: Sample.now), cause: mismatch)
        let deferred = try after(.attemptDeferred(wait), job())
        #expect(deferred.isPartLost && deferred.isCorrupt)
        for signal in [JobSignal.attemptFailed(mismatch), .attemptDiverted(wait)] {
            let job = try after(signal, job { $0.isCorrupt = true })
            #expect(!job.isPartLost && !job.isCorrupt, "\(signal)")
        }
    }

    /// One restart is allowed for each run and each URL.
    @Test func allowsOneRestartPerRunAndURL() throws {
        let disproved = job { $0.isCorrupt = true }
        #expect(try after(.attemptDeferred(Sample.wait), disproved).isCorrupt)
        #expect(try after(.attemptStopped(.pause), disproved).isCorrupt)
        #expect(try after(.attemptInterrupted, disproved).isCorrupt)
        #expect(try !after(.attemptDiverted(Sample.wait), disproved).isCorrupt)
        let failed = try after(.attemptFailed(Sample.failure), disproved)
        #expect(try !after(.retryRequested, failed).isCorrupt)
    }

    @Test func retriesMismatchOnlyWhenRestartIsAllowed() {
        func verdict(_ mayRestart: Bool) -> RetryPolicy.Decision {
            RetryPolicy().decision(
                on: mismatch, waitsFor: WaitFor.allCases, failuresInARow: 1, hint: .init(mayRestart: mayRestart),
                at: Sample.now, jitter: 1)
        }
        #expect(verdict(false) == .fail(mismatch))
        // At once, as waiting would not help.
        #expect(verdict(true) == .wait(Wait(.retry(until: Sample.now), cause: mismatch)))
        #expect(mismatch.isOfSource && !mismatch.mayPass)
        #expect(Failure.Code.allCases.filter { Failure($0, "").provesCorruption } == [.checksumMismatch])
    }
}
