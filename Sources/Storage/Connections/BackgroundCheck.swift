import Dispatch
import GRDB
import Locks
import Logging

/// Reads a large database through while the service runs, on a connection of its own.
final class BackgroundCheck: Sendable {
    private let database: DatabaseQueue
    private let queue = DispatchQueue(label: "fetchd.backgroundCheck", qos: .utility)
    private let damage = Locked<String?>(nil)

    init(path: String, log: Logger) throws {
        var configuration = Connections.configuration()
        configuration.readonly = true
        database = try DatabaseQueue(path: path, configuration: configuration)
        queue.async { [self] in run(path, log) }
    }

    /// SQLite's finding; nil when there is none so far.
    var finding: String? { damage.withLock { $0 } }

    /// Returns once the connection is closed.
    func stop() {
        database.interrupt()
        queue.sync { try? database.close() }
    }

    private func run(_ path: String, _ log: Logger) {
        log.info("The database was not closed the last time: it is checked while the service runs.")
        do {
            guard let finding = try database.inDatabase(StartupCheck.quickCheck) else {
                return log.info("The database is sound.")
            }
            damage.withLock { $0 = finding }
            log.error("\(StoreError.databaseDamaged(path: path, why: finding))")
        } catch {
            log.warning("The check of the database was not finished: \(error)")
        }
    }
}
