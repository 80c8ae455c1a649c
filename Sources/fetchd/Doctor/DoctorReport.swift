import Base
import Configuration
import CurlClient
import Daemon
import Downloads
import Engine
import Formats
import Foundation
import Glibc

/// What `fetchd doctor` has found. It looks for faults of a service, and repairs none. The service may run meanwhile.
struct DoctorReport {
    var settings: ServiceSettings
    private(set) var results: [CheckResult] = []

    init(on settings: ServiceSettings, thoroughly: Bool, asksWebhooks: Bool) async {
        self.settings = settings
        if let warning = settings.unknownVariables.warning {
            warn(.configuration, warning, "Correct the name, or unset the variable.")
        }
        let lock = FolderLock(ofDataFolder: settings.dataFolder)
        checkService(lock)
        // Reading the database creates files beside it, so the folders are examined first.
        checkFolders()
        // A database that cannot be read is a result of its own.
        let stored = try? settings.stored()
        self.settings.start.take(stored: stored ?? [:])
        await checkDatabase(thoroughly: thoroughly, asksWebhooks: asksWebhooks, isRunning: lock.holder != nil)
        checkSpace()
        await checkBuckets()
        checkLimits(of: lock.holder)
        let isHidden = if case .hidden = databaseFile { settings.start.values.store == nil } else { false }
        checkAddresses(areComplete: stored != nil && !isHidden)
    }

    private mutating func checkService(_ lock: FolderLock) {
        if Sight(of: settings.dataFolder) == .absent {
            return skip(
                .service, "There is no data folder, so no service uses it.", "Name the data folder of the service.")
        }
        switch lock {
        case .held(let process): succeed(.service, "The service runs (process \(process)).")
        case .free: succeed(.service, "No service uses the data folder.")
        case .unknown(let why): skip(.service, "Whether a service runs is not known: \(why).", Self.asUserOfService)
        }
    }

    private mutating func checkBuckets() async {
        guard settings.start.values.locations.contains(where: { $0.bucket != nil }) else { return }
        do {
            for check in try await BucketCheck.all(of: settings.start.values) {
                if let fault = check.fault {
                    fail(
                        .buckets, "No object can go to the location \(check.location): \(fault).",
                        "Its jobs wait. Compare --location and the access key with the bucket.")
                } else if let restriction = check.restriction {
                    warn(
                        .buckets, "The location \(check.location): \(restriction)",
                        "Let its jobs replace objects, or choose a server that keeps the condition.")
                }
            }
            succeedIfNothing(.buckets, "The buckets take objects.")
        } catch {
            fail(.buckets, "\(error)", "The service does not start before this is corrected.")
        }
    }

    // MARK: Results

    mutating func succeed(_ subject: CheckResult.Subject, _ message: String) {
        results.append(CheckResult(level: .ok, subject: subject, message: message))
    }

    mutating func succeedIfNothing(_ subject: CheckResult.Subject, _ message: String) {
        if !results.contains(where: { $0.subject == subject }) { succeed(subject, message) }
    }

    mutating func warn(_ subject: CheckResult.Subject, _ message: String, _ remedy: String) {
        results.append(CheckResult(level: .warning, subject: subject, message: message, remedy: remedy))
    }

    mutating func fail(_ subject: CheckResult.Subject, _ message: String, _ remedy: String) {
        results.append(CheckResult(level: .error, subject: subject, message: message, remedy: remedy))
    }

    mutating func skip(_ subject: CheckResult.Subject, _ message: String, _ remedy: String) {
        results.append(CheckResult(level: .skipped, subject: subject, message: message, remedy: remedy))
    }

    /// The remedy for what the user of the command may not see.
    static let asUserOfService = "Run this command as the user of the service."
}

struct CheckResult {
    enum Level: String {
        case ok, warning, error
        /// The command could not look at something.
        case skipped
    }

    enum Subject: String {
        case configuration, service, folders, database, parts, key, space, buckets, limits, clock, addresses, webhooks
    }

    var level: Level
    var subject: Subject
    var message: String
    /// What to do; nil if there is nothing to do.
    var remedy: String?

    var json: JSON {
        [
            "level": .string(level.rawValue), "check": .string(subject.rawValue), "message": .string(message),
            "remedy": .optional(remedy),
        ]
    }

    var lines: [String] {
        let level = level.rawValue.padding(toLength: 8, withPad: " ", startingAt: 0)
        let subject = subject.rawValue.padding(toLength: 14, withPad: " ", startingAt: 0)
        let remedy = remedy.map { [String(repeating: " ", count: 22) + "-> \($0)"] } ?? []
        return ["\(level)\(subject)\(message)"] + remedy
    }
}

/// The lock of a data folder. A service holds it while it uses the folder. It is looked at without taking it, which could
/// make a start fail.
enum FolderLock {
    /// A process with this identifier holds it.
    case held(Int)
    case free
    /// The system does not show it. The reason is the end of a sentence.
    case unknown(String)

    init(ofDataFolder path: String) {
        let file = path + "/lock"
        switch Sight(of: file) {
        case .absent: self = .free
        case .hidden(let why): self = .unknown("\(file) cannot be looked at: \(why)")
        case .present:
            var status = stat()
            guard stat(file, &status) == 0, let locks = KernelFile.text(of: "/proc/locks")
            else {
                self = .unknown("/proc/locks cannot be read")
                return
            }
            self = Self.holder(ofInode: UInt64(status.st_ino), in: locks).map(FolderLock.held) ?? .free
        }
    }

    var holder: Int? { if case .held(let process) = self { process } else { nil } }

    /// - Parameter locks: the text of /proc/locks (proc_locks(5)), such as `1: FLOCK ADVISORY WRITE 123 08:01:456 0 EOF`.
    private static func holder(ofInode inode: UInt64, in locks: String) -> Int? {
        for line in locks.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] == "FLOCK", words[3] == "WRITE", let process = Int(words[4]) else {
                continue
            }
            if words[5].split(separator: ":").last.flatMap({ UInt64($0) }) == inode { return process }
        }
        return nil
    }
}

/// Whether this process can see a file or a folder.
enum Sight: Equatable {
    case present
    case absent
    /// The file may exist. The reason is that of the system, such as `Permission denied`.
    case hidden(String)

    init(of path: String) {
        var status = stat()
        guard stat(path, &status) != 0 else {
            self = .present
            return
        }
        let reason = errno
        self = reason == ENOENT || reason == ENOTDIR ? .absent : .hidden(String(cString: strerror(reason)))
    }
}
