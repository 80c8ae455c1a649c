import Locks
import Logging
import Storage

/// Reads the settings again after a client has changed one at another node.
public struct SettingsReader: Sendable {
    let configuration: ServiceConfiguration
    let store: Store
    let log: Logger

    public init(_ configuration: ServiceConfiguration, store: Store, log: Logger) {
        (self.configuration, self.store, self.log) = (configuration, store, log)
    }

    /// Runs until the task is cancelled.
    public func run() async {
        guard store.node != nil else { return }
        while !Task.isCancelled {
            await store.work(.settings).wait()
            do throws(StoreError) {
                try await configuration.load(from: store, log: log)
                store.work(.schedule).set()
            } catch {
                log.error("Could not read the settings that another node has changed. \(error)")
                try? await store.time.sleep(until: store.time.now.addingTimeInterval(1))
                store.work(.settings).set()
            }
        }
    }
}
