// The library's daemon: its threads, its listening socket and the options it is started with.

import CMicroHTTPD
import Descriptors
import Glibc

/// A running libmicrohttpd. It is stopped when this value ends, and must not have sleeping connections then.
struct MHDDaemon: ~Copyable, @unchecked Sendable {
    private let handle: OpaquePointer
    /// The reference that the callbacks borrow.
    private let context: Unmanaged<ServerContext>

    init(_ context: ServerContext, listening: ListeningSocket) throws(HTTPServerError) {
        guard let descriptor = listening.descriptor.duplicateForHandover() else {
            throw .systemCallFailed("fcntl", errno: errno)
        }
        let retained = Unmanaged.passRetained(context)
        // The library closes the socket when it stops, and in some cases when it fails to start: after a failure it is
        // left open rather than closed twice.
        var numbers = Self.numbers(context.options)
        let handle = mhd_start(Self.flags, descriptor, mhd_callbacks(context: retained.toOpaque()), &numbers)
        guard let handle else {
            retained.release()
            throw .libraryFailed
        }
        self.handle = handle
        self.context = retained
    }

    /// Joins the library's threads: not on a thread that must not block.
    deinit {
        MHD_stop_daemon(handle)
        context.release()
    }

    private static let flags = MHD_USE_EPOLL_INTERNALLY.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue

    private static func numbers(_ options: HTTPServer.Options) -> [MHD_OptionItem] {
        var numbers = [
            MHD_OptionItem(.CONNECTION_LIMIT, min(options.connectionLimit, Int(Int32.max))),
            MHD_OptionItem(.PER_IP_CONNECTION_LIMIT, min(options.connectionsPerAddress, Int(Int32.max))),
            MHD_OptionItem(.CONNECTION_TIMEOUT, seconds(options.idleTimeout)),
            MHD_OptionItem(.CONNECTION_MEMORY_LIMIT, memory(forHeadsOf: options.maxHeadBytes)),
            // The checks that 1 would add are made by HeadReader, whose refusals the owner renders.
            MHD_OptionItem(.STRICT_FOR_CLIENT, 0),
        ]
        // A pool of one is refused by the library: without a pool there is one thread.
        if options.threads > 1 { numbers.append(MHD_OptionItem(.THREAD_POOL_SIZE, options.threads)) }
        numbers.append(MHD_OptionItem(.END, 0))
        return numbers
    }

    /// The library counts whole seconds; rounded up, as a timeout must not come early.
    private static func seconds(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        return Int(min(seconds + (attoseconds > 0 ? 1 : 0), 1 << 31))
    }

    /// One connection's memory holds a request's head, the index of its fields and the head of the answer. It leaves
    /// room beyond the largest head that is accepted, so that it is we who refuse one that is a little larger; but no
    /// more than needed, as the library clears all of it for every request.
    private static func memory(forHeadsOf bytes: Int) -> Int {
        bytes + bytes / 4 + (4 << 10)
    }
}

extension MHD_OptionItem {
    fileprivate init(_ option: MHD_OPTION, _ value: Int) {
        self.init(option: option, value: value, ptr_value: nil)
    }
}
