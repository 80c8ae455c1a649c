import Base
import Dispatch
import Downloads
import Glibc
import Storage

/// A place that files go to, with all that its disk can delay: while it is slow or does not work, only its jobs wait.
public final class Location: Sendable {
    public let name: Name
    let folder: DownloadsFolder
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

    public init(_ name: Name, _ folder: DownloadsFolder) {
        self.name = name
        self.folder = folder
        recovery = Locked(Recovery(isDue: !folder.isOpen))
        if !folder.isOpen { _ = health.record(DiskError("open the folder", code: EAGAIN)) }
    }

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
        recovery.withLock { recovery in
            if recovery.isDue { recovery.promotions += promotions }
            return recovery.isDue
        }
    }

    /// Opens the folder, but waits for at most five seconds: a disk that hangs delays only its own jobs.
    func openAtStart() async {
        let answer = AsyncStream<DiskError?>.makeStream()
        diskQueues.metadata.async { [folder] in
            _ = answer.continuation.yield(folder.inspect(byWriting: true))
        }
        diskQueues.timer.asyncAfter(deadline: DispatchTime.now() + 5.0) {
            _ = answer.continuation.yield(DiskError("open the folder", code: ETIMEDOUT))
        }
        for await fault in answer.stream {
            _ = health.record(fault)
            break
        }
    }

    /// As the first words of a sentence.
    var title: String { name == .default ? "The downloads folder" : "The folder of location \(name)" }

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

    public init(main folder: DownloadsFolder, _ others: [Location] = []) {
        main = Location(.default, folder)
        self.others = Dictionary(uniqueKeysWithValues: others.map { ($0.name, $0) })
    }

    /// `default` first, then by name.
    public var all: [Location] { [main] + others.values.sorted { $0.name.text < $1.name.text } }

    /// nil: no location with this name is declared.
    public subscript(name: Name) -> Location? { name == .default ? main : others[name] }

    var use: FolderUse { main.folder.use }

    /// Opens the folders at a start.
    ///
    /// - Returns: the locations whose folders are open.
    func open() async -> [Location] {
        await withTaskGroup(of: Void.self) { group in
            for location in others.values where location.isRecoveryDue {
                group.addTask { await location.openAtStart() }
            }
        }
        let opened = all.filter { $0.health.fault == nil }
        for location in opened { _ = location.endRecovery() }
        return opened
    }

    /// Whether attempts can succeed in one of them.
    var anyWorks: Bool { all.contains { $0.health.fault == nil } }
}

// MARK: - The files of parts and of jobs, wherever they are

extension EngineServices {
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
            let removed = try? await locations[name]?.inFolder { folder in
                jobs.map { job in
                    let error = job.state.finish.flatMap { finish in
                        DiskError.of { () throws(DiskError) in try folder.removeFile(finish.file) }
                    }
                    return (job: job.id, error: error)
                }
            }
            outcomes += removed ?? jobs.map { ($0.id, .undeclared(name)) }
        }
        return outcomes
    }
}

extension DiskError {
    /// The code of a use of a location that is not declared. No call on files returns it.
    static let undeclaredLocation = ENOPKG

    static func undeclared(_ location: Name) -> DiskError {
        DiskError("use the location \(location)", code: undeclaredLocation)
    }
}
