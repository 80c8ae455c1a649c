/// The form of the lines of the log.
public enum LogFormat: String, Sendable, CaseIterable {
    /// For people: time, level, message, fields.
    case text
    /// For machines: a JSON object in each line.
    case json
}
