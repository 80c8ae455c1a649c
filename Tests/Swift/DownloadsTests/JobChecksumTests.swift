import Downloads
import Foundation
import HTTPSemantics
import Testing

/// Checksums in the job's specification and its attempts.
@Suite struct JobChecksumTests {
    private let md5 = "900150983cd24fb0d6963f7d28e17f72"

    @Test func storesChecksumByAlgorithmName() throws {
        let checksum = ExpectedChecksum.value(try #require(Checksum(.md5, hexadecimal: md5)))
        var spec = JobSpec(url: "https://host/")
        spec.checksum = checksum
        let stored = try JSONEncoder().encode(spec)
        #expect(String(decoding: stored, as: UTF8.self).contains(#""algorithm":"md5""#))
        #expect(try JSONDecoder().decode(JobSpec.self, from: stored).checksum == checksum)
        let before = Data(#"{"url":"https://host/"}"#.utf8)
        #expect(try JSONDecoder().decode(JobSpec.self, from: before).checksum == nil)
        #expect(!Sample.job().document().written.contains("checksum"))
    }

    @Test func storesTheAddressOfAList() throws {
        let signature = ChecksumSignature(kind: .signify, url: "https://host/SHA256.sig?b", keys: ["RW"])
        var spec = JobSpec(url: "https://host/")
        spec.checksum = .file(ChecksumFile(url: "https://host/SHA256?a", file: "f", signature: signature))
        #expect(try JSONDecoder().decode(JobSpec.self, from: JSONEncoder().encode(spec)).checksum == spec.checksum)
        #expect(spec.holdsSecrets && spec.secrets == [.checksum])
        let redacted = spec.withoutSecrets
        #expect(redacted.checksum?.file?.url == "https://host/SHA256?...")
        #expect(redacted.checksum?.file?.signature?.url == "https://host/SHA256.sig?...")
        #expect(redacted.lost == [.checksum])
    }

    @Test(arguments: [
        ("RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3", true),
        ("RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO", false),
        ("RXQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3", false),
        ("untrusted comment: minisign public key 9EBA81C8B4C6AD28x", false), ("", false),
    ])
    func readsPublicKeys(_ line: String, _ isKey: Bool) { #expect((SignatureKey(base64: line) != nil) == isKey) }

    @Test func namesClaimantAndDigestsInMismatch() throws {
        let digests: [Checksum.Algorithm: String] = [
            .md5: String(repeating: "04", count: 16), .sha256: String(repeating: "09", count: 32),
        ]
        let right = claim(.client, .md5, 4)
        #expect(right.refutation(by: digests) == nil)
        #expect([right].refutation(by: digests) == nil)
        #expect([DigestClaim]().refutation(by: [:]) == nil)
        for (claimant, name): (DigestClaim.Claimant, String) in [
            (.client, "the job's checksum"), (.reprDigest, "the server's Repr-Digest"),
            (.contentDigest, "the server's Content-Digest"), (.contentMD5, "the server's Content-MD5"),
        ] {
            let failure = try #require([right, claim(claimant, .sha256, 1)].refutation(by: digests))
            #expect(failure.code == .checksumMismatch)
            for part in [name, "sha-256", String(repeating: "01", count: 32), String(repeating: "09", count: 32)] {
                #expect(failure.message.contains(part), "\(failure.message)")
            }
        }
        // A digest that was not computed does not match.
        #expect(claim(.client, .sha1, 4).refutation(by: digests)?.code == .checksumMismatch)
    }

    private func claim(_ claimant: DigestClaim.Claimant, _ algorithm: Checksum.Algorithm, _ byte: UInt8) -> DigestClaim
    {
        DigestClaim(claimant, Checksum(algorithm, bytes: Array(repeating: byte, count: algorithm.size))!)
    }
}
