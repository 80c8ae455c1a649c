import Downloads
import HTTPSemantics
import Testing

/// When equal bytes may show that two responses have one version, and which bytes are compared.
@Suite struct ResumeEvidenceTests {
    private static let old = "Mon, 19 Aug 2019 15:23:14 GMT"
    private static let new = "Tue, 20 Aug 2019 15:23:14 GMT"
    private static let strong = Validators(etag: "\"a\"", lastModified: old)
    private static let weak = Validators(etag: "W/\"a\"", lastModified: old)
    private static let recent = Validators(etag: "\"a\"", etagIsRecent: true, lastModified: old)
    private static let dated = Validators(lastModified: old)

    private func judge(
        _ before: Validators, _ now: Validators, _ policy: ResumePolicy, size: Int64 = 1000, status: Int = 206,
        isWeighed: Bool = false, checksum: Bool = false
    ) -> ResponseDecision {
        var asked = RequestedRange(offset: 100, validators: before, size: 1000)
        asked.policy = policy
        asked.restsOnChecksum = checksum
        if isWeighed { asked = asked.weighed(overlapping: 60) }
        let headers =
            status == 206
            ? [(name: "Content-Range", value: "bytes \(asked.start)-\(size - 1)/\(size)")]
            : [(name: "Content-Length", value: "\(size)")]
        var response = ResponseFacts(status: status, headers: headers)
        response.validators = now
        return .judge(response, asked: asked, presentBytes: 100)
    }

    /// [before, now, whether strict weighs, whether evidence weighs].
    @Test(arguments: [
        (strong, Validators(etag: "\"a\"", lastModified: new), true, true),
        (strong, Validators(etag: "\"b\"", lastModified: old), false, true),
        (strong, Validators(etag: "\"b\"", lastModified: new), false, false),
        (strong, Validators(etag: "\"b\""), false, false),
        (strong, Validators(etag: "W/\"a\"", lastModified: old), false, false),
        (weak, weak, false, true), (weak, Validators(etag: "W/\"a\"", lastModified: new), false, false),
        (Validators(etag: "W/\"a\""), Validators(etag: "W/\"a\""), false, true),
        (weak, Validators(etag: "W/\"b\"", lastModified: old), false, false), (recent, strong, false, true),
        (recent, Validators(etag: "\"a\"", lastModified: new), false, false), (dated, dated, false, true),
        (dated, Validators(lastModified: new), false, false), (dated, Validators(), false, false),
        (dated, strong, false, false), (Validators(), Validators(), false, false),
    ]) func weighsWhereFactsAllowOneVersion(_ before: Validators, _ now: Validators, _ strict: Bool, _ evidence: Bool) {
        for (policy, weighs) in [(ResumePolicy.strict, strict), (.evidence, evidence)] {
            #expect((judge(before, now, policy) == .weigh) == weighs, "\(policy)")
            let decision = judge(before, now, policy, isWeighed: true)
            let resumed = ResponseDecision.accept(at: 100, skipping: 60, size: 1000, .resumed(offset: 100))
            #expect((decision == resumed) == weighs, "\(policy): \(decision)")
            // Another size is another file.
            if case .askFromStart = judge(before, now, policy, size: 1001) {} else { Issue.record("\(policy), size") }
            // The checksum of the job decides, as it does without evidence.
            #expect(judge(before, now, policy, checksum: true) != .weigh)
        }
    }

    @Test func sameStrongTagAndDateNeedNoEvidence() {
        let resumed = ResponseDecision.accept(at: 100, skipping: 0, size: 1000, .resumed(offset: 100))
        for policy in ResumePolicy.allCases {
            #expect(judge(Self.strong, Self.strong, policy) == resumed)
            #expect(judge(Self.strong, Validators(etag: "\"a\""), policy) == resumed)
        }
    }

    /// A server whose tags differ answers `If-Range` with the whole file.
    @Test func weighsAfterAWholeFileWithAnotherTag() {
        let other = Validators(etag: "\"b\"", lastModified: Self.old)
        #expect(judge(Self.strong, other, .evidence, status: 200) == .weigh)
        for decision in [
            judge(Self.strong, other, .strict, status: 200),
            judge(Self.strong, other, .evidence, status: 200, isWeighed: true),
        ] { #expect(decision == .accept(at: 0, skipping: 0, size: 1000, .restarted(.etagChanged))) }
    }

    private func part(_ ranges: [[Int64]], id: String = "part_1") throws -> Part {
        Part(
            id: PartID(id), url: "", validators: Self.weak, size: 10_000_000,
            ranges: try #require(ByteRanges(pairs: ranges)))
    }

    @Test func comparesBytesBeforeTheRestAndSamplesOfTheOthers() throws {
        let part = try part([[0, 1_000_000]])
        #expect(part.overlap == 65_536)
        #expect(part.samples.count == 3)
        for sample in part.samples {
            #expect(sample.count == 16_384 && sample.lowerBound >= 0 && sample.upperBound <= 1_000_000 - 65_536)
        }
        #expect(try self.part([[0, 1_000_000]], id: "part_2").samples != part.samples)
        #expect(try self.part([[0, 1_000_000]]).samples == part.samples)
    }

    @Test func comparesWhatThereIs() throws {
        let short = try part([[0, 1000]])
        #expect(short.overlap == 1000 && short.samples.isEmpty)
        // The first missing bytes are at the beginning.
        let late = try part([[5000, 9000], [20_000, 20_010]])
        #expect(late.overlap == 0)
        for sample in late.samples {
            #expect(
                [5000..<9000, 20_000..<20_010].contains {
                    $0.lowerBound <= sample.lowerBound && sample.upperBound <= $0.upperBound
                })
            #expect(!sample.isEmpty)
        }
        let gap = try part([[0, 100_000], [200_000, 300_000]])
        #expect(gap.overlap == 65_536 && gap.rest.offset == 100_000 && gap.rest.end == 200_000)
    }
}
