import Downloads
import Formats
import S3Client
import Storage

/// A location as interfaces show it.
public struct LocationStatus: Sendable {
    public enum Place: Sendable, Equatable {
        /// - path: absolute.
        case folder(path: String)
        /// - name: with `s3://` and the prefix.
        case bucket(name: String, endpoint: String)
    }

    public let name: Name
    public let place: Place
    /// Whether files can go to it now.
    public let isHealthy: Bool
    /// Why no file, or not every file, can go to it now, as a sentence; nil: there is no restriction.
    public let why: String?
    /// nil: its disk does not say it, or it is a bucket.
    public let freeBytes: Int64?
    /// The number of jobs that wait for its disk.
    public let waiting: Int
    /// Bytes that were sent to the bucket since the start of the service; 0 for a folder.
    public let bytesSent: Int64
}

extension Engine {
    /// Where the files of each location are: the absolute path of its folder, or `s3://`, its bucket and its prefix.
    public var locationPaths: [Name: String] {
        services.locations.all.reduce(into: [:]) { paths, location in
            paths[location.name] = location.bucket?.path ?? AbsolutePath.of(location.folder.path)
        }
    }

    /// The names of the locations. Jobs may name them.
    public var locationNames: Set<Name> { Set(services.locations.all.map(\.name)) }

    /// - Parameters:
    ///   - isShown: whether the caller may use the location.
    ///   - sessions: only their jobs are counted.
    public func locations(
        where isShown: (Name) -> Bool = { _ in true }, of sessions: VisibleSessions = .all
    ) async throws -> [LocationStatus] {
        let waiting = try await store.jobsWaitingForLocations(visible: sessions)
        var statuses: [LocationStatus] = []
        for location in services.locations.all where isShown(location.name) {
            statuses.append(await location.status(waiting: waiting[location.name] ?? 0))
        }
        return statuses
    }
}

extension Location {
    fileprivate func status(waiting: Int) async -> LocationStatus {
        let fault = health.fault.map { "fetchd could not \($0.action): \($0.reason)." }
        return LocationStatus(
            name: name,
            place: bucket.map { .bucket(name: $0.name, endpoint: $0.endpoint) }
                ?? .folder(path: AbsolutePath.of(folder.path)),
            isHealthy: fault == nil, why: fault ?? bucket?.restriction, freeBytes: await space?.free, waiting: waiting,
            bytesSent: bucket?.bytesSent ?? 0)
    }
}

// MARK: - Objects, for readers

extension Engine {
    /// A signed request for the object of a job.
    ///
    /// - Throws: `EngineError.bucketUnusable`.
    public func objectRequest(
        _ method: String, for file: FinishedFile, headers: [(name: String, value: String)]
    ) async throws(EngineError) -> (url: String, headers: [(name: String, value: String)]) {
        try await inBucket(of: file) { (store) async throws(StorageError) in
            let fields = headers.map { StorageRequest.Field($0.name, $0.value) }
            let signed = try await store.bucket.signed(method, store.key(of: file.path), headers: fields)
            return (signed.url, signed.headers.map { (name: $0.name, value: $0.value) })
        }
    }

    /// A URL with which others can read the object of a job for a time.
    ///
    /// - Parameters:
    ///   - seconds: 1 to 604,800.
    ///   - disposition: the `Content-Disposition` of the response.
    /// - Throws: `EngineError.bucketUnusable`.
    public func objectURL(
        of file: FinishedFile, validFor seconds: Int, disposition: String
    ) async throws(EngineError) -> String {
        try await inBucket(of: file) { (store) async throws(StorageError) in
            try await store.bucket.presignedURL(
                of: store.key(of: file.path), validFor: seconds,
                query: [.init("response-content-disposition", disposition)])
        }
    }

    private func inBucket<Value>(
        of file: FinishedFile, _ work: (BucketStore) async throws(StorageError) -> Value
    ) async throws(EngineError) -> Value {
        let name = file.location ?? .default
        guard let store = services.locations[name]?.bucket else {
            throw .bucketUnusable(name, why: "no option declares it as a bucket")
        }
        do throws(StorageError) {
            return try await work(store)
        } catch {
            throw .bucketUnusable(name, why: error.text)
        }
    }
}
