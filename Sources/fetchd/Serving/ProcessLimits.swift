import CurlClient
import Glibc

/// The limit on file descriptors, which connections and files need. The soft limit is often 1,024; the hard limit is usually
/// much higher.
enum DescriptorLimit {
    /// Descriptors for the database, webhooks, and files that libraries open.
    private static let reserve = 64
    /// A job has a socket, a part file, a second descriptor of a large part (`PartWriter`), and at times one or two open
    /// folders.
    private static let ofOneJob = 4

    static func raise() {
        guard var limit = current else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// The number of simultaneous DNS lookups, for the downloads and again for the webhooks. A lookup keeps its socket until it
    /// ends, even if its job has stopped waiting for it.
    static var lookups: Int {
        let most = CurlClient.Options().maxLookups
        return count.map { min(most, $0 / 16) } ?? most
    }

    /// The limit; nil if it is so high that it has no effect.
    private static var count: Int? {
        guard let limit = current, limit.rlim_cur < 1 << 24 else { return nil }
        return Int(limit.rlim_cur)
    }

    /// The number of clients that may be connected. Thousands of clients can have a long poll or a stream open.
    static func clients(beside jobs: Int) -> Int {
        let rest = left(beside: jobs)
        return min(mostClients, max(fewestClients, rest - min(rest / 4, 1024)))
    }

    /// The number of files on other machines that can be passed on to these clients at once. Each needs a second socket.
    static func relayedFiles(beside jobs: Int, and clients: Int) -> Int {
        max(fewestRelayedFiles, (left(beside: jobs) - clients) / 4)
    }

    /// The number of additional connections that these jobs may have together, beyond the first one of each job.
    ///
    /// - Parameter clients: with the files that are passed on to them.
    static func additionalConnections(beside jobs: Int, and clients: Int) -> Int {
        max(0, left(beside: jobs) - clients)
    }

    /// The number of jobs that can run beside these clients, while enough descriptors stay free to store their results.
    ///
    /// - Parameter clients: with the files that are passed on to them.
    static func jobs(beside clients: Int) -> Int {
        guard let count else { return .max }
        return max(1, (count - reserve - 2 * lookups - clients) / ofOneJob)
    }

    private static let mostClients = 20_000
    private static let fewestClients = 64
    private static let fewestRelayedFiles = 8

    private static func left(beside jobs: Int) -> Int {
        max(0, (count ?? 1 << 24) - reserve - 2 * lookups - ofOneJob * jobs)
    }

    private static var current: rlimit? {
        var limit = rlimit()
        return getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? limit : nil
    }
}

/// A core dump contains the memory of the process, and with it passwords and the key.
enum CoreDumps {
    /// Prevents core dumps of this process and of its children.
    ///
    /// The limit is one byte: Linux then neither writes a file nor starts the program that `kernel.core_pattern` names.
    /// With a limit of 0, it would start that program (core(5)).
    static func disable() {
        var limit = rlimit(rlim_cur: 1, rlim_max: 1)
        // Without permission for a hard limit of one byte, the present one is 0, and the soft limit, too.
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }
}
