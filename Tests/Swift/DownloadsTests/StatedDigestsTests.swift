import Downloads
import HTTPSemantics
import Testing

/// Which responses belong to the version of which a server has stated a digest.
@Suite struct StatedDigestsTests {
    private static let old = "Mon, 19 Aug 2019 15:23:14 GMT"
    private static let new = "Tue, 20 Aug 2019 15:23:14 GMT"
    private let digest = DigestClaim(.reprDigest, Checksum(.md5, bytes: Array(repeating: 1, count: 16))!)
    private let other = DigestClaim(.contentMD5, Checksum(.md5, bytes: Array(repeating: 2, count: 16))!)

    private func stated(
        _ validators: Validators = Validators(), size: Int64? = 100, _ digests: [DigestClaim]? = nil
    ) -> StatedDigests {
        StatedDigests(digests ?? [digest], validators: validators, size: size)
    }

    @Test(arguments: [
        (Validators(etag: "\"a\""), Validators(etag: "\"a\""), Int64(100), true),
        (Validators(etag: "\"a\""), Validators(etag: "\"b\""), 100, false),
        (Validators(etag: "\"a\""), Validators(etag: "W/\"a\""), 100, false),
        (Validators(etag: "\"a\"", lastModified: old), Validators(etag: "\"a\"", lastModified: new), 100, true),
        (Validators(etag: "\"a\"", lastModified: old), Validators(lastModified: new), 100, false),
        (Validators(etag: "\"a\"", lastModified: old), Validators(lastModified: old), 100, true),
        (Validators(etag: "\"a\""), Validators(), 100, true), (Validators(), Validators(etag: "\"a\""), 100, true),
        (Validators(etag: "\"a\""), Validators(etag: "\"a\""), 101, false),
        (Validators(etag: "\"a\""), Validators(etag: "\"a\"", isEncoded: true), 100, false),
    ]) func holdsUntilAnotherVersionBegins(_ known: Validators, _ next: Validators, _ size: Int64, _ holds: Bool) {
        #expect(stated(known).holds(for: next, size: size) == holds)
        let seen = stated(next, size: size, [])
        #expect(StatedDigests?(stated(known)).after(seen)?.digests == (holds ? [digest] : nil))
    }

    @Test func anUnknownSizeIsNoOtherSize() {
        #expect(stated(size: nil).holds(for: Validators(), size: 5))
        #expect(stated().holds(for: Validators(), size: nil))
        #expect(StatedDigests?(stated(size: nil)).after(stated(size: 5, []))?.size == 5)
    }

    @Test func digestsOfOneVersionAddUp() {
        let both = StatedDigests?(stated()).after(stated(Validators(), [other, digest]))
        #expect(both?.digests == [digest, other])
        #expect(StatedDigests?.none.after(stated(Validators(), [])) == nil)
        let next = StatedDigests?(stated(Validators(etag: "\"a\""))).after(stated(Validators(etag: "\"b\""), [other]))
        #expect(next == stated(Validators(etag: "\"b\""), [other]))
    }
}
