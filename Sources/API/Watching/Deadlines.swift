/// Until when sleepers sleep, in strokes of a clock: thousands of deadlines cost one look at each stroke.
struct Deadlines {
    private var sleepers: [Int: [ObjectIdentifier: Watcher]] = [:]
    /// The last stroke that was taken.
    private var past = -1

    /// - Parameter stroke: the first at which the time is over.
    mutating func add(_ watcher: Watcher, at stroke: Int) -> Int {
        let stroke = max(stroke, past + 1)
        sleepers[stroke, default: [:]][ObjectIdentifier(watcher)] = watcher
        return stroke
    }

    mutating func remove(_ watcher: Watcher, at stroke: Int) {
        guard stroke > past else { return }
        sleepers[stroke]?[ObjectIdentifier(watcher)] = nil
        if sleepers[stroke]?.isEmpty == true { sleepers[stroke] = nil }
    }

    /// Those whose time is over.
    mutating func take(through stroke: Int) -> [Watcher] {
        guard stroke > past else { return [] }
        defer { past = stroke }
        // Whichever is less to look through: the strokes since, or those that somebody waits for.
        let due =
            stroke - past <= sleepers.count
            ? Array((past + 1)...stroke) : sleepers.keys.filter { $0 <= stroke }
        return due.flatMap { sleepers.removeValue(forKey: $0).map { Array($0.values) } ?? [] }
    }
}
