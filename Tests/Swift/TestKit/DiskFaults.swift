import Foundation

/// Makes system calls of a real process fail, wait or kill it: Tests/Faults/disk_faults.c, preloaded.
///
///     let faults = try await DiskFaults()
///     let fetchd = try await FetchdProcess.start(.init(environment: faults.environment))
///     try faults.set("fdatasync .incomplete 1 1 EIO!")
public struct DiskFaults: Sendable {
    private let folder: TemporaryFolder
    private let library: String

    public init() async throws {
        folder = try TemporaryFolder()
        library = try await PreloadedLibrary.diskFaults.value
    }

    /// The environment in which a process obeys the rules.
    public var environment: [String: String] {
        ["LD_PRELOAD": library, "DISK_FAULTS_RULES": folder.path("rules"), "DISK_FAULTS_LOG": folder.path("log")]
    }

    /// Replaces all rules. disk_faults.c explains their syntax: `CALLS PATH FIRST LAST ACTION`.
    public func set(_ rules: String...) throws { try set(rules) }

    public func set(_ rules: [String]) throws {
        try folder.write(rules.map { $0 + "\n" }.joined(), to: "next")
        guard rename(folder.path("next"), folder.path("rules")) == 0 else { throw Overdue("rename failed: \(errno)") }
    }

    /// Removes all rules, so that every call works.
    public func heal() throws { try set([]) }

    /// The calls that a rule has changed so far, as lines `CALL PATH ACTION`.
    public var log: [String] {
        String(decoding: folder.bytes(of: "log") ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
