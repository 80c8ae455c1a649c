import Downloads
import Foundation
import HTTPServer
import HTTPTypes
import Storage

/// The files of jobs that have succeeded on other nodes, which have folders of their own.
public struct RemoteFiles: Sendable {
    /// The number of this node. It answers the requests that other nodes pass on to this number, and no others.
    let own: Int64
    /// Which other node has the file of a job; nil: this one.
    let owner: @Sendable (Job) -> Int64?
    /// Where other nodes reach the API of a node; nil: it has no URL. Throws `StoreError.noSuchNode`.
    let url: @Sendable (_ ofNode: Int64) async throws -> String?
    let relay: FileRelay

    public init(
        own: Int64, owner: @escaping @Sendable (Job) -> Int64?,
        url: @escaping @Sendable (Int64) async throws -> String?, relay: @escaping FileRelay
    ) {
        self.own = own
        self.owner = owner
        self.url = url
        self.relay = relay
    }

    /// The response of the node that has the file.
    ///
    /// - Throws: 503 if that node cannot be reached, or if another server answers at its URL; 410 if it never returns.
    func response(
        to head: RequestHead, from node: Int64, _ signature: RelaySignature, at now: Date
    ) async throws -> Response {
        guard let url = try await knownURL(ofNode: node) else {
            throw Problem.away(node, "the other nodes do not know its URL. Start it with --node-url")
        }
        let base = url.hasSuffix("/") ? String(url.dropLast()) : url
        let fields = Self.passedOn.compactMap { name in head.headers[name].map { (name.rawName, $0) } }
        let request = signature.request(for: head, to: node, at: now)
        let proof = (RelaySignature.requestField.rawName, request.value)
        do throws(FileRelayError) {
            let response = try await relay(head.method, base + head.path, fields + [proof])
            if let fault = fault(of: response, to: request, signature) {
                // Nothing reads its body.
                if case .stream(let body) = response.body { body.finish() }
                throw FileRelayError(fault)
            }
            return Response(
                status: response.status, headers: response.headers.filter { Self.returned.contains($0.name) },
                body: response.body)
        } catch {
            throw Problem.away(node, error.reason)
        }
    }

    private func fault(
        of response: Response, to request: RelaySignature.Request, _ signature: RelaySignature
    ) -> String? {
        guard Self.answers.contains(response.status.code) else {
            return "it has answered with the status \(response.status.code)"
        }
        guard signature.isProven(response, to: request) else {
            return "the server at its URL has not proved to be this node"
        }
        return nil
    }

    private func knownURL(ofNode node: Int64) async throws -> String? {
        do {
            return try await url(node)
        } catch StoreError.noSuchNode {
            throw Problem(.fileGone, "The file was on node \(node), which an administrator has removed.")
        }
    }

    private static let passedOn = RelaySignature.conditions + [.requestID]
    private static let returned: [HTTPField.Name] = [
        .acceptRanges, .eTag, .contentType, .contentDisposition, .contentRange, .xContentTypeOptions, .retryAfter,
    ]
    /// The responses of this route, except those about the caller, whom this node has checked.
    private static let answers: Set<Int> = [200, 206, 304, 404, 409, 410, 416]
}

extension Problem {
    fileprivate static func away(_ node: Int64, _ why: String) -> Problem {
        .unavailable(
            "The file is on node \(node), which cannot send it now: \(why). Try again in a moment.", retryAfter: 5)
    }
}

/// Requests a file with this URL from the node that has it, and passes the response on while it arrives. If the connection is
/// lost, the body ends early. It throws if there is no response.
public typealias FileRelay =
    @Sendable (HTTPRequest.Method, _ url: String, _ headers: [(name: String, value: String)])
    async throws(FileRelayError) -> Response

/// Why another node has not responded.
public struct FileRelayError: Error {
    /// A sentence without its last full stop.
    let reason: String

    public init(_ reason: String) { self.reason = reason }
}
