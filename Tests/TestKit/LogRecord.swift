import Locks
import Logging

/// Keeps what a service logs, a line for each message, such as `fetchd info [Engine] Recovered: ...`.
final class LogRecord: Sendable {
    private let lines = Locked<[String]>([])

    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    var logger: Logger {
        Logger(label: "fetchd") { [self] _ in Handler(record: self) }
    }

    private func add(_ line: String) { lines.withLock { $0.append(line) } }

    private struct Handler: LogHandler {
        let record: LogRecord
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { record.add("fetchd \(event.level) [\(event.source)] \(event.message)") }
    }
}
