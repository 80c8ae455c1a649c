import Foundation
import Logging

/// Writes the log of the service, one fact a line. docs/monitoring.md describes the two formats and the fields.
public struct LineLogHandler: LogHandler {
    private let format: LogFormat
    private let lowest: LogLevel
    private let output: LogOutput
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?

    /// - Parameter level: is read for every line. To set the level of a logger with this handler changes it for all.
    public init(_ format: LogFormat, from level: LogLevel, to output: LogOutput) {
        (self.format, lowest, self.output) = (format, level, output)
    }

    public var logLevel: Logger.Level {
        get { lowest.level }
        set { lowest.level = newValue }
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        var fields = metadata.merging(event.metadata ?? [:]) { $1 }
        if let error = event.error { fields["error"] = "\(error)" }
        let line = LogLine(
            time: Date(), level: event.level, source: event.source, message: "\(event.message)", fields: fields)
        output.add(line.bytes(as: format))
    }
}
