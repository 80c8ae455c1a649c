import Downloads

/// The numbers of the events that a group commit appends: consecutive, in the order of the appends.
///
/// A group begins after the last event that was ever appended. The numbers of a refused write are used again.
final class EventNumbers {
    /// nil: not read yet. Few groups append no event.
    private(set) var last: EventID?

    /// - Parameter last: the last event that was ever appended, if it is known.
    init(after last: EventID? = nil) { self.last = last }

    func last(in db: SQLConnection) throws -> EventID {
        if let last { return last }
        let stored = try Store.lastEvent(in: db)
        last = stored
        return stored
    }

    /// - Parameter count: at least 1.
    func take(_ count: Int, in db: SQLConnection) throws -> ClosedRange<EventID> {
        let before = try last(in: db)
        last = before + EventID(count)
        return before + 1...before + EventID(count)
    }

    /// Gives back the numbers that were taken since.
    func goBack(to earlier: EventID?) { last = earlier }
}
