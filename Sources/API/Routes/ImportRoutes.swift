import Downloads
import Formats
import Foundation
import HTTPServer
import HTTPTypes
import Lists
import Storage

/// `POST /v1/jobs/import`: makes a job of each line of a list, which can be larger than the memory.
struct ImportRoutes: Sendable {
    let importer: Importer

    var routes: [Route] {
        [
            Route(
                .post, "/v1/jobs/import", .scope(.jobs, of: .selection),
                body: .list(limit: Self.largestList) { [importer] context throws(Problem) in
                    try importer.receive(try ImportRequest(context))
                },
                readsQuery: true, answerLimit: .seconds(3600), run)
        ]
    }

    private func run(_ context: RequestContext) async throws -> Response {
        guard let upload = context.upload else { throw Problem(.missingField, "The request needs a list as its body.") }
        let given = try context.idempotencyClaim()
        let answer = try await importer.run(upload, by: context.caller) { digest in
            // Without a key, the digest of the list is the key.
            IdempotencyClaim(
                caller: context.caller.identity, route: ImportRequest.route,
                key: given?.key ?? "sha256:\(digest.hexadecimal)",
                fingerprint: digest)
        }
        return .json(answer, .created)
    }

    /// Bytes.
    private static let largestList = 1 << 30
}
