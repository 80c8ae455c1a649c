import Downloads
import Locks
import Storage

/// The claims of one node on additional connections: what the database has granted, and what is wanted.
struct ConnectionClaims {
    struct Place: Hashable {
        var host: String
        var session: Name
    }

    /// What a job wants at a place.
    struct Wish {
        /// The number of further connections.
        var count: Int
        /// Set when some of them are granted. It identifies the job as well.
        var bell: AsyncAutoResetEvent
    }

    private(set) var granted: [Place: Int] = [:]
    /// Whether it is not certain what the database has, because the last write has not ended or has failed.
    private var isUnsettled = false
    /// Wishes that no claim has been made for.
    private var wishes: [Place: [ObjectIdentifier: Wish]] = [:]
    /// The wishes of the claim that the database decides now.
    private var asked: [Place: [Wish]] = [:]
    /// Until when no claim is made there, because the database has refused one or decides one.
    private var refusedUntil: [Place: ContinuousClock.Instant] = [:]
    /// Until when new claims are kept for the jobs that wanted them.
    private var keptUntil: [Place: ContinuousClock.Instant] = [:]

    /// - Returns: whether the claimer has to learn of it.
    mutating func want(_ place: Place, _ wish: Wish) -> Bool {
        if let until = refusedUntil[place], until > .now { return false }
        defer { wishes[place, default: [:]][ObjectIdentifier(wish.bell)] = wish }
        return wishes[place] == nil
    }

    /// What has to be claimed: what exists, and what is wanted. Until `grant`, no connection is opened beyond the first list.
    ///
    /// - Parameter additional: the connections that exist.
    /// - Returns: nil if nothing has changed.
    mutating func take(beside additional: [Place: Int]) -> (used: [Place: Int], wanted: [Place: Int])? {
        dropPassedTimes()
        let used = additional.merging(granted.filter { keptUntil[$0.key] != nil }) { max($0, $1) }
        guard !wishes.isEmpty || used != granted || isUnsettled else { return nil }
        (asked, wishes) = (wishes.mapValues { Array($0.values) }, [:])
        (granted, isUnsettled) = (used, true)
        for place in asked.keys { refusedUntil[place] = .now + .seconds(2) }
        return (used, asked.mapValues(Self.count))
    }

    /// - Parameter granted: the connections that may exist from now on.
    /// - Returns: the bells to set.
    mutating func grant(_ granted: [Place: Int]) -> [AsyncAutoResetEvent] {
        var bells: [AsyncAutoResetEvent] = []
        for (place, wishes) in asked {
            let new = granted[place, default: 0] - self.granted[place, default: 0]
            guard new > 0 else { continue }
            keptUntil[place] = .now + .seconds(1)
            if new >= Self.count(wishes) { refusedUntil[place] = nil }
            bells += wishes.map(\.bell)
        }
        (self.granted, isUnsettled, asked) = (granted, false, [:])
        return bells
    }

    /// Whether the database has other claims than for these connections.
    func differ(from additional: [Place: Int]) -> Bool { granted != additional || isUnsettled }

    private static func count(_ wishes: [Wish]) -> Int { wishes.reduce(0) { $0 + $1.count } }

    private mutating func dropPassedTimes() {
        let now = ContinuousClock.now
        refusedUntil = refusedUntil.filter { $0.value > now }
        keptUntil = keptUntil.filter { $0.value > now }
    }
}
