import Downloads
import Engine
import Metrics
import Storage

/// Transfers and posts to webhooks.
extension Exposition {
    mutating func addTransfers(_ load: EngineLoad, _ engine: EngineMeasurements, _ store: StoreMeasurements) {
        counter("fetchd_received_bytes_total", "Bytes of bodies that all downloads have received.") {
            [([:], Double(load.bytesReceived))]
        }
        gauge("fetchd_running_attempts", "Attempts that run now.", load.slotsUsed)
        gauge("fetchd_max_running_attempts", "The largest number of attempts that may run at once.", load.slots)
        histogram(
            "fetchd_job_duration_seconds", "From the creation of a job to its end, by the state in which it ended.",
            store.jobs.snapshot.map { (["state": $0.label.name], $0.histogram) })
        histogram(
            "fetchd_attempt_duration_seconds", "From the start of an attempt to its end, by its result.",
            engine.attempts.snapshot.map { (["result": $0.label.rawValue], $0.histogram) })
        counter("fetchd_attempt_failures_total", "Failed attempts by the code of their failure.") {
            engine.failures.snapshot.map { (["code": $0.label.rawValue], Double($0.count)) }
        }
        histogram(
            "fetchd_sync_duration_seconds", "Syncs of parts of downloads to the disk, one or several parts at once.",
            [([:], engine.syncs.snapshot)])
        guard let disk = load.disk else { return }
        gauge("fetchd_downloads_free_bytes", "Free space of the file system of the downloads.", Double(disk.free))
        gauge("fetchd_downloads_size_bytes", "Size of the file system of the downloads.", Double(disk.total))
    }

    mutating func addWebhooks(_ posts: [(result: String, durations: Histogram)]) {
        histogram(
            "fetchd_webhook_duration_seconds",
            "Posts to webhooks by their result: accepted (2xx), rejected (another status), unanswered.",
            posts.map { (["result": $0.result], $0.durations) })
    }
}

extension BatchSignal.Ending {
    fileprivate var name: String {
        switch self {
        case .succeeded: JobState.Name.succeeded.rawValue
        case .failed: JobState.Name.failed.rawValue
        case .cancelled: JobState.Name.cancelled.rawValue
        }
    }
}
