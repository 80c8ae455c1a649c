import CurlClient
import Glibc

/// The limit on file descriptors, and its division among jobs and clients. The soft limit is often 1,024; the hard limit is usually
/// much higher.
struct DescriptorLimit {
    /// nil: so high that it has no effect.
    private let count: Int?
    /// See `Engine.Options.closesParts`.
    let closesParts: Bool
    /// Descriptors for the database, webhooks, and files that libraries open.
    private static let reserve = 64
    private static let mostClients = 20_000
    private static let fewestClients = 64
    private static let fewestRelayedFiles = 8

    /// - Parameters:
    ///   - jobs: that are to run at once. If the limit allows fewer, their parts are closed between two operations.
    ///   - canCloseParts: see `Engine.Options.canCloseParts`.
    init(_ count: Int?, for jobs: Int, canCloseParts: Bool) {
        let open = DescriptorLimit(count, closesParts: false)
        self = DescriptorLimit(count, closesParts: canCloseParts && open.jobs() < jobs)
    }

    private init(_ count: Int?, closesParts: Bool) {
        self.count = count
        self.closesParts = closesParts
    }

    /// A job has a socket. If its part stays open, it also has the part file, a second descriptor of a large part (`PartWriter`),
    /// and at times one or two open folders.
    private var ofOneJob: Int { closesParts ? 1 : 4 }

    /// The number of simultaneous DNS lookups, for the downloads and again for the webhooks. A lookup keeps its socket until it
    /// ends, even if its job has stopped waiting for it.
    var lookups: Int {
        let most = CurlClient.Options().maxLookups
        return count.map { min(most, $0 / 16) } ?? most
    }

    /// The number of clients that may be connected. Thousands of clients can have a long poll or a stream open.
    func clients(beside jobs: Int) -> Int {
        let rest = left(beside: jobs)
        return min(Self.mostClients, max(Self.fewestClients, rest - min(rest / 4, 1024)))
    }

    /// The number of files on other machines that can be passed on to these clients at once. Each needs a second socket.
    func relayedFiles(beside jobs: Int, and clients: Int) -> Int {
        max(Self.fewestRelayedFiles, (left(beside: jobs) - clients) / 4)
    }

    /// The number of additional connections that these jobs may have together, beyond the first one of each job.
    ///
    /// - Parameter clients: with the files that are passed on to them.
    func additionalConnections(beside jobs: Int, and clients: Int) -> Int { max(0, left(beside: jobs) - clients) }

    /// The number of jobs that can run beside these clients, while enough descriptors stay free to store their results.
    ///
    /// - Parameter clients: with the files that are passed on to them.
    func jobs(beside clients: Int = fewestClients) -> Int {
        guard let count else { return .max }
        return max(1, (count - reserve - clients) / ofOneJob)
    }

    private func left(beside jobs: Int) -> Int { max(0, (count ?? 1 << 24) - reserve - ofOneJob * jobs) }

    /// If parts are closed, with the files and folders of the operations that run, and the connections that are kept for other jobs.
    private var reserve: Int { Self.reserve + 2 * lookups + (closesParts ? min(512, (count ?? 0) / 8) : 0) }
}

extension DescriptorLimit {
    static func raise() {
        guard var limit = current else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// The limit of this process; nil: so high that it has no effect.
    static var own: Int? {
        guard let limit = current, limit.rlim_cur < 1 << 24 else { return nil }
        return Int(limit.rlim_cur)
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
