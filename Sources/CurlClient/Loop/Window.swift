/// Back-pressure as a value: how many bytes of a transfer are with its handler, and whether more may come.
struct Window: Sendable {
    private let capacity: Int
    private(set) var held = 0
    /// A request for room was refused, and nobody has been told to come back yet.
    private(set) var isClosed = false

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Whether `count` more bytes have room. An empty window has room for anything: else a window smaller than what
    /// comes at once would never open.
    func hasRoom(for count: Int) -> Bool {
        held == 0 || held + count <= capacity
    }

    /// Takes room, or closes the window.
    mutating func take(_ count: Int) -> Bool {
        guard hasRoom(for: count) else {
            isClosed = true
            return false
        }
        held += count
        return true
    }

    /// Gives room back. True when a closed window opens: once half of it is free, so that a transfer is not stopped
    /// and started for every chunk.
    mutating func giveBack(_ count: Int) -> Bool {
        held -= count
        guard isClosed, held <= capacity / 2 else { return false }
        isClosed = false
        return true
    }
}
