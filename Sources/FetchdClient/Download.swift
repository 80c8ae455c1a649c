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

    /// Waits for the end, and copies the file to where `destination` says.
    ///
    /// `destination` gets a temporary location, which no file has yet, and the response. Folders that do not exist are
    /// created. A file that exists there is replaced when the copy is complete.
    @discardableResult
    public func save(
        to destination: @Sendable (_ temporaryURL: URL, _ response: DownloadResponse) -> URL
    ) async throws(DownloadError) -> URL {
        _ = try await finished()
        do throws(FetchdError) {
            let job = try await service.persist("GET", "/v1/jobs/\(id)").decoded(as: JobDocument.self)
            guard let response = job.response else { throw .invalid("The file of the download is gone.") }
            let temporary = FileManager.default.temporaryDirectory.appending(path: "\(id).download")
            let location = destination(temporary, response)
            try createFolder(of: location)
            try await service.copy(fileOf: id, size: response.expectedContentLength, to: location)
            return location
        } catch {
            throw .refused(error)
        }
    }

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

/// How far a download is.
public struct DownloadProgress: Sendable, Equatable, Decodable {
    /// The number of bytes that have arrived, over all attempts.
    public let bytesReceived: Int64
    /// The number of bytes that the service keeps after a crash.
    public let bytesDurable: Int64
    /// The size of the file; nil if the server has not sent it.
    public let bytesExpected: Int64?
    /// The part that has arrived, from 0 to 1; nil if the size is not known.
    public let fraction: Double?
    /// The rate of the last seconds; nil if the download does not run.
    public let bytesPerSecond: Int64?
    /// The remaining time; nil if it is not known.
    public let etaSeconds: Int64?

    static let none = DownloadProgress(
        bytesReceived: 0, bytesDurable: 0, bytesExpected: nil, fraction: nil, bytesPerSecond: nil, etaSeconds: nil)
}

/// A file that is complete, verified and in its place on the machine of the service.
public struct FinishedFile: Sendable, Equatable, Decodable {
    /// The path from the downloads folder of the service.
    public let path: String
    public let size: Int64
    /// The SHA-256 in lower-case hexadecimal; nil if the job has `digest: "none"`.
    public let sha256: String?
    public let contentType: String?

    public var name: String { path.split(separator: "/").last.map(String.init) ?? path }
}

/// What the server has answered to a download that has succeeded, with the names of `URLResponse`.
public struct DownloadResponse: Sendable, Equatable {
    /// The address that the file came from, after redirects.
    public let url: URL?
    public let statusCode: Int
    /// The name that the file has at the service.
    public let suggestedFilename: String
    /// The value of `Content-Type`; nil if the server sent none.
    public let mimeType: String?
    /// The size of the file.
    public let expectedContentLength: Int64
    /// The SHA-256 in lower-case hexadecimal; nil if the job has `digest: "none"`.
    public let sha256: String?
}

/// Why a job failed or waits.
public struct DownloadFailure: Error, Sendable, Equatable, Decodable {
    /// A stable code, such as `bad_status` or `checksum_mismatch`.
    public let code: String
    /// One or two sentences for a person.
    public let message: String
    /// The HTTP status of the server, if there was one.
    public let status: Int?
}

/// Why a download ended without a file.
public enum DownloadError: Error, Sendable, Equatable {
    /// A client cancelled it. There is resume data if that client asked for it.
    case cancelled(resumeData: Data?)
    /// The job failed. The service keeps its bytes for a while, so another task can continue from the resume data.
    case failed(DownloadFailure, resumeData: Data?)
    /// The service did not accept the task, or no longer has its file.
    case refused(FetchdError)

    /// The argument for `downloadTask(withResumeData:)`; nil if there are no bytes.
    public var resumeData: Data? {
        switch self {
        case .cancelled(let data), .failed(_, let data): data
        case .refused: nil
        }
    }
}

extension DownloadError: CustomStringConvertible, LocalizedError {
    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .cancelled: "The download was cancelled."
        case .failed(let failure, _): failure.message
        case .refused(let error): error.description
        }
    }
}

func createFolder(of location: URL) throws(FetchdError) {
    do {
        try FileManager.default.createDirectory(
            at: location.deletingLastPathComponent(), withIntermediateDirectories: true)
    } catch {
        throw .invalid("The folder of \(location.path) cannot be created: \(error.localizedDescription)")
    }
}
