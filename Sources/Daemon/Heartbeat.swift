import CurlClient
import Storage

/// Shows that the threads on which the whole service depends make progress: the writer and the readers of the database,
/// and the loops that carry all transfers and deliveries.
struct Heartbeat: Sendable {
    let store: Store
    let clients: [CurlClient]

    /// Returns when each of them has done a piece of work that was given to it now. A failure counts as well: while a
    /// disk fails, the service waits for it, and a restart would not repair it.
    func beat() async {
        await withTaskGroup { group in
            group.addTask { await store.waitForWriter() }
            group.addTask { _ = try? await store.check() }
            for client in clients {
                // The thread of the client refuses a request without a URL.
                group.addTask { _ = try? await client.exchange(TransferRequest(url: ""), bodyLimit: 0) }
            }
        }
    }
}
