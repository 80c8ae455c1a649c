import CCurl
import Glibc
import Locks

/// The resolver of the system, which follows /etc/nsswitch.conf and /etc/resolv.conf.
enum SystemResolver {
    /// getaddrinfo(3) and its modules need far less than the usual 8 MiB, and there may be many threads.
    private static let stackBytes = 1 << 20

    /// Looks up a name on a separate thread, and posts the result to the mailbox.
    ///
    /// - Returns: false if no thread could be started.
    static func start(
        _ name: String, by find: @escaping @Sendable (String) -> [IPAddress] = addresses(of:), for mailbox: Mailbox
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
