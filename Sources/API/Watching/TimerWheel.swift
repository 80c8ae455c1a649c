/// A timer wheel: the deadlines of watchers, grouped by ticks of the feed's clock. Thousands of deadlines cost one
/// look-up for each tick.
struct TimerWheel {
    private var sleepers: [Int: [ObjectIdentifier: any TopicObserver]] = [:]
    /// The last tick whose watchers were taken.
    private var past = -1

    /// - Parameter tick: the first tick after the deadline.
    mutating func add(_ watcher: any TopicObserver, at tick: Int) -> Int {
        let tick = max(tick, past + 1)
        sleepers[tick, default: [:]][ObjectIdentifier(watcher)] = watcher
        return tick
    }

    mutating func remove(_ watcher: any TopicObserver, at tick: Int) {
        guard tick > past else { return }
        sleepers[tick]?[ObjectIdentifier(watcher)] = nil
        if sleepers[tick]?.isEmpty == true { sleepers[tick] = nil }
    }

    /// Removes and returns the watchers whose deadline has passed.
    mutating func take(through tick: Int) -> [any TopicObserver] {
        guard tick > past else { return [] }
        defer { past = tick }
        // Iterates over the smaller set: the passed ticks, or the ticks that have a watcher.
        let due =
            tick - past <= sleepers.count
            ? Array((past + 1)...tick) : sleepers.keys.filter { $0 <= tick }
        return due.flatMap { sleepers.removeValue(forKey: $0).map { Array($0.values) } ?? [] }
    }
}
