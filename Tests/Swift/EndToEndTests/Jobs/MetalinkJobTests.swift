import Formats
import TestKit
import Testing

/// Jobs of a Metalink document.
@Suite struct MetalinkJobTests {
    private let scene: Scene
    private var api: APIClient { scene.api }

    init() async throws { scene = try await Scene() }

    private func document(_ files: String...) -> JSON {
        let all = files.map { "<file name=\"set/f.bin\">\($0)</file>" }.joined()
        return .string("<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">\(all)</metalink>")
    }

    private var sum: String { "<hash type=\"sha-256\">\(SHA.hexadecimal(of: scene.bytes))</hash>" }
    private func url(_ path: String, _ priority: Int = 1) -> String {
        "<url priority=\"\(priority)\">\(scene.origin.url(path))</url>"
    }

    @Test func usesTheAddressesInTheirOrderAndVerifiesTheDigest() async throws {
        scene.origin.serve("/second", .file(scene.bytes))
        let request: JSON = ["metalink": document("\(sum)\(url("/second", 2))\(url("/gone", 1))")]
        let job = try await api.waitForOutcome(api.submit(request))
        #expect(job["state"] == "succeeded", "\(job.written)")
        #expect(job["file"]["path"] == "set/f.bin")
        #expect(job["receipt"]["verified_by"] == ["checksum"])
        #expect(scene.origin.requests(to: "/gone").count == 1)
    }

    @Test func theRequestGoesBeforeTheDocument() async throws {
        scene.origin.serve("/f", .file(scene.bytes))
        let request: JSON = [
            "metalink": document("<size>1</size>\(sum)\(url("/f"))"), "expected_size": .count(scene.bytes.count),
            "destination": ["filename": "own.bin"],
        ]
        #expect(try await api.waitForOutcome(api.submit(request))["file"]["path"] == "own.bin")
    }

    @Test func refusesWhatIsNotOneFile() async throws {
        let one = document(url("/f"))
        let wrong: [(JSON, String)] = [
            (["metalink": one, "url": "https://host/"], "are both given"),
            (["metalink": one, "urls": ["https://host/"]], "are both given"),
            (["metalink": document(url("/f"), url("/g"))], "POST /v1/jobs/import takes several"),
            (["metalink": document()], "must name one file"), (["metalink": document("")], "no URL with http or https"),
            (["metalink": "<html/>"], "no Metalink"), (["metalink": ""], "not well-formed"),
            (["metalink": 5], "must be a string"),
            (["metalink": .string(String(repeating: " ", count: 262_145))], "more than 262144"),
        ]
        for (request, why) in wrong {
            let answer = try await api.post("/v1/jobs", request)
            #expect(answer.status == 422, "\(request.written)")
            #expect(answer.json["pointer"] == "/metalink")
            #expect(answer.json["detail"].string?.contains(why) == true, "\(answer.json.written)")
        }
        #expect(try await api.get("/v1/jobs").json["jobs"] == [])
    }
}
