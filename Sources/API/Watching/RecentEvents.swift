import Downloads

/// The end of the journal in memory, from which streams and waits read. It is bounded: a reader that has fallen behind it
/// reads the database until it has caught up.
struct RecentEvents {
    struct Entry {
        let event: Event
        /// The event as streams send it; nil when no stream was open at its commit.
        let frame: [UInt8]?

        var size: Int { event.data.utf8.count + (frame?.count ?? 0) + 256 }
    }

    /// The last event there is; every one behind `floor` is here.
    private(set) var last: EventID
    private(set) var floor: EventID
    private var entries: [Entry] = []
    /// Those before were dropped, and are moved out of the way now and then.
    private var start = 0
    private var bytes = 0
    private let limits: (events: Int, bytes: Int)

    init(after last: EventID, limits: (events: Int, bytes: Int)) {
        self.last = last
        floor = last
        self.limits = limits
    }

    /// - Parameter event: behind all that there are.
    mutating func append(_ event: Event, frame: [UInt8]?) {
        let entry = Entry(event: event, frame: frame)
        entries.append(entry)
        bytes += entry.size
        last = event.id
        while entries.count - start > limits.events || bytes > limits.bytes { dropFirst() }
        if start > limits.events {
            entries.removeFirst(start)
            start = 0
        }
    }

    private mutating func dropFirst() {
        bytes -= entries[start].size
        floor = entries[start].event.id
        // The slot stays for a while; what it held does not.
        entries[start] = Entry(event: .dropped, frame: nil)
        start += 1
    }

    /// Those behind a position; nil when some of them are here no longer.
    func after(_ position: EventID) -> ArraySlice<Entry>? {
        guard position >= floor else { return nil }
        var (low, high) = (start, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].event.id > position { high = middle } else { low = middle + 1 }
        }
        return entries[low...]
    }
}

extension Event {
    fileprivate static let dropped = Event(
        id: 0, type: .jobCreated, time: .distantPast, session: .default, job: nil, data: "")
}
