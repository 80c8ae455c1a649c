/// Why a text is not a rule of a schedule.
public struct ScheduleFault: Error, Sendable, Equatable {
    /// A sentence without its full stop.
    public let why: String

    init(_ why: String) { self.why = why }
}
