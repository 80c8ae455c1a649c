/// What is to be stored of the clock.
struct ClockChange: Sendable {
    var reading: ClockReading
    /// How time runs from then on.
    var view: ClockView
    /// nil: the reading alone is stored.
    var jump: ClockJump?
    /// The first reading of this process.
    var isFirst: Bool
}
