import Base
import Dispatch
import Downloads
import Formats
import Glibc
import Storage

/// A place that files go to, with all that its disk can delay: while it is slow or does not work, only its jobs wait.
public final class Location: Sendable {
    public let name: Name
    /// The folder of the parts, and of the files. For a bucket, it is the downloads folder.
    let folder: DownloadsFolder
    /// nil: files are in the folder.
    let bucket: BucketStore?
    /// Set when promotions to the bucket are to be continued.
    let promotionsDue = AsyncAutoResetEvent()
    /// Set when something may be left of an upload.
    let leftOversDue = AsyncAutoResetEvent()
    /// Bytes that downloads leave free on the file system of the parts, if the location has a limit of its own.
    let minimumFreeBytes: Int64?
    let health = FolderHealth()
    let diskQueues = DiskQueues()
    /// Set when an attempt begins while no other one downloads to it.
    let firstBegun = AsyncAutoResetEvent()

    private let recovery: Locked<Recovery>

    /// What a start does with the files of a location, as soon as its folder is open.
    private struct Recovery {
        var isDue: Bool
        /// Promotions that the last process had begun.
        var promotions: [AdmittedJob] = []
    }

    init(_ name: Name, _ folder: DownloadsFolder, minimumFreeBytes: Int64? = nil) {
        self.name = name
        self.folder = folder
        bucket = nil
        self.minimumFreeBytes = minimumFreeBytes
        recovery = Locked(Recovery(isDue: !folder.isOpen))
        if !folder.isOpen { _ = health.record(DiskError("open the folder", code: EAGAIN)) }
    }

    /// A bucket, whose parts are in the downloads folder until they are verified.
    public init(_ name: Name, _ bucket: BucketStore, staging folder: DownloadsFolder) {
        self.name = name
        self.folder = folder
        self.bucket = bucket
        minimumFreeBytes = nil
        // A start does not wait for a bucket.
        recovery = Locked(Recovery(isDue: false))
        health.doubt()
    }

    /// The location whose folder has the parts.
    var ofParts: Name { bucket == nil ? name : .default }

    /// A folder that is opened when the engine starts. Its disk may be missing, or slow: only its jobs wait.
    ///
    /// - Parameters:
    ///   - path: absolute.
    ///   - incomplete: a folder for the parts, perhaps on another file system; nil: they are in `.incomplete` in the folder.
    ///   - minimumFreeBytes: bytes that downloads leave free on the file system of the parts; nil: as `StorageLimits` says.
    public convenience init(
        _ name: Name, at path: String, incomplete: String? = nil, minimumFreeBytes: Int64? = nil, modes: FileModes,
        for use: FolderUse, of store: Store
    ) async throws {
        // Each service can have a folder of its own at this path, and the database does not say which one had it.
        let wasUsed = use.hasOwnFolder ? false : try await store.hasFolder(path, of: name)
        self.init(
            name,
            DownloadsFolder(
                unopenedAt: path, incomplete: incomplete, wasUsed: wasUsed, minimumFreeBytes: minimumFreeBytes,
                modes: modes, for: use, claimedBy: FolderClaim(database: store.identity, isShared: use.isSharedFolder)),
            minimumFreeBytes: minimumFreeBytes)
    }

    public func release() { if bucket == nil { folder.release() } }

    /// Whether the folder was not open at the start, and its parts were not compared with the database since.
    var isRecoveryDue: Bool { recovery.withLock { $0.isDue } }

    /// - Returns: the postponed promotions.
    func endRecovery() -> [AdmittedJob] {
        recovery.withLock { recovery in
            defer { recovery = Recovery(isDue: false) }
            return recovery.promotions
        }
    }

    /// - Returns: false if the folder is open.
    func postpone(_ promotions: [AdmittedJob]) -> Bool {
        if bucket != nil {
            recovery.withLock { recovery in
                let known = Set(recovery.promotions.map(\.job.id))
                recovery.promotions += promotions.filter { !known.contains($0.job.id) }
            }
            promotionsDue.set()
            return true
        }
        return recovery.withLock { recovery in
            if recovery.isDue { recovery.promotions += promotions }
            return recovery.isDue
        }
    }

    /// Opens the folder, but waits for at most five seconds: a disk that hangs delays only its own jobs.
    func openAtStart() async {
        let late = DiskError("open the folder", code: ETIMEDOUT)
        let fault = await inFolder(within: 5, or: late) { $0.inspect(byWriting: true) }
        _ = health.record(fault)
    }

    /// - Returns: the alternative if the disk has not answered within this number of seconds.
    private func inFolder<Value: Sendable>(
        within seconds: Double, or alternative: Value, _ work: @escaping @Sendable (DownloadsFolder) -> Value
    ) async -> Value {
        let answer = AsyncStream<Value>.makeStream()
        diskQueues.metadata.async { [folder] in _ = answer.continuation.yield(work(folder)) }
        diskQueues.timer.asyncAfter(deadline: DispatchTime.now() + seconds) {
            _ = answer.continuation.yield(alternative)
        }
        for await value in answer.stream { return value }
        return alternative
    }

    /// Space of the file system of the finished files; nil if the disk does not work, or does not say it within a second.
    var space: DiskSpace? {
        get async {
            guard bucket == nil, health.fault == nil else { return nil }
            return await inFolder(within: 1, or: nil, \.space)
        }
    }

    /// As the first words of a sentence.
    var title: String {
        name == .default ? "The downloads folder" : "\(bucket == nil ? "The folder" : "The bucket") of location \(name)"
    }

    /// Runs short operations on names in the folder.
    func inFolder<Value: Sendable>(
        _ work: @escaping @Sendable (DownloadsFolder) throws -> Value
    ) async throws -> Value {
        try await diskQueues.metadata.run { [folder] in try work(folder) }
    }
}

/// The locations of the service. One is always there: `default`, the downloads folder.
public struct Locations: Sendable {
    public let main: Location
    private let others: [Name: Location]
    /// The names that jobs have, and that are not declared, as the log has reported them.
    private let reported = Locked<Set<Name>>([])

    public init(main folder: DownloadsFolder, _ others: [Location] = []) {
        main = Location(.default, folder)
        for location in others where location.bucket == nil { location.folder.budget.share(with: folder.budget) }
        self.others = Dictionary(uniqueKeysWithValues: others.map { ($0.name, $0) })
    }

    /// `default` first, then by name.
    public var all: [Location] { [main] + others.values.sorted { $0.name.text < $1.name.text } }

    /// nil: no location with this name is declared.
    public subscript(name: Name) -> Location? { name == .default ? main : others[name] }

    /// - Returns: false if it was called with the name before.
    func report(undeclared name: Name) -> Bool { reported.withLock { $0.insert(name).inserted } }

    var use: FolderUse { main.folder.use }

    /// Opens the folders at a start.
    ///
    /// - Returns: the locations that are folders. The recovery of those that work is not due later.
    func open() async -> [Location] {
        await withTaskGroup(of: Void.self) { group in
            for location in others.values where location.isRecoveryDue {
                group.addTask { await location.openAtStart() }
            }
        }
        let folders = all.filter { $0.bucket == nil }
        for location in folders where location.health.fault == nil { _ = location.endRecovery() }
        return folders
    }

    /// Whether attempts can succeed in one of them.
    var anyWorks: Bool { all.contains { $0.health.fault == nil } }
}

// MARK: - The files of parts and of jobs, wherever they are

extension EngineServices {
    /// Logs that jobs need a location that no option declares, once for each name.
    func report(undeclared name: Name) {
        guard locations.report(undeclared: name) else { return }
        log.error(
            "Jobs need the location \(name), which no option declares. They wait until fetchd starts with --location \(name)=PATH."
        )
    }

    /// Stores that a location has its folder, so that a later start can tell it from the mount point of a missing disk.
    func noteFolder(of location: Location) async throws {
        guard location.bucket == nil, location.name != .default, !location.folder.wasUsed,
            !location.folder.use.hasOwnFolder
        else { return }
        try await store.noteFolder(location.folder.path, of: location.name)
    }

    /// - Throws: `DiskError` if it is not declared.
    func location(of file: FinishedFile) throws(DiskError) -> Location {
        let name = file.location ?? .default
        guard let location = locations[name] else { throw .undeclared(name) }
        return location
    }

    /// Removes the files of parts that no job needs any more. The file of a part whose location is not declared stays.
    func removeParts(_ parts: [PartID]) async {
        for (name, parts) in Dictionary(grouping: parts, by: \.location) {
            try? await locations[name]?.inFolder { folder in
                for part in parts { folder.removePart(part) }
            }
        }
    }

    /// - Returns: for each job the error; nil when its file is gone.
    func removeFiles(of jobs: [Job]) async -> [(job: JobID, error: DiskError?)] {
        var outcomes: [(job: JobID, error: DiskError?)] = []
        for (name, jobs) in Dictionary(grouping: jobs, by: { $0.state.finish?.file.location ?? .default }) {
            guard let location = locations[name] else {
                outcomes += jobs.map { ($0.id, .undeclared(name)) }
                continue
            }
            outcomes += await location.removeFiles(of: jobs)
        }
        return outcomes
    }
}

extension Location {
    /// - Returns: for each job the error; nil when its file is gone.
    fileprivate func removeFiles(of jobs: [Job]) async -> [(job: JobID, error: DiskError?)] {
        guard let bucket else {
            let removed = try? await inFolder { folder in
                jobs.map { job in
                    let error = job.state.finish.flatMap { finish in
                        DiskError.of { () throws(DiskError) in try folder.removeFile(finish.file) }
                    }
                    return (job: job.id, error: error)
                }
            }
            return removed ?? []
        }
        var outcomes: [(job: JobID, error: DiskError?)] = []
        for job in jobs {
            let error = await bucket.removalError(of: job)
            outcomes.append((job.id, error))
        }
        return outcomes
    }

    /// Removes a finished file. A missing file is no error, and another file with the same path stays.
    ///
    /// - Parameter applies: asked directly before.
    /// - Returns: false if it does not apply. Nothing has changed then.
    func removeFile(_ file: FinishedFile, if applies: @escaping @Sendable () -> Bool = { true }) async throws -> Bool {
        guard let bucket else {
            return try await inFolder { folder in
                guard applies() else { return false }
                try folder.removeFile(file)
                return true
            }
        }
        guard applies() else { return false }
        try await bucket.remove(file)
        return true
    }

    /// Those of the files that are not in their places.
    func missing(of files: [FinishedFile], _ indices: [Int]) async throws -> [Int] {
        guard let bucket else {
            return try await inFolder { folder in indices.filter { folder.openFile(files[$0]) == nil } }
        }
        var missing: [Int] = []
        for index in indices where try await !bucket.has(files[index]) { missing.append(index) }
        return missing
    }
}

extension BucketStore {
    fileprivate func removalError(of job: Job) async -> DiskError? {
        guard let file = job.state.finish?.file else { return nil }
        do throws(DiskError) {
            try await remove(file)
            return nil
        } catch {
            return error
        }
    }
}

extension DiskError {
    /// The code of a use of a location that is not declared. No call on files returns it.
    static let undeclaredLocation = ENOPKG

    static func undeclared(_ location: Name) -> DiskError {
        DiskError("use the location \(location)", code: undeclaredLocation)
    }
}
