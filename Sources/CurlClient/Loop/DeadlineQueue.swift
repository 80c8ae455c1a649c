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
