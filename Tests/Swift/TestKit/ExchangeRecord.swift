import Formats
import Foundation

/// Records the exchanges of clients and the service, as one JSON line each, in a file below `$FETCHD_EXCHANGES`, which
/// scripts/check openapi-recorded reads.
final class ExchangeRecord: Sendable {
    /// nil unless `FETCHD_EXCHANGES` is set.
    static let shared = ProcessInfo.processInfo.environment["FETCHD_EXCHANGES"].map(ExchangeRecord.init(in:))

    private let file: FileHandle
    private let turn = Monitor(())

    private init(in folder: String) {
        let path = "\(folder)/\(UUID().uuidString).jsonl"
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let file = FileHandle(forWritingAtPath: path)
        else {
            fatalError("cannot write \(path), as FETCHD_EXCHANGES asks")
        }
        self.file = file
    }

    func add(
        _ method: String, _ path: String, _ headers: [(name: String, value: String)], _ body: [UInt8]?,
        _ answer: APIAnswer
    ) {
        let exchange: JSON = [
            "method": .string(method), "path": .string(path),
            "request": ["headers": Self.headers(headers), "body": Self.text(body)],
            "status": .count(answer.status),
            "response": ["headers": Self.headers(answer.headers), "body": Self.text(answer.decodedBody)],
        ]
        turn.withLock { _ in file.write(Data(exchange.bytes + [0x0A])) }
    }

    /// Records a request of the service to a webhook receiver.
    func add(posted request: RecordedRequest, _ answer: OriginAnswer) {
        let exchange: JSON = [
            "is_posted": true, "method": .string(request.method), "path": .string(request.target),
            "request": ["headers": Self.headers(request.headers), "body": Self.text(request.body)],
            "status": .count(answer.status),
            "response": ["headers": Self.headers(answer.headers), "body": Self.text(answer.body)],
        ]
        turn.withLock { _ in file.write(Data(exchange.bytes + [0x0A])) }
    }

    private static func headers(_ headers: [(name: String, value: String)]) -> JSON {
        .array(headers.map { .strings([$0.name, $0.value]) })
    }

    /// The bytes as text; null for other bytes, as the content of files is no part of the contract.
    private static func text(_ bytes: [UInt8]?) -> JSON {
        .optional(bytes.flatMap { String(validating: $0, as: UTF8.self) })
    }
}
