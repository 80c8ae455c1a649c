import Foundation

/// How a task follows the service.
extension BackgroundDownloadTask {
    /// Takes over a job that the service reports.
    func follow(_ job: JobDocument) {
        content.withLock { content in
            content.job = job.id
            content.progress = job.progress
            content.taskDescription = content.taskDescription ?? job.metadata.taskDescription
            content.isHandedOver = true
        }
    }

    /// Returns how many bytes have arrived since the last call, or nil after the task's end.
    func follow(_ progress: DownloadProgress) -> Int64? {
        content.withLock { content in
            guard content.state != .completed else { return nil }
            let before = content.progress.bytesReceived
            content.progress = progress
            return max(0, progress.bytesReceived - before)
        }
    }

    func follow(_ kind: SessionEvent.Kind) {
        content.withLock { content in
            switch kind {
            case .jobPaused: if content.state == .running { content.state = .suspended }
            case .jobStarted: if content.state == .suspended { content.state = .running }
            case .jobSucceeded: content.state = .completed
            case .jobEnded(let error): (content.state, content.error) = (.completed, error)
            case .jobCreated, .jobResumed, .jobRestarted, .jobWaiting, .jobDeleted, .sessionFinished, .other: break
            }
        }
    }

    func complete(_ error: DownloadError?) {
        content.withLock { ($0.state, $0.error) = (.completed, error) }
    }

    /// The resume data for the bytes that the job has.
    func resumeData(of job: JobDocument) -> Data? {
        guard job.progress.bytesDurable > 0 else { return nil }
        let request = try? content.current.request?.get()
        return ResumeData(job: job.id, request: request, url: job.url).encoded
    }
}
