import Foundation
import HTTPSemantics
import Testing

/// The forms of lists of digests, and which of their lines is that of a file.
@Suite struct ChecksumListTests {
    private static let (sha256, other) = (String(repeating: "a1", count: 32), String(repeating: "b2", count: 32))
    private static let (sha512, md5) = (String(repeating: "c3", count: 64), String(repeating: "d4", count: 16))

    private func value(
        _ text: String, in name: String = "checksums.txt", of file: String = "a.iso", isExact: Bool = false
    ) -> String? {
        let list = ChecksumList(Array(text.utf8), named: name)
        return try? list.entry(for: file, isExact: isExact).get().checksum.value
    }

    private func fault(
        _ text: String, in name: String = "checksums.txt", of file: String = "a.iso", isExact: Bool = false
    ) -> ChecksumList.Fault? {
        let list = ChecksumList(Array(text.utf8), named: name)
        guard case .failure(let fault) = list.entry(for: file, isExact: isExact) else { return nil }
        return fault
    }

    /// Each form with the right name, and with another one.
    @Test(arguments: [
        "\(sha256)  %", "\(sha256) *%", "\(sha256) %", "\(sha256)\t%", "\(sha256)\t\t%", "\(sha256)  ./%",
        "\(sha256) *./%",
        "\(sha256)  ././%", "\(sha256)  pool/main/%", "\(sha256.uppercased())  %", "\\\(sha256)  %",
        "SHA256 (%) = \(sha256)", "SHA256 (./%) = \(sha256)", "SHA256(%)= \(sha256)", "SHA2-256(%)= \(sha256)",
        "sha-256 (%) = \(sha256)", "\\SHA256 (%) = \(sha256)",
        "# a comment\n\n\(sha256)  %\n\(other)  b.iso", "\u{FEFF}\(sha256)  %", "\(other)  b.iso\r\n\(sha256)  %\r\n",
        "\(other)  b.iso\0\(sha256)  %\0",
        "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n\(sha256)  %\n-----BEGIN PGP SIGNATURE-----\n\niQIz\n=x\n",
        "\(sha256)  %\n\(sha256)  %",
    ])
    func readsEachForm(_ form: String) {
        #expect(value(form.replacing("%", with: "a.iso")) == Self.sha256)
        #expect(fault(form.replacing("%", with: "aa.iso")) == .notListed)
        #expect(fault(form.replacing("%", with: "a.iso.sig")) == .notListed)
        #expect(fault(form.replacing("%", with: "A.iso")) == .notListed)
    }

    @Test(arguments: [
        "\(sha256)", "\(sha256)\n", " \(sha256) \r\n", "\(sha256)  -\n", "\(sha256) *-\n", "\n\n\(sha256)\n",
        "sha256:\(sha256)\n", "SHA-256 = \(sha256)\n",
    ])
    func readsASingleDigest(_ form: String) {
        #expect(value(form) == Self.sha256)
        // The client has named a file, and nothing shows that this digest is the file's.
        #expect(fault(form, isExact: true) == .notListed)
    }

    @Test(arguments: [
        "", "\n", "nonsense", "\(sha256)", "\(sha256)\n\(other)", "\(sha256) ?a.iso", "\(sha256) ^a.iso",
        "\(sha256)0  a.iso", "\(sha256.dropLast())g  a.iso", "\(sha256.dropLast(2))  a.iso", "SHA256 (a.iso) = \(md5)",
        "SHA3-256 (a.iso) = \(sha256)", "SHA512/256 (a.iso) = \(sha256)", "BLAKE2b (a.iso) = \(sha512)",
        "a.iso  \(sha256)", "a.iso: \(sha256)", "<html>\(sha256)  a.iso</html>",
    ])
    func findsNoDigest(_ text: String) {
        #expect(fault(text, isExact: true) == .notListed)
    }

    @Test(arguments: ["md5:\(sha256)", "sha256:x:\(sha256)", "crc:\(sha256)", "\(sha256):"])
    func findsNoSingleDigest(_ text: String) {
        #expect(fault(text) == (text.hasSuffix(":") ? nil : .notListed))
    }

    @Test func neverGuesses() {
        let list = "\(Self.sha256)  x/a.iso\n\(Self.other)  y/a.iso\n"
        #expect(fault(list) == .ambiguous)
        #expect(fault(list, isExact: true) == .ambiguous)
        #expect(value(list, of: "x/a.iso", isExact: true) == Self.sha256)
        #expect(value(list, of: "./y/a.iso", isExact: true) == Self.other)
        #expect(fault(list, of: "z/a.iso", isExact: true) == .notListed)
        let nested = "\(Self.sha256)  a.iso\n\(Self.other)  old/a.iso\n"
        #expect(fault(nested) == .ambiguous)
        // The client has given the whole name of an entry.
        #expect(value(nested, isExact: true) == Self.sha256)
        #expect(fault("\(Self.sha256)  a.iso\n\(Self.other)  a.iso\n", isExact: true) == .ambiguous)
    }

    @Test func usesTheStrongestOfSeveralDigests() {
        let list = "MD5 (a.iso) = \(Self.md5)\nSHA512 (a.iso) = \(Self.sha512)\nSHA256 (a.iso) = \(Self.sha256)\n"
        #expect(value(list) == Self.sha512)
        #expect(value(list, in: "CHECKSUM.SHA256") == Self.sha256)
        #expect(value(list, in: "MD5SUMS") == Self.md5)
    }

    @Test(arguments: [
        ("SHA256SUMS", "sha-256"), ("sha256sum.txt", "sha-256"), ("SHASUMS256.txt", "sha-256"),
        ("a.iso.sha256", "sha-256"),
        ("CHECKSUM.SHA256", "sha-256"), ("SHA256", "sha-256"), ("a_sha-256.txt", "sha-256"),
        ("checksums-sha256.txt", "sha-256"),
        ("sha1-tool.tar.gz.sha256sum", "sha-256"), ("SHA256SUMS.gpg.txt", "sha-256"),
    ])
    func takesTheAlgorithmOfTheName(_ name: String, _ algorithm: String) throws {
        let list = ChecksumList(Array("\(Self.sha256)  a.iso\n".utf8), named: name)
        #expect(try list.entry(for: "a.iso", isExact: false).get().checksum.algorithm.rawValue == algorithm)
        // The algorithm in the name of the list counts, and not the one in a line.
        #expect(fault("\(Self.md5)  a.iso\n", in: name) == .notListed)
        #expect(fault("SHA512 (a.iso) = \(Self.sha512)\n", in: name) == .notListed)
    }

    @Test(arguments: ["B2SUMS", "sha3-256sums", "SHA384SUMS", "a.iso.blake3", "SHA512-256.txt"])
    func refusesOtherAlgorithms(_ name: String) {
        guard case .unsupported? = fault("\(Self.sha256)  a.iso\n", in: name) else {
            Issue.record("accepted")
            return
        }
    }

    @Test func readsNamesWithEscapesAndBlanks() {
        #expect(value("\\\(Self.sha256)  a\\nb\\\\c\n", of: "a\nb\\c") == Self.sha256)
        #expect(value("\(Self.sha256)  a b (1).iso\n", of: "a b (1).iso") == Self.sha256)
        #expect(value("SHA256 (a) = b (1)) = \(Self.sha256)\n", of: "a) = b (1)") == Self.sha256)
        #expect(value("\(Self.sha256)  *a.iso\n", of: "*a.iso") == Self.sha256)
    }
}
