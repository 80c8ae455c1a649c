import Foundation

/// The files of a session with a delegate. Only one process can have them open.
final class StateFolder: Sendable {
    /// Files on their way from the service to the delegate.
    let files: URL
    private let recordFile: URL
    private let tasks: URL
    private let lock: Guarded<Int32>

    init(for identifier: String, in parent: URL) throws(FetchdError) {
        let folder = parent.appending(path: identifier, directoryHint: .isDirectory)
        files = folder.appending(path: "files", directoryHint: .isDirectory)
        tasks = folder.appending(path: "tasks", directoryHint: .isDirectory)
        recordFile = folder.appending(path: "record.json")
        do {
            for folder in [folder, files, tasks] {
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            }
        } catch {
            throw .storage("\(error)")
        }
        // The kernel releases the lock when the process ends, however it ends.
        let descriptor = open(folder.appending(path: "lock").path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .storage("errno \(errno)") }
        lock = Guarded(descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw .identifierInUse(identifier) }
    }

    deinit { unlock() }

    /// Lets another session open the folder.
    func unlock() {
        lock.withLock { descriptor in
            guard descriptor >= 0 else { return }
            // A process that this one just starts has a copy of the descriptor for a moment, and `close` alone would leave it the
            // lock.
            flock(descriptor, LOCK_UN)
            close(descriptor)
            descriptor = -1
        }
    }

    // MARK: The record

    /// nil if there is none, or if it cannot be read: the last acknowledgement is the position then.
    func record() -> SessionRecord? {
        (try? Data(contentsOf: recordFile)).flatMap { try? JSONDecoder().decode(SessionRecord.self, from: $0) }
    }

    /// - Throws: also if the folder is unlocked, because it may be another session's then.
    func write(_ record: SessionRecord) throws(FetchdError) {
        try lock.withLock { descriptor throws(FetchdError) in
            guard descriptor >= 0 else { throw .storage("The session is closed.") }
            try replace(recordFile, with: record, isSynced: false)
        }
    }

    // MARK: Tasks that the service does not have yet

    /// Returns when the task is on the disk.
    /// - Throws: also if the folder is unlocked.
    func write(_ task: PendingTask) throws(FetchdError) {
        guard lock.current >= 0 else { throw .invalid("The session is closed.") }
        try replace(file(of: task.identifier), with: task, isSynced: true)
    }

    func removeTask(_ identifier: String) { try? FileManager.default.removeItem(at: file(of: identifier)) }

    /// The tasks in the order in which they were resumed.
    func pendingTasks() -> [PendingTask] {
        let names = (try? FileManager.default.contentsOfDirectory(at: tasks, includingPropertiesForKeys: nil)) ?? []
        return names.compactMap { name in
            guard name.pathExtension == "json", let data = try? Data(contentsOf: name) else { return nil }
            return try? JSONDecoder().decode(PendingTask.self, from: data)
        }.sorted { ($0.order, $0.identifier) < ($1.order, $1.identifier) }
    }

    private func file(of task: String) -> URL { tasks.appending(path: "\(task).json") }

    /// Readers see the old content or the new one.
    private func replace(_ file: URL, with content: some Encodable, isSynced: Bool) throws(FetchdError) {
        let draft = file.appendingPathExtension("new")
        do {
            try JSONEncoder().encode(content).write(to: draft)
            if isSynced { try sync(draft) }
        } catch {
            throw .storage("\(error)")
        }
        guard rename(draft.path, file.path) == 0 else { throw .storage("errno \(errno)") }
        if isSynced { syncFolder(of: file) }
    }

    private func sync(_ file: URL) throws {
        let handle = try FileHandle(forUpdating: file)
        defer { try? handle.close() }
        try handle.synchronize()
    }

    private func syncFolder(of file: URL) {
        let folder = open(file.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }
}

/// A task that was resumed. Its file exists until the service has the job.
struct PendingTask: Codable, Sendable {
    let identifier: String
    /// When it was resumed, in nanoseconds since 1970.
    let order: Int64
    let request: DownloadRequest
    let resumeFrom: String?
}

/// The position of a client in the journal: the last call that its delegate has received. It is a small file, replaced
/// atomically after each delegate call.
struct SessionRecord: Codable, Equatable, Sendable {
    /// All calls for events up to this number have been made.
    private(set) var event: Int64
    /// The event whose calls are under way, and how many of them have been made.
    private(set) var partial: Partial?
    /// Finishes and challenges whose completion handler has not done its work. A later process gets them again.
    private(set) var openFinishes: [Int64] = []
    private(set) var openChallenges: [Int64] = []
    /// The finish up to which the service must know the acknowledgement.
    private(set) var acknowledged: Int64 = 0
    /// Finishes whose completion handler was called while an earlier one is open.
    private var answered: [Int64] = []

    struct Partial: Codable, Equatable, Sendable {
        let event: Int64
        var calls: Int
    }

    init(after event: Int64) { self.event = event }

    /// How many calls of this event have been made.
    func calls(of event: Int64) -> Int { partial?.event == event ? partial?.calls ?? 0 : 0 }

    mutating func recordCall(of event: Int64) { partial = Partial(event: event, calls: calls(of: event) + 1) }

    mutating func recordEvent(_ event: Int64) {
        self.event = max(self.event, event)
        partial = nil
    }

    /// The events to deliver again, in their order.
    var open: [Int64] { (openFinishes + openChallenges).sorted() }

    mutating func openedFinish(_ event: Int64) { if !openFinishes.contains(event) { openFinishes.append(event) } }

    mutating func openedChallenge(_ event: Int64) {
        if !openChallenges.contains(event) { openChallenges.append(event) }
    }

    mutating func closedChallenge(_ event: Int64) { openChallenges.removeAll { $0 == event } }

    func isAnswered(_ finish: Int64) -> Bool { finish <= acknowledged || answered.contains(finish) }

    /// The completion handler of a finish was called.
    mutating func answeredFinish(_ event: Int64) {
        openFinishes.removeAll { $0 == event }
        answered.append(event)
        // An acknowledgement covers all earlier finishes, so it waits for their handlers.
        let due = answered.filter { finish in openFinishes.allSatisfy { $0 > finish } }
        acknowledged = max(acknowledged, due.max() ?? 0)
        answered.removeAll { $0 <= acknowledged }
    }
}
