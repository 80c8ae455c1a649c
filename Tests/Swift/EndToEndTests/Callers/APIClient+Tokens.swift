import Formats
import TestKit

extension APIClient {
    /// Creates a token, and returns its document with the secret.
    func createToken(_ scope: String, sessions: [String]? = nil, _ members: (String, JSON)...) async throws -> JSON {
        var body: JSONObject = ["scope": .string(scope)]
        if let sessions { body["sessions"] = .strings(sessions) }
        for (name, value) in members { body[name] = value }
        let answer = try await post("/v1/tokens", .object(body))
        guard answer.status == 201 else { throw Overdue("POST of a token answered \(answer)") }
        return answer.json
    }

    /// A client with a new token.
    func caller(_ scope: String, sessions: [String]? = nil) async throws -> APIClient {
        with(token: try await createToken(scope, sessions: sessions)["token"].string)
    }

    func with(token: String?) -> APIClient { APIClient(baseURL: baseURL, token: token) }
}
