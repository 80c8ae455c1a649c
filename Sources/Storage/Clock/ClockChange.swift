/// A change of the stored clock.
struct ClockChange: Sendable {
    var reading: ClockReading
    /// How time runs after the change.
    var view: ClockView
    /// nil when only the reading is stored.
    var jump: ClockJump?
    /// Whether this is the first reading of the process.
    var isFirst: Bool
}
