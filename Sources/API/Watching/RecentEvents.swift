import Downloads
import Storage

/// The last events of the journal in memory, for streams and waiting requests. Their number is limited: a reader that
/// has fallen behind reads the database until it has caught up.
struct RecentEvents {
    struct Entry {
        let event: Event
        /// The event as streams send it; nil when no stream was open at its commit.
        let frame: [UInt8]?

        var size: Int { event.data.utf8.count + (frame?.count ?? 0) + 256 }
    }

    /// The last event of the journal. Every event after `floor` is in memory.
    private(set) var last: EventID
    private(set) var floor: EventID
    private var entries: [Entry] = []
    /// The index of the first entry. Entries before it were dropped, and are removed from time to time.
    private var start = 0
    private var bytes = 0
    private let limits: (events: Int, bytes: Int)

    init(after last: EventID, limits: (events: Int, bytes: Int)) {
        self.last = last
        floor = last
        self.limits = limits
    }

    /// - Parameter event: must be later than all events before.
    mutating func append(_ event: Event, frame: [UInt8]?) {
        // Events were lost: the database tells it to a client whose position is in the gap.
        if event.id - last > Store.gapAfterLostEvents { dropAll(before: event.id) }
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

    private mutating func dropAll(before id: EventID) {
        (entries, start, bytes) = ([], 0, 0)
        floor = id - 1
    }

    private mutating func dropFirst() {
        bytes -= entries[start].size
        floor = entries[start].event.id
        // The slot stays for a while, but its content is freed.
        entries[start] = Entry(event: .dropped, frame: nil)
        start += 1
    }

    /// The events after a position; nil when some of them are no longer in memory.
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
