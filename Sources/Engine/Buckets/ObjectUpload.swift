import Base
import Downloads
import Foundation
import Glibc
import S3Client
import Storage

/// What becomes an object.
struct ObjectOrigin: Sendable {
    let job: JobID
    let part: PartID
    let contentType: String?
}

/// The bytes of one verified part, and the object that they become.
struct ObjectSource: Sendable {
    let origin: ObjectOrigin
    let size: Int64
    /// Of the file since its verification.
    let mark: FileMark
    /// Only the bucket has the bytes.
    let isStaged: Bool

    var job: JobID { origin.job }
}

/// Puts verified bytes into the bucket of a location. Every step can be repeated after a crash:
///
/// - The table `uploads` says which key a job uses before the first request.
/// - Nothing is visible in the bucket before `publish`.
/// - An object has a mark in its metadata, so that fetchd recognizes it although the answer to its creation was lost.
struct ObjectUpload: Sendable {
    let services: EngineServices
    let location: Location
    let store: BucketStore
    /// Seconds in which the bucket may fail. Then the job waits for it.
    var patience = 60.0

    /// What `prepare` has found or done.
    enum Prepared: Sendable {
        /// All parts are in the bucket, or the object is small. The next step is `publish`.
        case ready(StoredUpload)
        /// An earlier request has made the object.
        case published(StoredUpload)
        /// Another object has the key, and the job must not replace it.
        case taken
    }

    // MARK: Before the object is visible

    /// Sends all parts of a large object. If the task is cancelled, it throws, and a next call continues.
    ///
    /// - Parameter path: of the object, relative to the location.
    /// - Throws: `FinalizeFault.uploadLost` if only the bucket had the bytes.
    func prepare(_ source: ObjectSource, as path: String, _ conflict: Destination.Conflict) async throws -> Prepared {
        guard !source.isStaged else { throw FinalizeFault.uploadLost }
        let (key, origin) = (store.key(of: path), source.origin)
        let stored = try await storedForKey(key, origin)
        let found = try await request { () async throws(StorageError) in try await store.bucket.head(key) }
        if let stored, let found, isOwn(stored, origin, key), BucketStore.isMarked(found, for: stored) {
            return .published(stored)
        }
        if found != nil, conflict != .replace { return .taken }
        var upload = try await continued(stored, origin, key)
        let parts = ObjectParts(size: source.size)
        if parts.isOne {
            if let upload { return .ready(upload) }
            return .ready(try await begin(origin, key, partSize: nil, at: services.time.now))
        }
        for isLast in [false, false, true] {
            let begun =
                if let upload { upload } else {
                    try await create(origin, key, partSize: parts.partSize, at: services.time.now)
                }
            do {
                let parts = ObjectParts(size: source.size, partSize: begun.partSize ?? parts.partSize)
                return .ready(try await send(source, parts, of: begun))
            } catch let error as StorageError where error.isUploadLost && !isLast {
                services.log.warning("The bucket has lost the upload of \(source.job). fetchd begins it again.")
                try await discard(begun)
                upload = nil
            }
        }
        throw StorageError(code: "lost_upload", message: "The bucket has lost three uploads of the object.")
    }

    /// What the job has begun. If that has the same key, and cannot be continued, nothing stays of it, not even an object that no
    /// event has reported.
    private func storedForKey(_ key: String, _ origin: ObjectOrigin) async throws -> StoredUpload? {
        guard let stored = try await stored(of: origin.job) else { return nil }
        guard stored.key == key, !isOwn(stored, origin, key) else { return stored }
        return try await continued(stored, origin, key)
    }

    private func stored(of job: JobID) async throws -> StoredUpload? {
        try await services.persist("what was begun for \(job)") { try await services.store.upload(of: job) } ?? nil
    }

    private func isOwn(_ stored: StoredUpload, _ origin: ObjectOrigin, _ key: String) -> Bool {
        stored.part == origin.part && stored.key == key && stored.location == location.name && !stored.isAbandoned
    }

    /// What the job has begun before, if it can be continued. Of anything else, nothing stays in the bucket.
    private func continued(
        _ stored: StoredUpload?, _ origin: ObjectOrigin, _ key: String
    ) async throws -> StoredUpload? {
        guard let stored else { return nil }
        if isOwn(stored, origin, key), stored.id != nil || stored.partSize == nil { return stored }
        try await discardAtItsLocation(stored)
        return nil
    }

    /// Removes what the bucket has of what the job has begun.
    func discardStored(of job: JobID) async throws {
        if let stored = try await stored(of: job) { try await discardAtItsLocation(stored) }
    }

    /// Removes what the bucket of any location has of an upload.
    private func discardAtItsLocation(_ stored: StoredUpload) async throws {
        let owner = services.locations[stored.location]
        guard let store = owner?.bucket, let owner else {
            // The location is not declared any more, so its bucket cannot be reached.
            throw DiskError.undeclared(stored.location)
        }
        try await ObjectUpload(services: services, location: owner, store: store).discard(stored)
    }

    /// - Parameter partSize: nil: the object is put with one request.
    private func begin(
        _ origin: ObjectOrigin, _ key: String, partSize: Int64?, at begunAt: Date
    ) async throws -> StoredUpload {
        let upload = StoredUpload(
            job: origin.job, location: location.name, key: key, part: origin.part, partSize: partSize,
            begunAt: Date(milliseconds: begunAt.milliseconds))
        try await services.persist("the upload of \(origin.job)") { try await services.store.beginUpload(upload) }
        return upload
    }

    private func create(
        _ origin: ObjectOrigin, _ key: String, partSize: Int64, at begunAt: Date
    ) async throws -> StoredUpload {
        var upload = try await begin(origin, key, partSize: partSize, at: begunAt)
        let headers = store.headers(of: upload, type: origin.contentType)
        let id = try await request { () async throws(StorageError) in
            try await store.bucket.createUpload(of: key, headers: headers).id
        } repair: { [upload] in
            // It may have been carried out, and its answer lost.
            try await abortUnknown(upload)
        }
        upload.id = id
        try await services.persist("the upload of \(origin.job)") { [upload] in
            try await services.store.note(uploadID: id, of: upload)
        }
        return upload
    }

    private func send(_ source: ObjectSource, _ parts: ObjectParts, of upload: StoredUpload) async throws
        -> StoredUpload
    {
        var upload = upload
        var sent = Dictionary(uniqueKeysWithValues: upload.pieces.map { ($0.number, $0) })
        try await withThrowingTaskGroup(of: StoredUpload.Piece.self) { group in
            var running = 0
            for number in 1...parts.count {
                if running == store.connections, let piece = try await group.next() {
                    sent[piece.number] = piece
                    running -= 1
                }
                group.addTask { [upload, known = sent[number]] in
                    try await send(number, source, parts[number], of: upload, unless: known)
                }
                running += 1
            }
            for try await piece in group { sent[piece.number] = piece }
        }
        upload.pieces = sent.values.sorted { $0.number < $1.number }
        return upload
    }

    /// - Parameter known: the part that the bucket has. It is not sent again if it has these bytes.
    private func send(
        _ number: Int, _ source: ObjectSource, _ range: Range<Int64>, of upload: StoredUpload,
        unless known: StoredUpload.Piece?
    ) async throws -> StoredUpload.Piece {
        let body = try await payload(of: source, range)
        let piece = try await send(number, body, range, of: upload, unless: known)
        if piece == known { return piece }
        try await services.persist("a part of the upload of \(source.job)") {
            try await services.store.note(piece, of: upload)
        }
        return piece
    }

    /// Sends a part, which is not stored yet.
    func send(
        _ number: Int, _ body: Payload, _ range: Range<Int64>, of upload: StoredUpload,
        unless known: StoredUpload.Piece?
    ) async throws -> StoredUpload.Piece {
        let digest = body.sha256.hexadecimal
        if let known, known.sha256 == digest { return known }
        let target = Bucket.Upload(key: upload.key, id: upload.id ?? "")
        let part = try await store.gate.pass(for: upload.job.text) {
            try await request { () async throws(StorageError) in try await store.bucket.put(number, of: target, body) }
        }
        store.count(sent: Int64(range.count))
        return StoredUpload.Piece(number: number, etag: part.etag, sha256: digest)
    }

    private func payload(of source: ObjectSource, _ range: Range<Int64>) async throws -> Payload {
        let folder = location.folder
        return try await location.diskQueues.next().run { try folder.payload(of: source, range) }
    }

    // MARK: Files that still grow

    /// Begins to send a file, or continues what an earlier attempt has begun.
    ///
    /// - Parameters:
    ///   - path: a name of the object at a time, relative to the location.
    ///   - released: the number of first bytes that only the bucket has.
    /// - Throws: `FinalizeFault.occupied`; `FinalizeFault.uploadLost` if the upload that has the first bytes cannot be used, because it
    ///   has another key than the job wants now.
    func open(
        _ origin: ObjectOrigin, as path: (Date) -> String, _ conflict: Destination.Conflict, partSize: Int64,
        released: Int64
    ) async throws -> StoredUpload {
        let stored = try await stored(of: origin.job)
        if let stored, isOwn(stored, origin, stored.key), stored.id != nil, stored.partSize == partSize,
            isName(stored.key, of: path(stored.begunAt), conflict), stored.released?.count ?? 0 == released
        {
            return stored
        }
        guard released == 0 else { throw FinalizeFault.uploadLost }
        let now = services.time.now
        let wanted = path(now)
        for number in 0... {
            let candidate = number == 0 ? wanted : FilePathRule.numbered(path: wanted, number)
            let key = store.key(of: candidate)
            let found = try await request { () async throws(StorageError) in try await store.bucket.head(key) }
            // An object of this job that no event has reported is removed with its upload.
            let isFree = found.map { head in stored.map { BucketStore.isMarked(head, for: $0) } ?? false } ?? true
            guard isFree || conflict == .replace else {
                if conflict == .rename { continue }
                throw FinalizeFault.occupied(candidate)
            }
            if let stored { try await discardAtItsLocation(stored) }
            return try await create(origin, key, partSize: partSize, at: now)
        }
        throw FinalizeFault.occupied(wanted)
    }

    /// Whether a job that wants this path can have the object's key, perhaps with a number.
    func isName(_ key: String, of path: String, _ conflict: Destination.Conflict) -> Bool {
        if key == store.key(of: path) { return true }
        return conflict == .rename
            && (1..<10_000).contains { key == store.key(of: FilePathRule.numbered(path: path, $0)) }
    }

    // MARK: The object

    /// Makes the object. Others see it from now on.
    ///
    /// - Parameter mayBeDone: whether an earlier request may have made it.
    /// - Returns: nil if another object has the key, and the job must not replace it.
    /// - Throws: `StorageError.isUploadLost` if the parts must be sent again.
    func publish(
        _ upload: StoredUpload, _ source: ObjectSource, _ conflict: Destination.Conflict, mayBeDone: Bool
    ) async throws -> StoredObject? {
        if mayBeDone, let object = try await published(upload, source) { return object }
        let condition = conflict == .replace ? [] : [BucketStore.isNew]
        do {
            if let id = upload.id {
                let parts = upload.pieces.map { Bucket.UploadedPart(number: $0.number, etag: $0.etag) }
                _ = try await store.bucket.complete(
                    Bucket.Upload(key: upload.key, id: id), parts, headers: condition)
            } else {
                let body = try await payload(of: source, 0..<source.size)
                let headers = store.headers(of: upload, type: source.origin.contentType) + condition
                _ = try await store.gate.pass(for: source.job.text) {
                    try await store.bucket.put(upload.key, body, headers: headers)
                }
                store.count(sent: source.size)
            }
        } catch let error as StorageError where error.isTaken || error.isUploadLost {
            // A request whose answer was lost may have been carried out.
            if let object = try await published(upload, source) { return object }
            if error.isTaken { return nil }
            throw error
        }
        guard let object = try await published(upload, source) else { throw StorageError(missing: upload.key) }
        return object
    }

    /// The object of this upload, if the bucket has it.
    private func published(_ upload: StoredUpload, _ source: ObjectSource) async throws -> StoredObject? {
        guard let head = try await store.object(of: upload) else { return nil }
        guard head.size == source.size else { throw StorageError(missing: upload.key) }
        return StoredObject(
            url: store.bucket.url(of: upload.key), etag: head.version.etag, versionID: head.version.versionID)
    }

    // MARK: What is not needed any more

    /// Removes what the bucket has of an upload: its parts, and its object if no event has reported it.
    func discard(_ upload: StoredUpload) async throws {
        if let id = upload.id {
            try await store.bucket.abort(Bucket.Upload(key: upload.key, id: id))
        } else if upload.partSize != nil {
            try await abortUnknown(upload)
        }
        if try await store.object(of: upload) != nil { try await store.bucket.delete(upload.key) }
        try await services.persist("the end of an upload of \(upload.job)") {
            try await services.store.forget(upload)
        }
    }

    /// The service ended between the creation of an upload and the commit of its identifier. Lists of uploads have no metadata, so it
    /// is found by its key, its time, and by its having no parts.
    private func abortUnknown(_ upload: StoredUpload) async throws {
        let earliest = upload.begunAt.addingTimeInterval(-Self.largestSkew)
        let open = try await request { () async throws(StorageError) in try await store.bucket.uploads(of: upload.key) }
        for found in open where found.upload.key == upload.key && found.begunAt >= earliest {
            guard try await store.bucket.parts(of: found.upload).isEmpty else { continue }
            try await store.bucket.abort(found.upload)
        }
    }

    /// Seconds. Servers refuse signatures of clocks that differ by more.
    private static let largestSkew = 900.0

    // MARK: Requests

    /// Repeats a request that can succeed later, for as long as the bucket may be silent.
    ///
    /// - Parameter repair: called before each repetition.
    private func request<Value: Sendable>(
        _ request: () async throws(StorageError) -> Value, repair: () async throws -> Void = {}
    ) async throws -> Value {
        let end = services.time.now.addingTimeInterval(patience)
        var delay = 0.5
        while true {
            do throws(StorageError) {
                return try await request()
            } catch {
                try Task.checkCancellation()
                guard error.mayPass, services.time.now.addingTimeInterval(delay) < end else { throw error }
            }
            try await services.time.sleep(until: services.time.now.addingTimeInterval(delay * .random(in: 0.5...1)))
            delay = min(delay * 2, 10)
            try await repair()
        }
    }
}

extension StorageError {
    init(missing key: String) {
        self.init(
            code: "missing_object", message: "The bucket has no object \(key), or another one, after it confirmed it.")
    }
}

extension DownloadsFolder {
    /// The body of a request with bytes of a verified part. Reads them, and blocks on the disk meanwhile.
    ///
    /// - Throws: also if another program has changed the file since its verification.
    func payload(of source: ObjectSource, _ range: Range<Int64>) throws(DiskError) -> Payload {
        let entry = entry(of: source.origin.part)
        let file = try Descriptor.openOwn(entry.name, in: entry.folder, to: "read the part")
        var hash = RunningHash(.sha256)
        try file.read(range) { hash.update($0) }
        let status = try file.status()
        guard status.st_size == source.size, isUnchanged(file.mark(status), since: source.mark) else {
            throw DiskError("send the part, which another program has changed", code: ESTALE)
        }
        return entry.payload(range, sha256: hash.digest)
    }
}

extension FolderEntry {
    func payload(_ range: Range<Int64>, sha256: [UInt8]) -> Payload {
        .file(path: "/proc/self/fd/\(folder.number)/\(name)", range: range, sha256: sha256)
    }
}

extension Descriptor {
    /// Reads bytes of a part. Blocks on the disk meanwhile.
    func read(_ range: Range<Int64>, _ body: (UnsafeRawBufferPointer) -> Void) throws(DiskError) {
        var (offset, buffer) = (range.lowerBound, [UInt8](repeating: 0, count: 1 << 20))
        while offset < range.upperBound {
            let count = pread(number, &buffer, min(buffer.count, Int(range.upperBound - offset)), off_t(offset))
            guard count > 0 else { throw DiskError("read the part back", code: count == 0 ? EIO : errno) }
            buffer.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            offset += Int64(count)
        }
    }
}

/// How an object is divided into the parts of its upload. All parts but the last have the same size, which some servers demand.
struct ObjectParts: Sendable, Equatable {
    /// Of the object, in bytes.
    let size: Int64
    /// Of each part but the last, in bytes.
    let partSize: Int64

    private static let mebibyte: Int64 = 1 << 20
    /// S3 demands 5 MiB.
    static let smallestPart = 8 * mebibyte
    /// Servers accept 10,000 parts.
    private static let usualCount: Int64 = 9_000

    init(size: Int64, partSize: Int64) {
        self.size = size
        self.partSize = partSize
    }

    init(size: Int64) {
        let wanted = (size + Self.usualCount - 1) / Self.usualCount
        let rounded = (wanted + Self.mebibyte - 1) / Self.mebibyte * Self.mebibyte
        self.init(size: size, partSize: max(Self.smallestPart, rounded))
    }

    /// Whether the object is put with one request.
    var isOne: Bool { size <= partSize }

    var count: Int { Int((size + partSize - 1) / partSize) }

    /// - Parameter number: 1 to `count`.
    subscript(number: Int) -> Range<Int64> {
        let start = Int64(number - 1) * partSize
        return start..<min(start + partSize, size)
    }
}
