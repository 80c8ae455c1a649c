import Base
import Downloads
import Foundation
import Glibc
import S3Client
import Storage

/// The bucket of a location: its objects, what marks those of fetchd, and what the bucket can do.
public final class BucketStore: Sendable {
    let bucket: Bucket
    /// As `s3://` shows it, with the prefix.
    let name: String
    let endpoint: String
    /// `name` in the form of a folder, without a `/` at its end.
    var path: String { String(name.dropLast()) }
    private let prefix: String
    /// Of every object: the storage class and the encryption.
    private let headers: [StorageRequest.Field]
    /// Of the requests that send bytes.
    let gate: AsyncGate
    let connections: Int
    private let sent = Locked<Int64>(0)
    private let conditions = Locked<Conditions?>(nil)

    /// What the bucket makes of `If-None-Match: *`.
    private enum Conditions { case kept, ignored }

    /// - Parameters:
    ///   - name: of the bucket.
    ///   - prefix: empty, or with a `/` at its end.
    ///   - encryption: `AES256`, or `aws:kms:` and a key; nil: as the bucket says.
    ///   - connections: the largest number of requests that send bytes at the same time.
    public init(
        _ bucket: Bucket, named name: String, at endpoint: String, prefix: String, storageClass: String? = nil,
        encryption: String? = nil, connections: Int
    ) {
        self.bucket = bucket
        self.name = "s3://\(name)/\(prefix)"
        self.endpoint = endpoint
        self.prefix = prefix
        self.connections = connections
        gate = AsyncGate(width: connections)
        var headers: [StorageRequest.Field] = []
        if let storageClass { headers.append(.init("x-amz-storage-class", storageClass)) }
        switch encryption?.split(separator: ":", maxSplits: 2).map(String.init) {
        case let parts? where parts.count == 3:
            headers.append(.init("x-amz-server-side-encryption", "aws:kms"))
            headers.append(.init("x-amz-server-side-encryption-aws-kms-key-id", parts[2]))
        case let parts?: headers.append(.init("x-amz-server-side-encryption", parts[0]))
        case nil: break
        }
        self.headers = headers
    }

    /// - Parameter path: relative to the location, with `/` between components.
    func key(of path: String) -> String { prefix + path }

    /// Relative to the location.
    func path(of upload: StoredUpload) -> String { String(upload.key.dropFirst(prefix.count)) }

    // MARK: The objects of fetchd

    private static let markName = "fetchd-upload"

    func headers(of upload: StoredUpload, type: String?) -> [StorageRequest.Field] {
        // Servers sign other bytes differently, and the type comes from the server of the download.
        let isPlain = type?.utf8.allSatisfy { (0x20...0x7E).contains($0) } ?? false
        return [
            .init("Content-Type", isPlain ? type ?? "" : "application/octet-stream"),
            .init("x-amz-meta-\(Self.markName)", upload.mark),
        ] + headers
    }

    /// - Returns: nil if there is no object, or another one.
    func object(of upload: StoredUpload) async throws(StorageError) -> Bucket.ObjectHead? {
        try await bucket.head(upload.key).flatMap { Self.isMarked($0, for: upload) ? $0 : nil }
    }

    static func isMarked(_ head: Bucket.ObjectHead, for upload: StoredUpload) -> Bool {
        head.metadata[markName] == upload.mark
    }

    /// Removes the object of a job. A missing object is no error, and another one with its key stays.
    func remove(_ file: FinishedFile) async throws(DiskError) {
        do throws(StorageError) {
            let key = key(of: file.path)
            guard let found = try await bucket.head(key), found.version.etag == file.object?.etag else { return }
            try await bucket.delete(key)
        } catch {
            throw DiskError("remove the object", error)
        }
    }

    /// Whether the object of a job is in its place.
    func has(_ file: FinishedFile) async throws(StorageError) -> Bool {
        try await bucket.head(key(of: file.path))?.version.etag == file.object?.etag
    }

    func count(sent bytes: Int64) { sent.withLock { $0 += bytes } }

    /// Bytes since the start of the service, also those of parts that were sent again.
    var bytesSent: Int64 { sent.withLock(\.self) }

    // MARK: What the bucket can do

    /// Why a job that must not replace an object cannot use the bucket; nil if it can.
    var refusal: Failure? {
        guard conditions.withLock({ $0 }) == .ignored else { return nil }
        return Failure(.storageError, Self.ignoresConditions)
    }

    /// Of the location as a whole, for people. Its jobs with `on_conflict: replace` can use it.
    public var restriction: String? { refusal.map { _ in Self.ignoresConditions } }

    static let ignoresConditions =
        "The bucket ignores If-None-Match, so an object could be replaced: only jobs with on_conflict replace can use it."

    /// Finds out whether fetchd can write objects and remove them; at first also whether the bucket keeps its conditions.
    ///
    /// - Returns: nil while it works.
    func inspect() async -> DiskError? {
        do throws(StorageError) {
            try await probe()
            return nil
        } catch {
            return DiskError("use the bucket", error)
        }
    }

    /// The same as a part of a sentence.
    public var fault: String? { get async { await inspect()?.reason } }

    /// Learns what the bucket makes of conditions, if it is not known yet.
    func learnConditions() async throws(StorageError) {
        if conditions.withLock({ $0 == nil }) { try await probe() }
    }

    private func probe() async throws(StorageError) {
        let key = prefix + ".fetchd-probe-" + String(UInt64.random(in: .min ... .max), radix: 16)
        _ = try await bucket.put(key, .bytes(Array("fetchd".utf8)), headers: headers)
        do throws(StorageError) {
            if conditions.withLock({ $0 == nil }) {
                let found = try await keepsConditions(of: key) ? Conditions.kept : .ignored
                conditions.withLock { $0 = found }
            }
        } catch {
            try? await bucket.delete(key)
            throw error
        }
        try await bucket.delete(key)
    }

    /// - Parameter key: of an object that exists.
    private func keepsConditions(of key: String) async throws(StorageError) -> Bool {
        let isPutRefused = try await refuses { () async throws(StorageError) in
            _ = try await self.bucket.put(key, .bytes([]), headers: self.headers + [Self.isNew])
        }
        let upload = try await bucket.createUpload(of: key, headers: headers)
        let part = try await bucket.put(1, of: upload, .bytes([1]))
        let isCompletionRefused = try await refuses { () async throws(StorageError) in
            _ = try await self.bucket.complete(upload, [part], headers: [Self.isNew])
        }
        if isCompletionRefused { try await bucket.abort(upload) }
        return isPutRefused && isCompletionRefused
    }

    /// - Returns: false if the request has succeeded, or if the bucket does not know the condition.
    private func refuses(_ request: () async throws(StorageError) -> Void) async throws(StorageError) -> Bool {
        do throws(StorageError) {
            try await request()
            return false
        } catch {
            if error.isTaken { return true }
            guard error.code == "NotImplemented" || error.status == 501 else { throw error }
            return false
        }
    }

    /// The condition that there is no object with the key (RFC 9110, section 13.1.2).
    static let isNew = StorageRequest.Field("If-None-Match", "*")
}

extension StorageError {
    /// An object with the key exists.
    var isTaken: Bool { status == 412 || code == "PreconditionFailed" }
    /// Another request for the key is being carried out. The same one can succeed later, with a new upload.
    var isConflict: Bool { status == 409 && code == "ConditionalRequestConflict" }
    /// The bucket has no such upload, or not its parts.
    var isUploadLost: Bool { ["NoSuchUpload", "InvalidPart", "InvalidPartOrder"].contains(code) || isConflict }
    /// The key of the object is at fault.
    var isOfKey: Bool { ["KeyTooLongError", "InvalidURI", "XMinioInvalidObjectName"].contains(code) }
}

extension DiskError {
    /// - Parameter action: what the request was for.
    init(_ action: String, _ error: StorageError) {
        self.init(action, code: error.isOfKey ? ENAMETOOLONG : EREMOTEIO, detail: error.text)
    }
}

extension StorageError {
    /// A part of a sentence, without its last full stop.
    var text: String {
        let text = status == nil ? message : "the bucket answered \(code), \(message)"
        let place = region.map { "; the region of the bucket is \($0)" } ?? ""
        return (text.hasSuffix(".") ? String(text.dropLast()) : text) + place
    }
}
