/// The configuration of a client. The defaults suit a service with many downloads.
extension CurlClient {
    public struct Options: Sendable {
        /// The size of a chunk in bytes. libcurl delivers at most 16 KiB at once; larger chunks halve the cost of a
        /// transfer to a disk. 512 KiB. The chunks of a slow transfer are smaller: the first chunk has at most 32 KiB,
        /// and so has the chunk after one that did not become full within `flushInterval`.
        public var chunkBytes = 512 * 1024

        /// The window in bytes: the maximum size of the unreleased chunks of a handler, including the unfinished chunk.
        /// Beyond it the transfer is paused. The transfer resumes when half of the window is free. 2 MiB. Bytes that
        /// libcurl has already read, at most 512 KiB, stay in its own buffer and do not count.
        public var windowBytes = 2 * 1024 * 1024

        /// The maximum time from the first byte of a chunk to its delivery, if the chunk does not become full. 200 ms.
        public var flushInterval: Duration = .milliseconds(200)

        /// The maximum number of chunks that are unfinished at the same time. Beyond it the oldest is delivered before its
        /// `flushInterval`, so that thousands of slow transfers do not hold a buffer each. 256.
        public var maxUnfinishedChunks = 256

        /// The maximum number of open connections, including busy ones (`CURLMOPT_MAXCONNECTS`). 128.
        public var maxIdleConnections = 128

        /// The maximum size in bytes of all heads of a response (status lines, fields, interim heads and trailers
        /// together). A larger head fails with `headTooLarge`. 256 KiB. libcurl itself limits a line to 100 KiB.
        public var headBytes = 256 * 1024

        /// Whether a transfer may connect to an address, for example `AddressPolicy.admits`; nil admits all addresses.
        /// The client calls it on its own thread with the address of the socket, not the text of the URL: before it
        /// opens a connection, and before each request, because a connection may be reused. It must not block.
        public var admitsAddress: (@Sendable (IPAddress) -> Bool)?

        /// The hosts and ports that URLs may name. The client asks for each request, before a name is looked up, and before
        /// a proxy is asked, on its own thread. It must not block. All.
        public var hosts: @Sendable () -> HostPolicy = { HostPolicy() }

        /// The maximum number of concurrent lookups. It includes lookups that no transfer waits for any longer: a
        /// running lookup cannot be interrupted, and holds a thread and a socket until the resolver gives up. Further
        /// lookups wait. 1,000.
        public var maxLookups = 1000

        /// Resolves a name to its addresses, in the order in which to try them; empty if there are none. nil uses the
        /// resolver of the system. The client calls it on a separate thread, which it may block. The name is lowercase
        /// ASCII.
        public var findsAddresses: (@Sendable (String) -> [IPAddress])?

        public init() {}
    }
}
