import ArgumentParser
import Formats

/// The options of `fetchd serve` for those who watch it.
struct ObservationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The form of the log: text for people, json for machines, with one object a line. See docs/monitoring.md. (default: \(ObservationSettings.Defaults.logFormat.rawValue))",
            valueName: "format"))
    var logFormat: String?

    @Flag(
        help: ArgumentHelp(
            "Log each request of the API: method, path, status, duration, caller and address. (default: off)"))
    var requestLog = false

    @Flag(
        help: ArgumentHelp(
            "Send the traceparent of a job's request to the origin of its URL, too. (default: off: only to webhooks)"))
    var traceOrigins = false

    /// Only the options that were given.
    var flags: [Settings.Key: JSON] {
        let flags: [Settings.Key: JSON?] = [
            .logFormat: logFormat.map(JSON.string), .requestLog: requestLog ? .bool(true) : nil,
            .traceOrigins: traceOrigins ? .bool(true) : nil,
        ]
        return flags.compactMapValues(\.self)
    }
}
