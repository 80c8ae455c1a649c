import Formats
import TestKit
import Testing

/// The message of a 401 says which credentials the job had, and what the server wants instead.
@Suite struct RefusedCredentialsTests {
    private static let basic: JSON = ["type": "basic", "username": "me", "password": "pw"]
    private static let digest: JSON = ["type": "digest", "username": "me", "password": "pw"]
    private static let bearer: JSON = ["type": "bearer", "token": "t"]

    private let scene: Scene

    init() async throws { scene = try await Scene() }

    private func failure(_ order: JSON) async throws -> JSON {
        let job = try await scene.api.waitForJob(scene.api.submit(order), .failed)
        #expect(job["failure"]["code"] == "credentials_required")
        #expect(job["failure"]["status"] == 401)
        #expect(job["challenge"]["scheme"] != .null)
        return job
    }

    @Test(
        arguments: [
            (JSON.null, ["Basic realm=x"], "asks for basic credentials (401); the job has none."),
            (basic, ["Basic realm=x"], "The server refused the job's basic credentials (401)."),
            (digest, ["Digest realm=x, nonce=n"], "The server refused the job's digest credentials (401)."),
            (bearer, ["Bearer"], "The server refused the job's bearer credentials (401)."),
            (basic, ["Digest realm=x, nonce=n"], "asks for digest credentials (401); the job has basic ones."),
            (
                basic, ["Negotiate", "Bearer"],
                "asks for negotiate or bearer credentials (401); the job has basic ones."
            ),
            (digest, ["Digest realm=x, nonce=n, algorithm=SHA-512-256, qop=\"auth\""], "with SHA-512-256 (401)."),
            (.null, ["Negotiate, NTLM"], "asks for negotiate or ntlm credentials (401). fetchd supports"),
            (
                digest, ["Negotiate", "Digest realm=x, nonce=n"],
                "The server refused the job's digest credentials (401)."
            ),
        ] as [(JSON, [String], String)])
    func saysWhatServerWants(_ credentials: JSON, _ challenges: [String], _ message: String) async throws {
        let headers = challenges.map { (name: "WWW-Authenticate", value: $0) }
        scene.origin.serve("/protected", .fixed(status: 401, headers: headers))
        let job = try await failure(scene.order("/protected", ("credentials", credentials)))
        #expect(job["failure"]["message"].string?.contains(message) == true, "\(job["failure"].written)")
    }

    @Test func saysThatHeaderWasRefused() async throws {
        scene.origin.serve("/protected", .file(scene.bytes), .demandingBearer("right"))
        let job = try await failure(scene.order("/protected", ("headers", ["authorization": "Bearer wrong"])))
        #expect(job["failure"]["message"] == "The server refused the job's Authorization header (401).")
        #expect(job["challenge"] == ["scheme": "bearer", "realm": nil])
    }

    @Test func saysThatCredentialsAreNotSentAfterRedirect() async throws {
        let elsewhere = try Origin()
        elsewhere.serve("/file", .file(scene.bytes), .demandingBasic("me", "pw"))
        scene.origin.serve("/moved", .redirect(to: elsewhere.url("/file")))
        let job = try await failure(scene.order("/moved", ("credentials", Self.basic)))
        #expect(job["failure"]["message"].string?.contains("are not sent there") == true)
    }

    /// With the second request, the server checks the password.
    @Test func saysThatDigestPasswordWasRefused() async throws {
        scene.origin.serve("/protected", .file(scene.bytes), .demandingDigest(OriginDigest("me", "right")))
        let job = try await failure(scene.order("/protected", ("credentials", Self.digest)))
        #expect(job["failure"]["message"] == "The server refused the job's digest credentials (401).")
        #expect(job["challenge"] == ["scheme": "digest", "realm": "a realm, with a comma"])
        #expect(scene.origin.requests(to: "/protected").count == 2)
    }
}
