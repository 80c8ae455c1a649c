/// Names and their addresses, as a value: who waits for which lookup, which of them may run, and what they found.
///
/// A name is looked up once for all who ask for it meanwhile. A lookup cannot be ended, only given up (getaddrinfo(3)
/// blocks as long as the resolver's timeouts make it); whoever asks for the name again then waits for the same one. So
/// impatient transfers that try again and again cost no more lookups than there are names, and whatever they do, no more
/// than `limit` run at once: the others wait, oldest first.
struct DNSCache {
    enum LookupResult: Equatable {
        case found([IPAddress])
        /// To be had from `settle`.
        case pending
    }

    /// How long what was found holds: as long as libcurl's own cache would, as getaddrinfo does not tell the record's
    /// own time to live. What could not be found is asked for again.
    static let lifetime = Duration.seconds(60)

    private let limit: Int
    private var found: [String: [IPAddress]] = [:]
    private var expiries = DeadlineQueue<String>()
    /// Of every lookup that runs or waits to.
    private var waiters: [String: Set<TransferID>] = [:]
    private var running: Set<String> = []
    /// By the moment of asking.
    private var queue = DeadlineQueue<String>()

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    var runningCount: Int { running.count }
    /// Names that wait for another's lookup to end.
    var queuedCount: Int { waiters.count - running.count }

    /// - Parameter name: as `NamedHost` spells it, so that one name is one entry.
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

    /// The next name that is to be looked up now, if one waits and there is room.
    mutating func beginLookup() -> String? {
        guard running.count < limit, let earliest = queue.earliest, let name = queue.popDue(at: earliest) else {
            return nil
        }
        running.insert(name)
        return name
    }

    /// There was no thread for a lookup that was to begin.
    ///
    /// - Returns: false when it cannot wait for the end of another, as none runs.
    mutating func postpone(_ name: String, at now: ContinuousClock.Instant) -> Bool {
        guard running.count > 1, running.remove(name) != nil else { return false }
        queue.add(name, at: now)
        return true
    }

    /// A lookup has ended.
    ///
    /// - Parameter addresses: none when there is no such name, or nobody who could tell.
    /// - Returns: who waited for it.
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
