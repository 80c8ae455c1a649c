/// What a client can be told once, with defaults that suit a busy download service.
extension CurlClient {
    public struct Options: Sendable {
        /// Bytes gathered before a chunk is handed over. libcurl hands out 16 KiB at most; gathering halves the cost of
        /// a transfer that ends on a disk. 256 KiB.
        public var chunkBytes = 256 * 1024

        /// Bytes a handler may hold (chunks not released yet, and those being gathered) before its transfer is paused.
        /// It goes on when half of them are released. 1 MiB. What libcurl had read by then, 512 KiB at most, waits in
        /// its own buffer and is not counted.
        public var windowBytes = 1024 * 1024

        /// A chunk that is not full is handed over this long after its first byte came. 200 ms.
        public var flushInterval: Duration = .milliseconds(200)

        /// SocketRegistry kept open for reuse, in all, busy ones counted (`CURLMOPT_MAXCONNECTS`). 128.
        public var maxIdleConnections = 128

        /// Bytes of response head (status lines, fields, interim heads and trailers together) before a transfer fails
        /// with `headTooLarge`. 256 KiB. libcurl's own limit is 100 KiB for one line.
        public var headBytes = 256 * 1024

        /// Whether an address may be talked to, as an `AddressPolicy` says; nil admits all. Asked on the client's thread,
        /// with the address of the socket rather than its text, before a connection is opened and again before each
        /// request, as a connection may be reused. Must not block.
        public var admitsAddress: (@Sendable (IPAddress) -> Bool)?

        /// Names looked up at once, those included that nobody waits for any longer: a lookup that was begun cannot be
        /// ended, and holds a thread and a socket until the system's resolver gives up. Other names wait for one of them
        /// to end. 1,000.
        public var maxLookups = 1000

        /// What finds the addresses of a name, in the order in which they are tried; none when it finds none. nil is the
        /// system's resolver. Called on a thread of its own, which it may block. The name comes in ASCII and lower case.
        public var findsAddresses: (@Sendable (String) -> [IPAddress])?

        public init() {}
    }
}
