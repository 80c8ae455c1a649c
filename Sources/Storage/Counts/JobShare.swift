import Downloads

/// What one job adds to the kept counts.
struct JobShare: Sendable, Equatable {
    var session: Name
    var batch: Int
    var state: JobState.Name
    /// Of its batch.
    var progress = BatchProgress()
    /// nil when the job has no part.
    var partBytes: Int64?
    /// The bytes that count for `max_total_size` of its session: its finished file; or, while it is outstanding, its part,
    /// whose known size counts as a whole.
    var heldBytes: Int64 = 0

    init(_ job: Job) {
        self.init(
            session: job.session, batch: job.batch, state: job.state.name, fileSize: job.state.finish?.file.size,
            partBytes: job.part?.bytesDurable, partSize: job.part?.size)
    }

    /// - Parameter fileSize: the size of the file of a job that has succeeded.
    init(
        session: Name, batch: Int, state: JobState.Name, fileSize: Int64?, partBytes: Int64?, partSize: Int64?
    ) {
        (self.session, self.batch, self.state, self.partBytes) = (session, batch, state, partBytes)
        switch state {
        case .queued, .running, .waiting, .paused:
            progress = BatchProgress(
                unsized: partSize == nil ? 1 : 0, sized: partSize == nil ? 0 : 1, bytesReceived: partBytes ?? 0,
                bytesExpected: partSize ?? 0)
            heldBytes = max(partBytes ?? 0, partSize ?? 0)
        case .succeeded:
            progress = BatchProgress(sized: 1, bytesReceived: fileSize ?? 0, bytesExpected: fileSize ?? 0)
            heldBytes = fileSize ?? 0
        case .failed, .cancelled: break
        }
    }
}
