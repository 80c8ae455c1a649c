import Base
import Logging

/// Keeps the log of a service, one line per message, such as `fetchd info [Engine] Recovered. ...`.
public final class LogRecord: Sendable {
    private let lines = Locked<[String]>([])

    public init() {}

    public var text: String { lines.withLock { $0.joined(separator: "\n") } }

    public var logger: Logger {
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
