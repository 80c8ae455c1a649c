import Base
import CMicroHTTPD
import Glibc

/// A running libmicrohttpd daemon: its threads, its listening socket and its options. The daemon stops when this value
/// ends. No connection may be suspended then.
struct MHDDaemon: ~Copyable, @unchecked Sendable {
    private let handle: OpaquePointer
    private let context: Unmanaged<ServerContext>

    /// - Parameters:
    ///   - socket: a listening socket.
    ///   - threads: the number of network threads, at least 1.
    ///   - connections: the maximum number of open connections, at least `threads`.
    init(
        _ context: ServerContext, listeningOn socket: Descriptor, threads: Int, connections: Int
    ) throws(HTTPServerError) {
        guard let descriptor = socket.duplicateForHandover() else { throw .systemCallFailed("fcntl", errno: errno) }
        let retained = Unmanaged.passRetained(context)
        // The library closes the socket when it stops, and in some cases when it fails to start. So it gets a
        // duplicate. After a failure the duplicate stays open, because closing it twice could close another file.
        var numbers = Self.numbers(context.options, threads: threads, connections: connections)
        let handle = mhd_start(Self.flags, descriptor, mhd_callbacks(context: retained.toOpaque()), &numbers)
        guard let handle else {
            retained.release()
            throw .libraryFailed
        }
        self.handle = handle
        self.context = retained
    }

    /// Joins the threads of the library, so it must not run on a thread of Swift tasks.
    deinit {
        MHD_stop_daemon(handle)
        context.release()
    }

    private static let flags =
        MHD_USE_EPOLL_INTERNALLY.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue | MHD_ALLOW_UPGRADE.rawValue

    private static func numbers(_ options: HTTPServer.Options, threads: Int, connections: Int) -> [MHD_OptionItem] {
        var numbers = [
            MHD_OptionItem(.CONNECTION_LIMIT, min(connections, Int(Int32.max))),
            MHD_OptionItem(.CONNECTION_TIMEOUT, seconds(options.idleTimeout)),
            MHD_OptionItem(.CONNECTION_MEMORY_LIMIT, memory(forHeadsOf: options.maxHeadBytes)),
            // HeadReader makes the checks that 1 would add, and the handler renders its refusals.
            MHD_OptionItem(.STRICT_FOR_CLIENT, 0),
        ]
        // The library refuses a pool of one thread. Without a pool it uses one thread.
        if threads > 1 { numbers.append(MHD_OptionItem(.THREAD_POOL_SIZE, threads)) }
        numbers.append(MHD_OptionItem(.END, 0))
        return numbers
    }

    /// The library counts whole seconds. Rounded up, so that a timeout does not come early.
    private static func seconds(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        return Int(min(seconds + (attoseconds > 0 ? 1 : 0), 1 << 31))
    }

    /// The memory of a connection holds the head of a request, the index of its fields and the head of the response. It
    /// is larger than the largest accepted head, so that the server itself refuses a slightly larger one. It is not
    /// larger than needed, because the library clears all of it for every request.
    private static func memory(forHeadsOf bytes: Int) -> Int { bytes + bytes / 4 + (4 << 10) }
}

extension MHD_OptionItem {
    fileprivate init(_ option: MHD_OPTION, _ value: Int) { self.init(option: option, value: value, ptr_value: nil) }
}

/// The daemons of a server: one for each socket on which it listens. They stop when this value ends.
struct Listeners: ~Copyable {
    /// The file of the Unix domain socket, which is removed when this value ends.
    private let file: UnixSocketFile?
    private let network: MHDDaemon?
    private let local: MHDDaemon?

    init(_ context: ServerContext, network: ListeningSocket?, local: UnixListeningSocket?) throws(HTTPServerError) {
        let options = context.options
        let localShare = local == nil ? 0 : network == nil ? options.connectionLimit : options.connectionLimit / 4
        // One thread beside those of the network serves local clients, which are few.
        let localThreads = network == nil ? options.threads : 1
        let networkDaemon = try network.map { socket throws(HTTPServerError) in
            try MHDDaemon(
                context, listeningOn: socket.descriptor, threads: options.threads,
                connections: max(options.threads, options.connectionLimit - localShare))
        }
        let localDaemon = try local.map { socket throws(HTTPServerError) in
            try MHDDaemon(
                context, listeningOn: socket.descriptor, threads: localThreads,
                connections: max(localThreads, localShare))
        }
        file = local?.file
        self.network = networkDaemon
        self.local = localDaemon
    }
}
