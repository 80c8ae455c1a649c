import Dispatch
import GRDB
import Locks
import Logging

/// Checks a large database while the service runs, on its own connection.
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

    /// SQLite's message; nil when it has found nothing so far.
    var finding: String? { damage.withLock { $0 } }

    /// Returns when the connection is closed.
    func stop() {
        database.interrupt()
        queue.sync { try? database.close() }
    }

    private func run(_ path: String, _ log: Logger) {
        log.info("The last run did not close the database. fetchd checks it while the service runs.")
        do {
            guard let finding = try database.inDatabase(StartupCheck.quickCheck) else {
                return log.info("The check of the database found no error.")
            }
            damage.withLock { $0 = finding }
            log.error("\(StoreError.databaseDamaged(path: path, why: finding))")
        } catch {
            log.warning("The check of the database did not finish: \(error)")
        }
    }
}
