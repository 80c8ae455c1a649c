import Base
import Downloads
import Formats
import Foundation
import Logging
import Storage

/// The settings of the running service that can change, and where each comes from. A value that a client has set takes
/// precedence over the start, and the schedule over both.
///
/// Each change is applied before the next one. A change of a client is applied in the commit order.
public final class ServiceConfiguration: Sendable {
    private struct State {
        var start: StartSettings
        var stored: [SettingName: JSON] = [:]
        /// Counts the times that the writer has replaced `stored`. What another thread has read before is older.
        var version = 0
        var effective: EffectiveSettings
        var policies: DestinationPolicies
        var apply: @Sendable (EffectiveSettings) -> Void = { _ in }
        var store: Store?

        mutating func update(_ settings: Settings, at now: Date) {
            effective = EffectiveSettings(settings, since: start, stored: Set(stored.keys), at: now)
            policies = DestinationPolicies(settings)
            apply(effective)
        }

        /// Stored values of another version that this one cannot use are left out.
        var settings: Settings {
            var settings = start.values
            for (name, value) in stored { try? Setting[name]?.set(value, in: &settings) }
            return settings
        }
    }

    private let state: Locked<State>

    public init(_ start: StartSettings) {
        let effective = EffectiveSettings(start.values, since: start, stored: [], at: .distantPast)
        state = Locked(State(start: start, effective: effective, policies: DestinationPolicies(start.values)))
    }

    public var effective: EffectiveSettings { state.withLock(\.effective) }

    public var policies: DestinationPolicies { state.withLock(\.policies) }

    public func source(of name: SettingName) -> SettingSource {
        state.withLock { $0.stored[name] == nil ? $0.start.sources[name] ?? .default : .api }
    }

    /// The value at the start, to which a client can return.
    public func startValue(of name: SettingName) -> JSON {
        state.withLock { Setting[name]?.value(in: $0.start.values) ?? .null }
    }

    /// Takes over what clients have set in earlier runs, or at other services. A value that this version cannot use
    /// is logged and left out.
    public func load(from store: Store, log: Logger) async throws(StoreError) {
        while true {
            let version = version
            let stored = Self.usable(try await store.settings(), log: log)
            if replaceStored(by: stored, readAt: version, at: store.time.now) { return }
        }
    }

    /// Changes with each change of a client, at this service or as the writer has read it.
    var version: Int { state.withLock(\.version) }

    /// - Parameter version: from before the read.
    /// - Returns: false if a client has changed a setting since; then nothing is replaced.
    func replaceStored(by stored: [SettingName: JSON], readAt version: Int, at now: Date) -> Bool {
        state.withLock { state in
            if state.stored == stored { return true }
            guard state.version == version else { return false }
            state.stored = stored
            state.update(state.settings, at: now)
            return true
        }
    }

    /// Called on the writer's thread, before the writes that the change applies to.
    func follow(_ values: [String: JSON], at now: Date) {
        // `load` reports what cannot be used.
        let stored = Self.usable(values, log: nil)
        state.withLock { state in
            state.version += 1
            guard state.stored != stored else { return }
            state.stored = stored
            state.update(state.settings, at: now)
            state.store?.work(.schedule).set()
        }
    }

    private static func usable(_ values: [String: JSON], log: Logger?) -> [SettingName: JSON] {
        var usable: [SettingName: JSON] = [:]
        for (text, value) in values {
            guard let setting = Setting[SettingName(rawValue: text)], setting.isRunning else {
                log?.warning("The database has a value of the setting \(text), which this version does not know.")
                continue
            }
            do throws(SettingFault) {
                try setting.check(value)
                usable[setting.name] = value
            } catch {
                log?.warning(
                    "The value of a setting in the database cannot be used, so its start value applies. \(error)")
            }
        }
        return usable
    }

    /// - Parameters:
    ///   - store: its work `schedule` is due after a change of the start, and its audit log gets the change.
    ///   - apply: called now, and after each change, also of the schedule's limits. It must return quickly, and must not
    ///     use this object.
    public func connect(to store: Store, _ apply: @escaping @Sendable (EffectiveSettings) -> Void) {
        state.withLock { state in
            state.apply = apply
            state.store = store
            apply(state.effective)
        }
        store.observeSettings { [self, time = store.time] in follow($0, at: time.now) }
    }

    public func disconnect() {
        let store = state.withLock { state in
            state.apply = { _ in }
            return state.store.take()
        }
        store?.observeSettings(nil)
    }

    /// Stores and applies what a client has changed.
    ///
    /// - Parameter note: the entry of the audit log, without its target.
    /// - Returns: the changes. A setting that had the value before is not one.
    public func change(
        _ patch: SettingsPatch, in store: Store, audit note: AuditNote?
    ) async throws -> [SettingChange] {
        let settings = patch.values.map { name, value in
            NewSetting(name: name.rawValue, value: value, start: startValue(of: name))
        }
        let changes = try await store.changeSettings(settings, audit: note) { [self] changes in
            take(changes, at: store.time.now)
        }
        // A later change of another service may have been read before this one was taken over.
        store.work(.settings).set()
        return changes
    }

    /// Called on the writer's thread, directly after the commit.
    func take(_ changes: [SettingChange], at now: Date) {
        state.withLock { state in
            state.version += 1
            for change in changes { state.stored[SettingName(rawValue: change.name)] = change.stored }
            state.update(state.settings, at: now)
        }
    }

    /// Replaces the settings of the start, for example after the configuration file was changed.
    ///
    /// - Returns: the settings whose start values differ. If a client has set a value, that value still applies.
    @discardableResult
    public func replaceStart(_ start: StartSettings, at now: Date) -> [StartChange] {
        state.withLock { state in
            let before = state.start
            state.start = start
            state.update(state.settings, at: now)
            state.store?.work(.schedule).set()
            return Setting.running.compactMap { setting in
                let (old, new) = (setting.value(in: before.values), setting.value(in: start.values))
                guard old != new else { return nil }
                return StartChange(
                    name: setting.name, before: old, after: new, isOverridden: state.stored[setting.name] != nil)
            }
        }
    }

    /// Stores in the audit log which settings have other values since the start was replaced.
    ///
    /// - Parameter note: what has replaced it.
    public func audit(_ changes: [StartChange], by note: AuditNote) async throws {
        let changes = changes.filter { !$0.isOverridden }.map {
            SettingChange(name: $0.name.rawValue, before: $0.before, after: $0.after, stored: nil)
        }
        guard !changes.isEmpty, let store = state.withLock(\.store) else { return }
        try await store.audit(changes, by: note)
    }

    public func followSchedule(at now: Date) -> (before: EffectiveSettings, after: EffectiveSettings) {
        state.withLock { state in
            let before = state.effective
            state.update(before.settings, at: now)
            return (before, state.effective)
        }
    }
}

public struct StartChange: Sendable, Equatable {
    public var name: SettingName
    public var before: JSON
    public var after: JSON
    /// Whether a client has set a value, which still applies.
    public var isOverridden: Bool
}

/// What applies at a moment: the settings, and the limits that the schedule and the system make of them.
public struct EffectiveSettings: Sendable {
    public var settings: Settings
    /// Bytes per second of all transfers together; nil: no limit.
    public var rateLimit: Int64?
    /// Jobs that run at once on this service, also if it is the only one of a database; 0: no job begins.
    public var maxConcurrentJobs: Int
    /// Jobs that run at once on all services of a database together, as a client has set it; nil: only their own limits apply.
    public var maxConcurrentJobsOfAllNodes: Int?
    /// When the schedule changes the limits next; nil: never.
    public var until: Date?

    /// - Parameter stored: the names of the settings that clients have set.
    init(_ settings: Settings, since start: StartSettings, stored: Set<SettingName>, at now: Date) {
        let scheduled = settings.schedule.limits(at: now)
        self.settings = settings
        rateLimit = settings.rateLimit
        if let rate = scheduled.limits.rateLimit { rateLimit = rate == 0 ? nil : rate }
        let jobs = scheduled.limits.maxConcurrentJobs ?? settings.maxConcurrentJobs
        let decisive: SettingName = scheduled.limits.maxConcurrentJobs == nil ? .maxConcurrentJobs : .schedule
        let isForAllNodes = start.isNode && stored.contains(decisive)
        maxConcurrentJobsOfAllNodes = isForAllNodes ? jobs : nil
        maxConcurrentJobs = min(jobs, isForAllNodes ? start.jobsOfNode : .max, start.mostConcurrentJobs)
        until = scheduled.until
    }
}

extension StartSettings {
    /// The limit of this service beside the one that a client has set for all together. A default does not limit it.
    fileprivate var jobsOfNode: Int {
        switch sources[.maxConcurrentJobs] {
        case .flag, .environment, .file: values.maxConcurrentJobs
        case .api, .default, nil: .max
        }
    }
}

/// A merge patch (RFC 7396): a value replaces the setting, and nil restores the value at the start.
public struct SettingsPatch: Sendable {
    /// Valid, and in the form in which documents show them.
    let values: [(name: SettingName, value: JSON?)]

    public init(_ values: [(name: SettingName, value: JSON?)]) throws(SettingFault) {
        var checked: [(name: SettingName, value: JSON?)] = []
        for (name, value) in values {
            guard let setting = Setting[name], let value else {
                checked.append((name, nil))
                continue
            }
            var settings = Settings()
            try setting.set(value, in: &settings)
            checked.append((name, setting.value(in: settings)))
        }
        self.values = checked
    }
}

extension ServiceConfiguration {
    /// Applies the schedule: sleeps until the limits change next, and looks again when the settings or the clock change. Runs
    /// until the task is cancelled.
    public func applySchedule(in store: Store, log: Logger) async {
        while !Task.isCancelled {
            let (before, after) = followSchedule(at: store.time.now)
            if (before.rateLimit, before.maxConcurrentJobs) != (after.rateLimit, after.maxConcurrentJobs) {
                log.notice("\(after.report)")
            }
            await store.work(.schedule).wait(until: after.until, by: store.time)
        }
    }

    /// Reads the settings again after a client has changed one at another service of the database. Runs until the task is
    /// cancelled.
    public func readChanges(from store: Store, log: Logger) async {
        guard state.withLock(\.start.isNode) else { return }
        while !Task.isCancelled {
            await store.work(.settings).wait()
            do throws(StoreError) {
                try await load(from: store, log: log)
                store.work(.schedule).set()
            } catch {
                log.error("Could not read the settings that another service has changed. \(error)")
                try? await store.time.sleep(until: store.time.now.addingTimeInterval(1))
                store.work(.settings).set()
            }
        }
    }
}

extension EffectiveSettings {
    fileprivate var report: String {
        let rate = rateLimit.map { "\($0) bytes per second" } ?? "no rate limit"
        let until = until.map { " until \($0.rfc3339)" } ?? ""
        return "The schedule sets \(rate) and at most \(maxConcurrentJobs) running jobs\(until)."
    }
}
