import CurlClient
import Foundation
import TestKit
import Testing

/// The TLS settings of transfers, with real certificates.
@Suite(.enabled(if: TLSOrigin.isAvailable)) struct TrustTests {
    let client: CurlClient

    init() throws {
        client = try CurlClient()
    }

    private func run(
        _ server: TLSOrigin, _ tls: TransferRequest.TLSOptions, host: String = "localhost"
    ) async throws -> TransferResult {
        try await client.run(TransferRequest(url: "https://\(host):\(server.port)/", tls: tls)).0
    }

    private func failure(of result: TransferResult) -> String? {
        guard case .tlsFailed(let why) = result.error else {
            Issue.record("\(result.outcome)")
            return nil
        }
        return why
    }

    @Test func trustsOnlyTheGivenCAFile() async throws {
        let (authority, other) = (try await CertificateAuthority(), try await CertificateAuthority(name: "Another"))
        let server = try await TLSOrigin(authority.issue())
        #expect(try await run(server, .init(caFile: authority.caFile)).outcome == .completed)
        for stranger in [TransferRequest.TLSOptions(), .init(caFile: other.caFile)] {
            #expect(failure(of: try await run(server, stranger)) == "its certificate's issuer is not known")
        }
    }

    @Test func refusesSelfSignedCertificates() async throws {
        let server = try await TLSOrigin()
        #expect(failure(of: try await run(server, .init())) == "its certificate is self-signed and not trusted")
        #expect(try await run(server, .init(caFile: server.certificatePath)).outcome == .completed)
    }

    @Test func refusesExpiredCertificates() async throws {
        let authority = try await CertificateAuthority()
        let server = try await TLSOrigin(authority.issue(.expired))
        #expect(failure(of: try await run(server, .init(caFile: authority.caFile))) == "its certificate has expired")
    }

    @Test func refusesCertificatesForAnotherHost() async throws {
        let authority = try await CertificateAuthority()
        let server = try await TLSOrigin(authority.issue(to: "elsewhere.example"))
        let trusting = TransferRequest.TLSOptions(caFile: authority.caFile)
        for host in ["localhost", "127.0.0.1"] {
            let why = failure(of: try await run(server, trusting, host: host))
            #expect(why?.hasPrefix("its certificate is for another host") == true, "\(why ?? "")")
        }
    }

    @Test func requiresAPinnedKey() async throws {
        let authority = try await CertificateAuthority()
        let certificate = try await authority.issue()
        let server = try await TLSOrigin(certificate)
        let (right, wrong) = (try await certificate.pin, try await authority.issue().pin)
        for pins in [[right], ["sha256//" + right], [wrong, right]] {
            let tls = TransferRequest.TLSOptions(caFile: authority.caFile, pinnedPublicKeys: pins)
            #expect(try await run(server, tls).outcome == .completed)
        }
        // With and without verification of the certificate.
        for verifies in [true, false] {
            let tls = TransferRequest.TLSOptions(
                caFile: authority.caFile, pinnedPublicKeys: [wrong], verifies: verifies)
            #expect(failure(of: try await run(server, tls)) == "its public key is none of the pinned ones")
        }
        // A pinned key does not replace the verification of the certificate.
        let unknown = TransferRequest.TLSOptions(pinnedPublicKeys: [right])
        #expect(failure(of: try await run(server, unknown)) == "its certificate's issuer is not known")
    }

    @Test func acceptsAnyCertificateWithoutVerification() async throws {
        let authority = try await CertificateAuthority()
        let servers = [
            try await TLSOrigin(), try await TLSOrigin(authority.issue(.expired)),
            try await TLSOrigin(authority.issue(to: "elsewhere.example")),
        ]
        for server in servers {
            #expect(try await run(server, .init(verifies: false)).outcome == .completed)
        }
    }

    /// For each setting, an idle connection is open. Only transfers with equal settings may reuse it.
    @Test func reusesConnectionsOnlyWithEqualTLSOptions() async throws {
        let authority = try await CertificateAuthority()
        let certificate = try await authority.issue()
        let server = try await TLSOrigin(certificate)
        let pin = try await certificate.pin
        let other = try await authority.issue().pin
        let copy = try TemporaryFolder()
        let sameAuthority = try copy.write(text(of: authority.caFile), to: "ca.pem")

        let (unverified, trusting) = (TransferRequest.TLSOptions(verifies: false), authority.caFile)
        for first in [
            unverified, .init(caFile: trusting), .init(caFile: trusting, pinnedPublicKeys: [pin]),
            .init(pinnedPublicKeys: [pin], verifies: false),
        ] {
            // Opened once, and then reused.
            let connections = server.origin.connectionCount
            for _ in 0..<2 { #expect(try await run(server, first).outcome == .completed) }
            #expect(server.origin.connectionCount == connections + 1)
        }
        let connections = server.origin.connectionCount
        #expect(try await run(server, .init()).error != nil)
        #expect(try await run(server, .init(caFile: trusting, pinnedPublicKeys: [other])).error != nil)
        #expect(try await run(server, .init(pinnedPublicKeys: [other], verifies: false)).error != nil)
        #expect(try await run(server, .init(pinnedPublicKeys: [pin])).error != nil)
        #expect(server.origin.requests.count == 8)
        let elsewhere = try await run(server, .init(caFile: sameAuthority))
        #expect(elsewhere.outcome == .completed)
        #expect(server.origin.connectionCount > connections)
    }

    @Test func doesNotTrustSystemCertificatesBesidesACAFile() async throws {
        let authority = try await CertificateAuthority()
        let server = try await TLSOrigin(authority.issue())
        // In sequence on one client, whose certificate cache has room for one file.
        for _ in 0..<3 {
            #expect(try await run(server, .init()).error != nil)
            #expect(try await run(server, .init(caFile: authority.caFile)).outcome == .completed)
        }
    }

    @Test func missingCAFileIsTLSFailed() async throws {
        let server = try await TLSOrigin()
        let why = failure(of: try await run(server, .init(caFile: "/nowhere/ca.pem")))
        #expect(why == "the CA file /nowhere/ca.pem cannot be used")
    }

    @Test func caFileWithoutACertificateIsTLSFailed() async throws {
        let (server, folder) = (try await TLSOrigin(), try TemporaryFolder())
        let file = try folder.write("nothing\n", to: "ca.pem")
        #expect(failure(of: try await run(server, .init(caFile: file))) == "the CA file \(file) cannot be used")
    }

    @Test(arguments: [
        TransferRequest.TLSOptions(caFile: ""), .init(caFile: "a\0b"), .init(pinnedPublicKeys: [""]),
        .init(pinnedPublicKeys: ["/etc/passwd"]), .init(pinnedPublicKeys: ["sha256//"]),
        .init(pinnedPublicKeys: ["sha256//AAAA"]),
        .init(pinnedPublicKeys: ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA;="]),
    ])
    func refusesInvalidTLSOptionsBeforeSending(tls: TransferRequest.TLSOptions) async throws {
        let origin = try Origin()
        let (result, _) = try await client.run(TransferRequest(url: origin.url("/"), tls: tls))
        _ = failure(of: result)
        #expect(origin.connectionCount == 0)
    }

    private func text(of path: String) throws -> String {
        try String(contentsOfFile: path, encoding: .utf8)
    }
}
