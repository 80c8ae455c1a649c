import Formats
import TestKit

/// A service with aria2's interface, and an origin with one file.
struct Aria2Scene {
    let service: LocalService
    let origin: Origin
    let content = Content.random(seed: 1, count: 300_000)

    init(token: String? = nil) async throws {
        service = try await LocalService.start(.init(token: token) { $0.start.values.aria2RPC = true })
        origin = try Origin()
        origin.serve("/file.bin", .file(content), [])
    }

    var url: JSON { .string(origin.url("/file.bin")) }

    var api: APIClient { APIClient(baseURL: service.baseURL, isRecorded: false) }

    /// The answer to one call.
    func answer(_ method: String, _ parameters: JSON...) async throws -> APIAnswer {
        // Callers of this interface send their token in the call. openapi.yaml does not describe it.
        try await api.post(
            "/jsonrpc", ["jsonrpc": "2.0", "id": "q", "method": .string(method), "params": .array(parameters)])
    }

    /// The result of one call.
    func call(_ method: String, _ parameters: JSON...) async throws -> JSON {
        let answer = try await api.post(
            "/jsonrpc", ["jsonrpc": "2.0", "id": "q", "method": .string(method), "params": .array(parameters)])
        guard answer.status == 200 else { throw Overdue("\(method): \(answer.status) \(answer.json.written)") }
        return answer.json["result"]
    }

    func waitForStatus(_ gid: JSON, _ status: String) async throws -> JSON {
        try await eventually("\(gid.written) to be \(status)") {
            let document = try await call("aria2.tellStatus", gid)
            return document["status"].string == status ? document : JSON?.none
        }
    }
}
