import Formats
import Locks

/// Makes each group commit begin with the settings that clients have set at other nodes. So a job that begins after the
/// answer to a change follows the change, at whichever node it begins.
///
/// Notices between nodes would come too late for that. They are for nodes that commit nothing.
final class SettingsFollower: Sendable {
    private struct State {
        /// The version that `observer` was given last; nil if it may have been given other settings since.
        var followed: Int64?
        var observer: (@Sendable ([String: JSON]) -> Void)?
    }

    private let state = Locked(State())

    func observe(_ observer: (@Sendable ([String: JSON]) -> Void)?) {
        state.withLock { $0 = State(observer: observer) }
    }

    /// The observer learns of settings in another way, which can be outdated at once. The next group reads them in any case.
    func forget() { state.withLock { $0.followed = nil } }

    /// Called at the beginning of a group. The settings are those of earlier commits, so it does no harm if the group
    /// itself fails.
    func follow(in db: SQLConnection) throws {
        guard let version = db.settingsVersion else { return }
        let (followed, observer) = state.withLock { ($0.followed, $0.observer) }
        guard let observer, followed != version else { return }
        observer(try Store.settings(in: db))
        state.withLock { $0.followed = version }
    }
}

extension Store {
    /// Calls `observer` at the beginning of a group commit if a client has changed settings since the one before, here or
    /// at another node. Never calls it on SQLite. The observer must return quickly: it delays the writer.
    ///
    /// - Parameter observer: receives all stored values; nil: ends the calls.
    public func observeSettings(_ observer: (@Sendable ([String: JSON]) -> Void)?) {
        settingsFollower.observe(observer)
    }
}
