/// Flow control of a transfer, as a value: the number of bytes that the handler holds, and whether more may be
/// delivered.
struct Window: Sendable {
    private let capacity: Int
    private(set) var held = 0
    /// True after a refused request for room, until the window opens again.
    private(set) var isClosed = false

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Whether `count` more bytes fit. An empty window accepts any number, because otherwise a window that is smaller
    /// than one piece would never open.
    func hasRoom(for count: Int) -> Bool {
        held == 0 || held + count <= capacity
    }

    /// Takes room, or closes the window if there is not enough.
    mutating func take(_ count: Int) -> Bool {
        guard hasRoom(for: count) else {
            isClosed = true
            return false
        }
        held += count
        return true
    }

    /// Returns room. The result is true when a closed window opens. It opens when half of it is free, so that a
    /// transfer is not paused and resumed for every chunk.
    mutating func giveBack(_ count: Int) -> Bool {
        held -= count
        guard isClosed, held <= capacity / 2 else { return false }
        isClosed = false
        return true
    }
}
