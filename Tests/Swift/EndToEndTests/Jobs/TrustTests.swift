import Formats
import TestKit
import Testing

/// Which servers a session's transfers trust. Every certificate is a real one.
@Suite(.enabled(if: TLSOrigin.isAvailable)) struct TrustTests {
    private static let path = "/file"
    private let bytes = Content.random(seed: 18, count: 100_000)

    private func server(_ certificate: Certificate?) async throws -> TLSOrigin {
        let server = try await TLSOrigin(certificate)
        server.origin.serve(Self.path, .file(bytes))
        return server
    }

    /// Runs a job in a session with the given rules, and returns the job when it has succeeded or failed.
    private func outcome(
        _ server: TLSOrigin, _ tls: JSON, _ fetchd: some TestedService, host: String = "localhost"
    ) async throws -> JSON {
        try await fetchd.api.declareSession("secure", ["tls": tls])
        let id = try await fetchd.api.submit([
            "url": .string("https://\(host):\(server.port)\(Self.path)"), "session": "secure",
        ])
        return try await fetchd.api.waitForOutcome(id)
    }

    private func expectRefused(
        _ job: JSON, _ server: TLSOrigin, because words: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(job["failure"]["code"] == "tls_failed", sourceLocation: sourceLocation)
        // A retry would fail in the same way.
        #expect(job["failure"]["attempts"] == 1, sourceLocation: sourceLocation)
        let message = job["failure"]["message"].string ?? ""
        for word in words { #expect(message.contains(word), "\(message)", sourceLocation: sourceLocation) }
        #expect(message.contains("localhost:\(server.port)"), "\(message)", sourceLocation: sourceLocation)
        #expect(server.origin.requests.isEmpty, sourceLocation: sourceLocation)
    }

    // MARK: Certificates

    @Test func trustsOnlyTheGivenAuthority() async throws {
        let fetchd = try await LocalService.start()
        let (authority, other) = (try await CertificateAuthority(), try await CertificateAuthority(name: "Another"))
        let server = try await server(authority.issue())
        for rules: JSON in [[:], ["ca_file": .string(other.caFile)]] {
            expectRefused(try await outcome(server, rules, fetchd), server, because: "issuer")
        }
        let job = try await outcome(server, ["ca_file": .string(authority.caFile)], fetchd)
        #expect(job["state"] == "succeeded", "\(job.written)")
        #expect(fetchd.downloaded("file") == bytes)
    }

    @Test func refusesExpiredCertificate() async throws {
        let (fetchd, authority) = (try await LocalService.start(), try await CertificateAuthority())
        let server = try await server(authority.issue(.expired))
        let job = try await outcome(server, ["ca_file": .string(authority.caFile)], fetchd)
        expectRefused(job, server, because: "certificate", "expired")
    }

    @Test func refusesCertificateForAnotherHost() async throws {
        let (fetchd, authority) = (try await LocalService.start(), try await CertificateAuthority())
        let server = try await server(authority.issue(to: "elsewhere.example"))
        let job = try await outcome(server, ["ca_file": .string(authority.caFile)], fetchd)
        expectRefused(job, server, because: "certificate")
    }

    @Test func refusesSelfSignedCertificateUnlessGiven() async throws {
        let fetchd = try await LocalService.start()
        let server = try await server(nil)
        expectRefused(try await outcome(server, [:], fetchd), server, because: "self-signed")
        let job = try await outcome(server, ["ca_file": .string(server.certificatePath)], fetchd)
        #expect(job["state"] == "succeeded", "\(job.written)")
    }

    @Test func refusesUntrustedCertificateAfterRedirect() async throws {
        let (fetchd, origin) = (try await LocalService.start(), try Origin())
        let server = try await server(nil)
        origin.serve("/moved", .redirect(to: server.url(Self.path)))
        let id = try await fetchd.api.submit(["url": .string(origin.url("/moved"))])
        expectRefused(try await fetchd.api.waitForOutcome(id), server, because: "self-signed")
    }

    // MARK: Pins

    @Test func refusesServerWithoutPinnedKey() async throws {
        let (fetchd, authority) = (try await LocalService.start(), try await CertificateAuthority())
        let certificate = try await authority.issue()
        let server = try await server(certificate)
        let (right, wrong) = (try await certificate.pin, try await authority.issue().pin)
        func rules(_ pins: String..., host: String = "localhost") -> JSON {
            ["ca_file": .string(authority.caFile), "pinned_public_keys": .object([host: .strings(pins)])]
        }
        // The key has changed, or there is a man in the middle.
        expectRefused(try await outcome(server, rules(wrong), fetchd), server, because: "public key", "pinned")
        for accepted in [rules(right), rules(wrong, right), rules(wrong, host: "elsewhere.example")] {
            #expect(try await outcome(server, accepted, fetchd)["state"] == "succeeded", "\(accepted.written)")
        }
        let shown = try await fetchd.api.session("secure")["configuration"]["tls"]
        #expect(shown["pinned_public_keys"] == ["elsewhere.example": .strings([wrong])])
    }

    /// Host names are case-insensitive.
    @Test func comparesPinnedHostsCaseInsensitively() async throws {
        let (fetchd, authority) = (try await LocalService.start(), try await CertificateAuthority())
        let server = try await server(authority.issue())
        let wrong = try await authority.issue().pin
        for (pinned, asked) in [("LocalHost", "localhost"), ("localhost", "LOCALHOST")] {
            let rules: JSON = [
                "ca_file": .string(authority.caFile), "pinned_public_keys": .object([pinned: .strings([wrong])]),
            ]
            let job = try await outcome(server, rules, fetchd, host: asked)
            expectRefused(job, server, because: "pinned")
        }
    }

    @Test func checksPinWithoutVerification() async throws {
        let fetchd = try await LocalService.start()
        let server = try await server(nil)
        let wrong = try await Certificate.selfSigned().pin
        let rules: JSON = ["verify": false, "pinned_public_keys": ["localhost": .strings([wrong])]]
        expectRefused(try await outcome(server, rules, fetchd), server, because: "pinned")
        let pin = try await server.certificate.pin
        let right: JSON = ["verify": false, "pinned_public_keys": ["localhost": .strings([pin])]]
        #expect(try await outcome(server, right, fetchd)["state"] == "succeeded")
    }

    @Test func refusesMirrorWithoutPinnedKeyAndKeepsPart() async throws {
        let (fetchd, authority) = (try await LocalService.start(), try await CertificateAuthority())
        let (before, after) = (try await server(authority.issue()), try await server(authority.issue()))
        before.origin.serve(Self.path, .file(bytes), .closing(after: 50_000).once, .answering(404).on(2...))
        let rules: JSON = [
            "ca_file": .string(authority.caFile),
            "pinned_public_keys": ["localhost": .strings([try await before.certificate.pin])],
        ]
        try await fetchd.api.declareSession("secure", ["tls": rules, "retry": ["base_seconds": 0]])
        let id = try await fetchd.api.submit([
            "urls": .strings([before.url(Self.path), after.url(Self.path)]), "session": "secure",
        ])
        let job = try await fetchd.api.waitForOutcome(id)
        #expect(job["failure"]["code"] == "tls_failed")
        #expect(job["progress"]["bytes_durable"] == 50_000)
        #expect(after.origin.requests.isEmpty)
    }

    // MARK: Without verification

    @Test func acceptsAnyCertificateAndLogsWarningWithoutVerification() async throws {
        let (fetchd, authority) = (try await LocalService.start(), try await CertificateAuthority())
        #expect(!fetchd.log.contains("verify certificates"))
        var attempts = 0
        for certificate in [
            nil, try await authority.issue(.expired), try await authority.issue(to: "elsewhere.example"),
        ] {
            let server = try await server(certificate)
            let job = try await outcome(server, ["verify": false], fetchd)
            #expect(job["state"] == "succeeded", "\(job.written)")
            attempts += 1
            let id = try #require(job["id"].string)
            let warnings = fetchd.log.split(separator: "\n").filter { $0.contains("warning") }
            #expect(warnings.count { $0.contains("Session secure") && $0.contains("verify") } == attempts)
            #expect(warnings.count { $0.contains(id) && $0.contains("does not verify") } == 1, "\(fetchd.log)")
        }
        #expect(try await fetchd.api.session("secure")["configuration"]["tls"]["verify"] == false)
        // The rule applies to this session only.
        let server = try await server(nil)
        let other = try await fetchd.api.submit(["url": .string(server.url(Self.path))])
        expectRefused(try await fetchd.api.waitForOutcome(other), server, because: "self-signed")
        #expect(try await fetchd.api.session()["configuration"]["tls"]["verify"] == true)
    }

    // MARK: Validation

    @Test func refusesTLSRulesOfJob() async throws {
        let scene = try await Scene()
        let answer = try await scene.api.post("/v1/jobs", scene.order("/file", ("tls", ["verify": false])))
        #expect(answer.status == 422)
        #expect(answer.problem == .init(kind: "unknown-field", pointer: "/tls"))
        let patch = try await scene.api.send(
            "PATCH", "/v1/jobs/\(scene.job(in: .waiting))", ["tls": ["verify": false]])
        #expect(patch.status == 422)
        #expect(patch.problem == .init(kind: "unknown-field", pointer: "/tls"))
    }

    @Test func refusesInvalidTLSRules() async throws {
        let (scene, folder) = (try await Scene(), try TemporaryFolder())
        let text = try folder.write("This is no certificate.\n", to: "ca.pem")
        let cases: [(JSON, String, String)] = [
            ([], "invalid-value", "/tls"),
            (["ca_file": 5], "invalid-value", "/tls/ca_file"),
            (["ca_file": "relative.pem"], "invalid-value", "/tls/ca_file"),
            (["ca_file": .string(folder.path("none.pem"))], "invalid-value", "/tls/ca_file"),
            (["ca_file": .string(folder.path)], "invalid-value", "/tls/ca_file"),
            (["ca_file": .string(text)], "invalid-value", "/tls/ca_file"),
            (["pinned_public_keys": []], "invalid-value", "/tls/pinned_public_keys"),
            (["pinned_public_keys": ["host": "x"]], "invalid-value", "/tls/pinned_public_keys/host"),
            (["pinned_public_keys": ["host:443": []]], "invalid-value", "/tls/pinned_public_keys/host:443"),
            (["pinned_public_keys": ["*.host": []]], "invalid-value", "/tls/pinned_public_keys/*.host"),
            (["pinned_public_keys": ["": []]], "invalid-value", "/tls/pinned_public_keys/"),
            (["pinned_public_keys": ["host": []]], "invalid-value", "/tls/pinned_public_keys/host"),
            (["pinned_public_keys": ["host": ["c2hvcnQ="]]], "invalid-value", "/tls/pinned_public_keys/host"),
            (["pinned_public_keys": ["host": [5]]], "invalid-value", "/tls/pinned_public_keys/host"),
            (["verify": "no"], "invalid-value", "/tls/verify"),
            (["insecure": true], "unknown-field", "/tls/insecure"),
        ]
        for (tls, kind, pointer) in cases {
            let answer = try await scene.api.put("/v1/sessions/secure", ["tls": tls])
            #expect(answer.status == 422, "\(tls.written)")
            #expect(answer.problem == .init(kind: kind, pointer: pointer), "\(answer)")
        }
        #expect(try await scene.api.get("/v1/sessions/secure").status == 404)
        #expect(!scene.fetchd.log.contains("verify certificates"))
    }
}
