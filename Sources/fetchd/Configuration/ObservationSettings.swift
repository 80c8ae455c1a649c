import LogLines

/// The settings for those who watch the service.
struct ObservationSettings: Sendable {
    var logFormat: LogFormat
    /// Whether the log has a line for each request.
    var requestLog: Bool
    /// Whether requests to origins name the trace of the job.
    var traceOrigins: Bool

    enum Defaults {
        static let logFormat = LogFormat.text
    }

    /// - Throws: `SettingsError` if a value is invalid.
    init(_ sources: SettingsSources) throws {
        logFormat = try sources.string(.logFormat).map(Self.format) ?? Defaults.logFormat
        requestLog = try sources.bool(.requestLog) ?? false
        traceOrigins = try sources.bool(.traceOrigins) ?? false
    }

    static func format(_ text: String) throws -> LogFormat {
        guard let format = LogFormat(rawValue: text.lowercased()) else {
            let formats = LogFormat.allCases.map(\.rawValue).joined(separator: " or ")
            throw SettingsError("log_format is '\(text)'; it must be \(formats).")
        }
        return format
    }
}
