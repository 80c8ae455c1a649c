import Formats
import Foundation

/// What clients and the service said to each other, a JSON line for each exchange, in a file of its own below
/// `$FETCHD_EXCHANGES`: scripts/check-contract reads it.
final class ExchangeRecord: Sendable {
    /// nil when nobody wants to know.
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
            "response": ["headers": Self.headers(answer.headers), "body": Self.text(answer.body)],
        ]
        turn.withLock { _ in file.write(Data(exchange.bytes + [0x0A])) }
    }

    /// The other way round: what a webhook receiver was posted.
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

    /// Without bytes that are no text: a file's content is no part of the contract.
    private static func text(_ bytes: [UInt8]?) -> JSON {
        .optional(bytes.flatMap { String(validating: $0, as: UTF8.self) })
    }
}
