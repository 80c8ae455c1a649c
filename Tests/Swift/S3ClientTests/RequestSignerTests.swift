import Formats
import Foundation
import TestKit
import Testing

@testable import S3Client

/// The signatures of random requests, compared with those that botocore makes, which Amazon's own tools use.
@Suite struct RequestSignerTests {
    private struct Case: Decodable {
        var method, endpoint, path, payload, id, secret, region, authorization, presigned: String
        var query: [[String]]
        var headers: [String: String]
        var token: String?
        var time: Double
        var expires: Int

        var signer: RequestSigner {
            RequestSigner(AccessKey(id: id, secret: secret, sessionToken: token), region: region)
        }

        var request: StorageRequest {
            let parts = endpoint.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
            return StorageRequest(
                method, path, at: Endpoint(scheme: String(parts[0].dropLast()), authority: String(parts[2])),
                query: query.map { .init($0[0], $0[1]) }, headers: headers.map { .init($0.key, $0.value) })
        }
    }

    @Test(.enabled("scripts/setup has set up .venv") { await Project.hasPythonPackage("botocore") })
    func signaturesAreThoseOfBotocore() async throws {
        let count = 10_000
        let outcome = try await ChildProcess.run(
            Project.python, [Project.path("Tests/S3/signatures.py"), "\(count)", "37"])
        try #require(outcome.succeeded, "\(outcome.errors)")
        let decoder = JSONDecoder()
        var compared = 0
        for line in outcome.output.split(separator: "\n") {
            let made = try decoder.decode(Case.self, from: Data(line.utf8))
            let (time, payload) = (Date(timeIntervalSince1970: made.time), try #require(bytes(made.payload)))
            let headers = made.signer.headers(for: made.request, payload: payload, at: time)
            let presigned = made.signer.presignedURL(for: made.request, validFor: made.expires, at: time)
            guard headers.last?.value == made.authorization, parameters(presigned) == parameters(made.presigned) else {
                Issue.record("another signature than \(line)\n\(headers)\n\(presigned)")
                return
            }
            compared += 1
        }
        #expect(compared == count)
    }

    /// What precedes the query, and the parameters without their order.
    private func parameters(_ url: String) -> [String] {
        let parts = url.split(separator: "?", maxSplits: 1)
        return [String(parts[0])] + parts[1].split(separator: "&").map(String.init).sorted()
    }

    private func bytes(_ hexadecimal: String) -> [UInt8]? {
        let digits = Array(hexadecimal.utf8).map(\.hexadecimalValue)
        guard digits.count == 64, !digits.contains(nil) else { return nil }
        return stride(from: 0, to: 64, by: 2).map { (digits[$0] ?? 0) << 4 | (digits[$0 + 1] ?? 0) }
    }

    /// The example of "Authenticating Requests: Using the Authorization Header", Amazon S3 API Reference: a list of a bucket.
    @Test func theExampleOfTheReference() throws {
        let key = AccessKey(id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
        let request = StorageRequest(
            "GET", "/", at: Endpoint(authority: "examplebucket.s3.amazonaws.com"),
            query: [.init("max-keys", "2"), .init("prefix", "J")])
        let empty = try #require(bytes("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
        let headers = RequestSigner(key, region: "us-east-1").headers(
            for: request, payload: empty, at: Date(timeIntervalSince1970: 1_369_353_600))
        #expect(
            headers.last?.value.hasSuffix(
                "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7") == true)
        #expect(headers.map(\.name) == ["X-Amz-Content-SHA256", "X-Amz-Date", "Authorization"])
        #expect(request.url == "https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J")
    }

    @Test func aNameWithoutAValueHasAnEqualsSign() {
        let request = StorageRequest(
            "POST", "/b/a b//ä", at: Endpoint(scheme: "http", authority: "127.0.0.1:9000"),
            query: [.init("uploads", "")])
        #expect(request.url == "http://127.0.0.1:9000/b/a%20b//%C3%A4?uploads=")
    }
}
