import CurlClient
import Glibc

/// Connections and files take descriptors; the soft limit is often 1,024 while the hard one allows many more.
enum DescriptorLimit {
    /// For the database, the API's connections, webhooks, and what libraries open by themselves.
    private static let reserve = 64
    /// A job holds its socket and its part, and for moments a folder or two.
    private static let ofOneJob = 3

    /// As many as the system allows.
    static func raise() {
        guard var limit = current else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// How many jobs can run without taking the descriptors that their own ends need: without one, nothing is stored.
    static var jobs: Int {
        guard let count else { return .max }
        return max(1, (count - reserve - 2 * lookups) / ofOneJob)
    }

    /// How many names the downloads, and the webhooks, may look up at once. A lookup holds a socket as long as it takes,
    /// also when its job has given it up.
    static var lookups: Int {
        let most = CurlClient.Options().maxLookups
        return count.map { min(most, $0 / 16) } ?? most
    }

    /// nil: more than anybody needs.
    private static var count: Int? {
        guard let limit = current, limit.rlim_cur < 1 << 24 else { return nil }
        return Int(limit.rlim_cur)
    }

    /// How many clients may be connected: those that wait and listen are thousands on a service that is watched.
    static func clients(beside jobs: Int) -> Int {
        let rest = left(beside: jobs)
        return min(mostClients, max(fewestClients, rest - min(rest / 4, 1024)))
    }

    /// How many connections those jobs may have beside their first ones.
    static func additionalConnections(beside jobs: Int) -> Int {
        max(0, left(beside: jobs) - clients(beside: jobs))
    }

    private static let mostClients = 20_000
    private static let fewestClients = 64

    private static func left(beside jobs: Int) -> Int {
        max(0, (count ?? 1 << 24) - reserve - 2 * lookups - ofOneJob * jobs)
    }

    private static var current: rlimit? {
        var limit = rlimit()
        return getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? limit : nil
    }
}
