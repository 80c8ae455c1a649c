import Base
import CCurl
import Formats
import Glibc

/// A cache of addresses, with a queue of lookups. It is a value without a clock or a thread.
///
/// All transfers that need a name at the same time share one lookup. A lookup cannot be interrupted: getaddrinfo(3)
/// blocks until the resolver's timeouts. If all transfers give up, the lookup continues, and a later transfer that
/// needs the name waits for the same lookup. So repeated attempts do not start more lookups than there are names. At
/// most `limit` lookups run at once, and the others wait in the order of their requests.
struct DNSCache {
    /// The lifetime of a cached result. It equals that of libcurl's own cache, because getaddrinfo(3) does not return
    /// the time to live of the record. A failed lookup is not cached.
    static let lifetime = Duration.seconds(60)

    private let limit: Int
    private var found: [String: [IPAddress]] = [:]
    private var expiries = DeadlineQueue<String>()
    private var waiters: [String: Set<TransferID>] = [:]
    private var running: Set<String> = []
    private var queue = DeadlineQueue<String>()

    init(limit: Int) { self.limit = max(1, limit) }

    var runningCount: Int { running.count }
    var queuedCount: Int { waiters.count - running.count }

    /// - Parameter name: as `NamedHost` normalizes it, so that each name has one entry.
    /// - Returns: nil while the lookup is queued or running. `completeLookup` returns the transfers that wait for it.
    mutating func lookUp(_ name: String, for transfer: TransferID, at now: ContinuousClock.Instant) -> [IPAddress]? {
        while let expired = expiries.popDue(at: now) { found[expired] = nil }
        if let addresses = found[name] { return addresses }
        if waiters[name] == nil { queue.add(name, at: now) }
        waiters[name, default: []].insert(transfer)
        return nil
    }

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
}

struct NamedHost: Equatable {
    /// As libcurl normalizes it: without escapes and in lower case, so that equal names are equal texts.
    let name: String
    let port: Int

    /// nil if libcurl needs no lookup: for addresses, and for `localhost` and names below it, which libcurl maps to the
    /// loopback (RFC 6761, 6.3).
    init?(_ url: consuming ParsedURL) {
        guard let host = url.host, let port = url.port else { return nil }
        let name = String(decoding: host.utf8.map(\.asciiLowercased), as: UTF8.self)
        guard !name.hasPrefix("["), IPAddress(name) == nil, name != "localhost", !name.hasSuffix(".localhost") else {
            return nil
        }
        self.name = name
        self.port = port
    }

    /// The entry that sets the addresses of the host in libcurl's DNS cache (`CURLOPT_RESOLVE`).
    func entry(_ addresses: [IPAddress]) -> String {
        let list = addresses.map { $0.isIPv4 ? $0.description : "[\($0)]" }.joined(separator: ",")
        // With a plus, the entry expires like a lookup of libcurl itself. Without it, the entry would stay for ever.
        return "+\(name):\(port):\(list)"
    }
}

extension TransferRequest {
    /// The host that must be looked up before this request can be sent; nil if none. With a proxy, it is the host of the proxy.
    var namedHost: NamedHost? {
        get throws(TransferError) { NamedHost(try ParsedURL(proxy.map { "http://\($0.authority)" } ?? url)) }
    }

    func nameFailure(isLate: Bool) -> TransferError {
        guard let proxy else { return isLate ? .timedOut(.lookup) : .nameResolutionFailed }
        let time = isLate ? " in time" : ""
        return .connectFailed("the name of the proxy \(proxy.authority) could not be resolved\(time)")
    }
}

/// The resolver of the system, which follows /etc/nsswitch.conf and /etc/resolv.conf.
enum SystemResolver {
    /// getaddrinfo(3) and its modules need far less than the usual 8 MiB, and there may be many threads.
    private static let stackBytes = 1 << 20

    /// Looks up a name on a separate thread, and posts the result to the mailbox.
    ///
    /// - Returns: false if no thread could be started.
    static func start(
        _ name: String, by find: @escaping @Sendable (String) -> [IPAddress], for mailbox: Mailbox
    ) -> Bool {
        DetachedThread.start(named: "lookup", stackBytes: stackBytes) {
            // If the loop has ended, its mailbox refuses the result, and no transfer needs it.
            mailbox.post(.completeLookup(name, find(name)))
        } == 0
    }

    /// The addresses in the order in which to try them (RFC 6724). Blocks for as long as the resolver needs.
    ///
    /// - Returns: empty if the name does not exist or no resolver answered.
    @Sendable static func addresses(of name: String) -> [IPAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        return sequence(first: first, next: { $0?.pointee.ai_next }).compactMap { entry in
            guard let entry, let address = entry.pointee.ai_addr else { return nil }
            return IPAddress(UnsafeRawPointer(address), length: Int(entry.pointee.ai_addrlen))
        }
    }
}
