/// A cache of addresses, with a queue of lookups. It is a value without a clock or a thread.
///
/// All transfers that need a name at the same time share one lookup. A lookup cannot be interrupted: getaddrinfo(3)
/// blocks until the resolver's timeouts. If all transfers give up, the lookup continues, and a later transfer that
/// needs the name waits for the same lookup. So repeated attempts do not start more lookups than there are names. At
/// most `limit` lookups run at once, and the others wait in the order of their requests.
struct DNSCache {
    enum LookupResult: Equatable {
        case found([IPAddress])
        /// The lookup is queued or running. `completeLookup` returns the transfers that wait for it.
        case pending
    }

    /// The lifetime of a cached result. It equals that of libcurl's own cache, because getaddrinfo(3) does not return
    /// the time to live of the record. A failed lookup is not cached.
    static let lifetime = Duration.seconds(60)

    private let limit: Int
    private var found: [String: [IPAddress]] = [:]
    private var expiries = DeadlineQueue<String>()
    /// The transfers that wait for each lookup, running or queued.
    private var waiters: [String: Set<TransferID>] = [:]
    private var running: Set<String> = []
    /// In the order of the requests.
    private var queue = DeadlineQueue<String>()

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    var runningCount: Int { running.count }
    /// Names whose lookup waits for the end of another.
    var queuedCount: Int { waiters.count - running.count }

    /// - Parameter name: as `NamedHost` normalizes it, so that each name has one entry.
    mutating func lookUp(_ name: String, for transfer: TransferID, at now: ContinuousClock.Instant) -> LookupResult {
        forgetExpired(at: now)
        if let addresses = found[name] { return .found(addresses) }
        if waiters[name] == nil { queue.add(name, at: now) }
        waiters[name, default: []].insert(transfer)
        return .pending
    }

    /// The transfer no longer waits.
    mutating func cancel(_ transfer: TransferID, waitingFor name: String) {
        waiters[name]?.remove(transfer)
        guard waiters[name]?.isEmpty == true, !running.contains(name) else { return }
        waiters[name] = nil
        queue.remove(name)
    }

    /// The name of the lookup to start now; nil if none is queued or `limit` lookups run.
    mutating func beginLookup() -> String? {
        guard running.count < limit, let earliest = queue.earliest, let name = queue.popDue(at: earliest) else {
            return nil
        }
        running.insert(name)
        return name
    }

    /// Puts a lookup back into the queue if no thread could be started for it.
    ///
    /// - Returns: false if no other lookup runs, so that none would start this one when it ends.
    mutating func postpone(_ name: String, at now: ContinuousClock.Instant) -> Bool {
        guard running.count > 1, running.remove(name) != nil else { return false }
        queue.add(name, at: now)
        return true
    }

    /// Records the result of a lookup.
    ///
    /// - Parameter addresses: empty if the name does not exist or no resolver answered.
    /// - Returns: the transfers that wait for the name.
    mutating func completeLookup(
        _ name: String, _ addresses: [IPAddress], at now: ContinuousClock.Instant
    ) -> Set<TransferID> {
        running.remove(name)
        if !addresses.isEmpty {
            found[name] = addresses
            expiries.add(name, at: now + Self.lifetime)
        }
        return waiters.removeValue(forKey: name) ?? []
    }

    private mutating func forgetExpired(at now: ContinuousClock.Instant) {
        while let name = expiries.popDue(at: now) { found[name] = nil }
    }
}
