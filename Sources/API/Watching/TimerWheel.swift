/// Until when sleepers sleep, in ticks of a clock: thousands of deadlines cost one look at each tick.
struct TimerWheel {
    private var sleepers: [Int: [ObjectIdentifier: Watcher]] = [:]
    /// The last tick that was taken.
    private var past = -1

    /// - Parameter tick: the first at which the time is over.
    mutating func add(_ watcher: Watcher, at tick: Int) -> Int {
        let tick = max(tick, past + 1)
        sleepers[tick, default: [:]][ObjectIdentifier(watcher)] = watcher
        return tick
    }

    mutating func remove(_ watcher: Watcher, at tick: Int) {
        guard tick > past else { return }
        sleepers[tick]?[ObjectIdentifier(watcher)] = nil
        if sleepers[tick]?.isEmpty == true { sleepers[tick] = nil }
    }

    /// Those whose time is over.
    mutating func take(through tick: Int) -> [Watcher] {
        guard tick > past else { return [] }
        defer { past = tick }
        // It reads the smaller set: the ticks that have passed, or the ticks that have a watcher.
        let due =
            tick - past <= sleepers.count
            ? Array((past + 1)...tick) : sleepers.keys.filter { $0 <= tick }
        return due.flatMap { sleepers.removeValue(forKey: $0).map { Array($0.values) } ?? [] }
    }
}
