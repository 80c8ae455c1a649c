import CCurl
import Glibc
import Locks

/// The system's resolver, with all that /etc/nsswitch.conf and /etc/resolv.conf say of it.
enum SystemResolver {
    /// getaddrinfo(3) and the modules it loads are content with far less than the usual 8 MiB, and there may be many.
    private static let stackBytes = 1 << 20

    /// Looks a name up on a thread of its own and posts what it found.
    ///
    /// - Returns: false when the system has no thread left.
    static func start(
        _ name: String, by find: @escaping @Sendable (String) -> [IPAddress] = addresses(of:), for mailbox: Mailbox
    ) -> Bool {
        DetachedThread.start(named: "lookup", stackBytes: stackBytes) {
            // The mailbox of a loop that has ended takes nothing, and nobody misses it.
            mailbox.post(.completeLookup(name, find(name)))
        } == 0
    }

    /// In the order in which they are to be tried (RFC 6724). Blocks, for as long as it takes.
    ///
    /// - Returns: none when there is no such name, or nobody who could tell.
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
