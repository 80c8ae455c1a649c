import Formats
import Foundation
import TestKit
import Testing

/// Content-Encoding: gzip (RFC 9110, section 8.4).
@Suite struct CodedResponseTests {
    private func scene() async throws -> Scene {
        let scene = try await Scene()
        let order: JSON = ["url": .string(scene.origin.url("/file")), "state": "paused"]
        _ = try await scene.api.submit(all: Array(repeating: order, count: 40))
        return scene
    }

    /// The second turn gets kept pages.
    @Test(arguments: ["/v1/jobs", "/v1/events", "/v1/events?wait=5", "/metrics", "/openapi.yaml", "/", "/client.js"])
    func codesLargeResponses(_ path: String) async throws {
        let scene = try await scene()
        for _ in 0..<2 {
            let plain = try await scene.api.get(path, headers: [("Accept-Encoding", "identity")])
            #expect(plain.header("Content-Encoding") == nil)
            let coded = try await scene.api.get(path, headers: [("Accept-Encoding", "br, gzip;q=0.5")])
            #expect(coded.status == 200 && coded.header("Content-Encoding") == "gzip")
            for answer in [plain, coded] {
                let vary = (answer.header("Vary") ?? "").split(separator: ",").map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
                #expect(vary.count { $0 == "Accept-Encoding" } == 1, "\(vary)")
            }
            let decoded = coded.decodedBody
            // The values of metrics change.
            if path == "/metrics" {
                #expect(String(decoding: decoded, as: UTF8.self).hasPrefix("# HELP"))
            } else {
                #expect(decoded == plain.body)
            }
            #expect(coded.body.count * 3 < plain.body.count)
        }
    }

    @Test(arguments: [
        ("gzip", true), ("x-gzip", true), ("*", true), ("deflate, gzip", true), ("GZIP;q=1.0", true), ("", false),
        ("gzip;q=0", false), ("*;q=0", false), ("gzip;q=0, *", false), ("deflate, br", false), ("identity", false),
    ])
    func followsTheWeights(_ accepted: String, _ isCoded: Bool) async throws {
        let scene = try await scene()
        let answer = try await scene.api.get("/v1/jobs", headers: [("Accept-Encoding", accepted)])
        #expect((answer.header("Content-Encoding") == "gzip") == isCoded)
    }

    /// Small responses, errors, streams and what may have a secret stay as they are.
    @Test func leavesOthersAsTheyAre() async throws {
        let scene = try await scene()
        let headers = [("Accept-Encoding", "gzip")]
        let id = try await scene.api.get("/v1/jobs?limit=1").json["jobs"][0]["id"].string ?? ""
        for path in ["/v1/jobs?limit=1", "/v1/jobs/\(id)", "/v1/jobs?limit=0", "/livez", "/v1/locations"] {
            #expect(try await scene.api.get(path, headers: headers).header("Content-Encoding") == nil, "\(path)")
        }
        let order: JSON = ["url": .string(scene.origin.url("/file")), "state": "paused"]
        let batch = try await scene.api.send(
            "POST", "/v1/jobs/batch", ["jobs": .array(Array(repeating: order, count: 20))], headers: headers)
        #expect(batch.status == 201 && batch.header("Content-Encoding") == nil)
    }

    @Test func headHasTheFieldsOfTheCodedResponse() async throws {
        let scene = try await scene()
        let answer = try await scene.api.send("HEAD", "/v1/jobs", headers: [("Accept-Encoding", "gzip")])
        let whole = try await scene.api.get("/v1/jobs", headers: [("Accept-Encoding", "gzip")])
        #expect(answer.header("Content-Encoding") == "gzip" && answer.body.isEmpty)
        #expect(answer.header("Content-Length") == whole.header("Content-Length"))
    }
}
