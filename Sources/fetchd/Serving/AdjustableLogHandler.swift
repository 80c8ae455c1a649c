import Logging

/// Passes log lines on to another handler, from a level that can change for all loggers together.
struct AdjustableLogHandler: LogHandler {
    private var handler: any LogHandler
    private let level: LogLevel

    init(_ handler: any LogHandler, _ level: LogLevel) {
        (self.handler, self.level) = (handler, level)
        // The level is judged here.
        self.handler.logLevel = .trace
    }

    /// The level of all loggers: a logger has no level of its own.
    var logLevel: Logger.Level {
        get { level.level }
        set { level.level = newValue }
    }

    var metadata: Logger.Metadata {
        get { handler.metadata }
        set { handler.metadata = newValue }
    }

    var metadataProvider: Logger.MetadataProvider? {
        get { handler.metadataProvider }
        set { handler.metadataProvider = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { handler[metadataKey: key] }
        set { handler[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) { handler.log(event: event) }
}
