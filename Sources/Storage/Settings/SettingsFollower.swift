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

    /// nil if it knows this version. The version is noted before the settings are read, so that a `forget()` in between
    /// counts.
    private func observer(of version: Int64) -> (@Sendable ([String: JSON]) -> Void)? {
        state.withLock { state in
            guard state.observer != nil, state.followed != version else { return nil }
            state.followed = version
            return state.observer
        }
    }

    /// Called at the beginning of a group. The settings are those of earlier commits, so it does no harm if the group
    /// itself fails.
    func follow(in db: SQLConnection) throws {
        guard let version = db.settingsVersion, let observer = observer(of: version) else { return }
        do {
            observer(try Store.settings(in: db))
        } catch {
            forget()
            throw error
        }
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
