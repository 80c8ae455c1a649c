import Base

/// The time of the current turn, and the timers of the transfers.
///
/// The loop reads the clock once in each turn, after its sleep, instead of for every 16 KiB.
final class LoopTimers {
    private(set) var now = ContinuousClock.now
    private var deadlines = DeadlineQueue<TransferID>()
    private var grace = PauseDetector()

    var earliest: ContinuousClock.Instant? { deadlines.earliest }

    /// The end of the time in which no limit applies, because the loop was late; nil if the limits apply.
    var graceEnd: ContinuousClock.Instant? { grace.end(at: now) }

    /// A turn begins.
    ///
    /// - Parameter planned: the longest time that was planned since the former turn; nil: no timer was set.
    func readClock(after planned: Duration?) {
        let former = now
        now = ContinuousClock.now
        if let planned { grace.beganTurn(at: now, planned: former + planned) }
    }

    /// The loop checks the transfer at `moment`, or earlier if an earlier timer is set.
    func schedule(_ transfer: TransferID, at moment: ContinuousClock.Instant) { deadlines.add(transfer, at: moment) }

    func cancel(_ transfer: TransferID) { deadlines.remove(transfer) }

    func popDue() -> TransferID? { deadlines.popDue(at: now) }
}

/// Conversion for the system calls and options that take milliseconds.
extension Duration {
    /// Rounded up, so that the loop does not wake just before the time; at least 0.
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let fraction = Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        let (whole, overflow) = Int(seconds).multipliedReportingOverflow(by: 1000)
        return overflow ? .max : whole.addingReportingOverflow(fraction).overflow ? .max : whole + fraction
    }
}

/// A priority queue of deadlines, earliest first: a binary heap with at most one entry for each key.
///
/// It keeps the positions of the keys, so that it can remove the entry of a finished transfer. At thousands of short
/// transfers a second, entries that stay until the idle timeout would fill most of the heap.
struct DeadlineQueue<Key: Hashable> {
    private struct Entry {
        let key: Key
        var moment: ContinuousClock.Instant
    }

    private var heap: [Entry] = []
    private var positions: [Key: Int] = [:]

    var earliest: ContinuousClock.Instant? { heap.first?.moment }
    var isEmpty: Bool { heap.isEmpty }
    var count: Int { heap.count }

    /// Adds a deadline, or moves an existing one forward. A later deadline has no effect, because a caller that wakes
    /// up early adds the next one.
    mutating func add(_ key: Key, at moment: ContinuousClock.Instant) {
        guard let position = positions[key] else {
            heap.append(Entry(key: key, moment: moment))
            positions[key] = heap.count - 1
            siftUp(heap.count - 1)
            return
        }
        guard moment < heap[position].moment else { return }
        heap[position].moment = moment
        siftUp(position)
    }

    mutating func remove(_ key: Key) {
        guard let position = positions.removeValue(forKey: key) else { return }
        let last = heap.removeLast()
        guard position < heap.count else { return }
        heap[position] = last
        positions[last.key] = position
        siftUp(position)
        siftDown(position)
    }

    /// Removes and returns the key with the earliest deadline if that has passed.
    mutating func popDue(at now: ContinuousClock.Instant) -> Key? {
        guard let first = heap.first, first.moment <= now else { return nil }
        remove(first.key)
        return first.key
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].moment < heap[parent].moment else { return }
            swap(child, parent)
            child = parent
        }
    }

    private mutating func siftDown(_ start: Int) {
        var parent = start
        while true {
            let left = 2 * parent + 1
            guard left < heap.count else { return }
            let right = left + 1
            let child = right < heap.count && heap[right].moment < heap[left].moment ? right : left
            guard heap[child].moment < heap[parent].moment else { return }
            swap(child, parent)
            parent = child
        }
    }

    private mutating func swap(_ a: Int, _ b: Int) {
        heap.swapAt(a, b)
        positions[heap[a].key] = a
        positions[heap[b].key] = b
    }
}
