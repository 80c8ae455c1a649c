/// The tasks of a session that have not ended, by their identifiers and jobs.
final class TaskRegistry: Sendable {
    private struct Content {
        var tasks: [String: BackgroundDownloadTask] = [:]
        var identifiersByJob: [String: String] = [:]
    }

    private let content = Guarded(Content())

    var all: [BackgroundDownloadTask] { Array(content.current.tasks.values) }

    func task(ofJob job: String) -> BackgroundDownloadTask? {
        content.withLock { content in content.identifiersByJob[job].flatMap { content.tasks[$0] } }
    }

    func contains(_ identifier: String) -> Bool { content.current.tasks[identifier] != nil }

    func insert(_ task: BackgroundDownloadTask) {
        content.withLock { $0.tasks[task.taskIdentifier] = task }
    }

    /// Returns the task with this identifier, or a new one.
    func task(
        _ identifier: String, ofJob job: String, otherwise make: () -> BackgroundDownloadTask
    ) -> BackgroundDownloadTask {
        content.withLock { content in
            let task = content.tasks[identifier] ?? make()
            content.tasks[identifier] = task
            content.identifiersByJob[job] = identifier
            return task
        }
    }

    func remove(_ task: BackgroundDownloadTask) {
        content.withLock { content in
            content.tasks[task.taskIdentifier] = nil
            if let job = task.jobIdentifier { content.identifiersByJob[job] = nil }
        }
    }

    func removeAll() { content.withLock { $0 = Content() } }
}
