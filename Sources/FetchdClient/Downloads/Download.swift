import Foundation

/// A download at the service. Its elements are the progress, at each change, until the download ends.
///
/// ```swift
/// let download = try await session.download(from: url)
/// for try await progress in download { print(progress.bytesReceived) }
/// let file = try await download.save(to: folder.appending(path: "film.mkv"))
/// ```
///
/// The sequence outlives restarts of the service. It ends when the download has ended, with or without a file:
/// ``finished()`` has the result.
public struct Download: AsyncSequence, Sendable {
    public typealias Element = DownloadProgress
    public typealias Failure = FetchdError

    /// The job of the service. Store it to find the download again: ``BackgroundSession/download(withJob:)``.
    public let id: String
    let service: Service

    public struct AsyncIterator: AsyncIteratorProtocol {
        let download: Download
        var entityTag: String?
        var hasEnded = false

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(FetchdError) -> DownloadProgress? {
            while !hasEnded {
                guard let (job, tag) = try await download.change(since: entityTag) else { continue }
                entityTag = tag
                hasEnded = !job.state.isOutstanding
                return job.progress
            }
            return nil
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(download: self) }

    /// Waits for the end.
    /// - Throws: the reason if there is no file.
    public func finished() async throws(DownloadError) -> FinishedFile {
        var tag: String?
        while true {
            let version: (JobDocument, String?)?
            do throws(FetchdError) {
                version = try await change(since: tag)
            } catch {
                throw .refused(error)
            }
            guard let (job, next) = version else { continue }
            tag = next
            if let result = job.result { return try result.get() }
        }
    }

    /// Waits for the end, and copies the file to this machine.
    ///
    /// A file that exists at `location` is replaced when the copy is complete.
    @discardableResult
    public func save(to location: URL) async throws(DownloadError) -> FinishedFile {
        let file = try await finished()
        do throws(FetchdError) {
            try await service.copy(fileOf: id, size: file.size, to: location)
        } catch {
            throw .refused(error)
        }
        return file
    }

    /// Stops the download and keeps its bytes.
    public func pause() async throws(FetchdError) { try await act("pause") }

    public func resume() async throws(FetchdError) { try await act("resume") }

    /// Ends the download and discards its bytes.
    public func cancel() async throws(FetchdError) { try await act("cancel") }

    private func act(_ action: String) async throws(FetchdError) {
        _ = try await service.persist("POST", "/v1/jobs/\(id)/\(action)")
    }

    /// Waits up to 30 s for another version of the job; nil if there is none.
    private func change(since tag: String?) async throws(FetchdError) -> (JobDocument, String?)? {
        var headers = ["Prefer": "wait=30"]
        // Without a version, the service would wait for a change before it shows a running job.
        headers["If-None-Match"] = tag ?? "\"0.0\""
        let answer = try await service.persist("GET", "/v1/jobs/\(id)", headers: headers)
        guard answer.status != 304 else { return nil }
        return (try answer.decoded(as: JobDocument.self), answer.entityTag)
    }
}
