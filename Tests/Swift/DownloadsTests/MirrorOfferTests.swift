import Downloads
import Foundation
import HTTPSemantics
import Testing

/// What responses say about other sources of a file (RFC 6249).
@Suite struct MirrorOfferTests {
    private static let sha256 = "n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="
    private static let digest = Checksum(.sha256, bytes: [UInt8](base64: sha256)!)
    private static let other = Checksum(.sha256, bytes: Array(repeating: 7, count: 32))

    private func offer(_ heads: (status: Int, headers: [(name: String, value: String)])...) -> MirrorOffer {
        MirrorOffer(heads.enumerated().map { .init(url: "https://h\($0)/d/f", status: $1.status, headers: $1.headers) })
    }

    @Test func sortsMirrorsAndResolvesThem() {
        let found = offer(
            (
                302,
                [("Location", "https://h1/d/f"), ("Link", "<http://c/f>; rel=duplicate, <f2>; rel=duplicate; pri=2")]
            ),
            (200, [("Link", "<http://a/f>; rel=duplicate; pri=1, <http://c/f>; rel=duplicate; pri=0, <x>; rel=next")]))
        #expect(found.duplicates == ["http://a/f", "https://h0/d/f2", "http://c/f"])
        #expect(found.description == nil)
    }

    @Test func describesByAMetalinkOnly() {
        let link = { (type: String) in "<f.meta4>; rel=describedby; type=\"\(type)\"" }
        #expect(offer((200, [("Link", link("application/metalink4+xml"))])).description == "https://h0/d/f.meta4")
        #expect(offer((200, [("Link", link("text/html"))])).description == nil)
    }

    /// `Repr-Digest` of a redirect is that of its own body.
    @Test func readsTheDigestOfTheFile() {
        let old = ("Digest", "SHA-256=\(Self.sha256)"), new = ("Repr-Digest", "sha-256=:\(Self.sha256):")
        let location = ("Location", "https://h1/d/f")
        #expect(offer((200, [new])).checksum == Self.digest)
        #expect(offer((302, [location, old]), (200, [])).checksum == Self.digest)
        #expect(offer((302, [location, new]), (200, [])).checksum == nil)
        #expect(offer((200, [("Content-MD5", "kAFQmDzST7DWlj99KOF/cg==")])).checksum == nil)
        let contradiction = ("Digest", "SHA-256=" + Data(repeating: 7, count: 32).base64EncodedString())
        #expect(offer((302, [location, contradiction]), (200, [new])).checksum == nil)
    }

    @Test func addsADocumentAboutTheSameFile() {
        let pieces = PieceDigests(.sha256, length: 5, digests: Data(repeating: 1, count: 64))
        let stated = offer((200, [("Content-Length", "9"), ("Repr-Digest", "sha-256=:\(Self.sha256):")]))
        let silent = offer((200, [("Content-Length", "9")]))
        func found(_ offer: MirrorOffer, _ size: Int64?, _ digest: Checksum?) -> Discovery {
            offer.discovery(
                adding: (["http://m/1", "https://h0/d/f", "http://m/1"], size, digest, pieces),
                besides: ["https://h0/d/f"])
        }
        let all = Discovery(mirrors: ["http://m/1"], checksum: Self.digest, pieces: pieces)
        #expect(found(stated, 9, Self.digest) == all)
        #expect(found(stated, nil, nil) == all)
        #expect(found(silent, 9, Self.digest) == all)
        #expect(found(stated, 8, Self.digest) == Discovery(checksum: Self.digest))
        #expect(found(stated, 9, Self.other) == Discovery(checksum: Self.digest))
        #expect(found(silent, 9, Checksum(.md5, bytes: Array(0..<16))) == Discovery())
    }

    @Test func limitsTheNumberOfSources() {
        let links = (0..<30).map { "<http://m/\($0)>; rel=duplicate; pri=\($0 + 1)" }.joined(separator: ", ")
        let found = offer((200, [("Link", links)])).discovery(adding: nil, besides: ["https://h0/d/f", "http://m/0"])
        #expect(found.mirrors == (1...14).map { "http://m/\($0)" })
    }
}
