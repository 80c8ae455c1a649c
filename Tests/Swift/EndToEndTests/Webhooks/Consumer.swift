import Formats
import Foundation
import TestKit
import Testing

/// examples/webhook_receiver.py, running until it receives a `session.finished`.
struct Consumer {
    let child: ChildProcess
    private let folder: TemporaryFolder

    static var isPossible: Bool {
        get async { await Project.hasPythonPackage("standardwebhooks") }
    }

    init() async throws {
        folder = try TemporaryFolder()
        child = try await ChildProcess(
            Project.python,
            [
                Project.path("examples/webhook_receiver.py"), "--port", "0", "--port-file", folder.path("port"),
                "--secret-file", folder.path("secret"), "--log", folder.path("log"), "--until", "session.finished",
            ], environment: ["PYTHONUNBUFFERED": "1"])
    }

    var url: String {
        get async throws {
            let port = try await eventually("the consumer to listen") {
                if let ending = child.endingSoFar { throw Overdue("the consumer ended (\(ending)): \(child.errors)") }
                return folder.bytes(of: "port").map { String(decoding: $0, as: UTF8.self) }
            }
            return "http://127.0.0.1:\(port.trimmingCharacters(in: .whitespacesAndNewlines))/"
        }
    }

    func keep(_ secret: String) throws { try folder.write(secret, to: "secret") }

    /// The events that it has verified and accepted, in order.
    var taken: [JSON] {
        get throws {
            let log = try #require(folder.bytes(of: "log"))
            return try log.split(separator: 0x0A).map { try JSON(parsing: Array($0)) }
        }
    }

    /// Its answer to a request that fetchd posted elsewhere: 204 if the signature matches one of its secrets, else 401.
    func verdict(on posted: ReceivedWebhook) async throws -> Int {
        let names = ["webhook-id", "webhook-timestamp", "webhook-signature"]
        let headers = names.map { (name: $0, value: posted.request.header($0) ?? "") }
        let client = APIClient(baseURL: try await url, isRecorded: false)
        return try await client.send("POST", "", bytes: posted.bytes, headers: headers).status
    }
}
