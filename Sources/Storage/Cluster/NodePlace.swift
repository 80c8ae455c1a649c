import Glibc

/// Where the process of a node runs, as the row of the node has it.
struct NodePlace: Sendable, Equatable {
    /// Identifies the lock on the data folder: the start of the kernel, and the file. Only one process at a time has the lock, and a
    /// copy of the folder has another one. nil: it is not known.
    var lock: String?
    /// The name of the machine, and the path of the data folder there, for people.
    var machine: String?
    var folder: String?

    /// Whether the process that has the lock of this place knows that no other process of this place runs.
    func isSame(as other: NodePlace) -> Bool { lock != nil && lock == other.lock }

    /// Such as `in /var/lib/fetchd/data on web1`.
    var text: String {
        let known = [folder, machine].compactMap(\.self)
        return known.isEmpty ? "elsewhere" : "in " + known.joined(separator: " on ")
    }
}

extension NodePlace {
    /// - Parameter folder: this process has its lock.
    init(of folder: DataFolder) {
        let boot = SystemTime().boot
        lock = boot.flatMap { boot in folder.lockFile.map { "\(boot) \($0)" } }
        machine = Self.hostName
        self.folder = folder.absolutePath
    }

    private static var hostName: String? {
        var name = utsname()
        guard uname(&name) == 0 else { return nil }
        return withUnsafeBytes(of: &name.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

/// The process that has the row of a node when another process of this node starts elsewhere: in a copy of the data folder, or after the
/// folder was moved.
///
/// If that process lives, it renews its lease, and the new one is refused. Otherwise both would replace each other for ever. If it does
/// not live, its lease ends.
struct FormerProcess: Sendable, Equatable {
    var epoch: Int64
    /// The end of its lease, by the clock of the server, in milliseconds.
    var expiresAt: Int64
    var place: NodePlace
    /// Where its API is, if it has said so.
    var url: String?

    enum Verdict: Equatable { case undecided, lives, hasEnded }

    /// - Parameters:
    ///   - present: what the row has now. Its lease has not ended by the clock of the server.
    ///   - watched: for how long this value was known.
    func verdict(on present: FormerProcess, watched: Duration) -> Verdict {
        if present.epoch != epoch || present.expiresAt != expiresAt { return .lives }
        // The clock of the server was set back, so the lease would end later.
        return watched >= NodeLease.longestRest ? .hasEnded : .undecided
    }

    /// - Parameter place: of the process that is refused.
    func refusal(at place: NodePlace) -> StoreError {
        let address = url.map { ", at \($0)" } ?? ""
        return .folderUnusable(
            path: place.folder ?? "",
            why:
                "it is a copy of the data folder of a node that runs \(self.place.text)\(address): both have the same file 'node'. If this service shall be another node, remove the file 'node' from the copy, and begin with an empty downloads folder. If the folder was moved, stop the other service first"
        )
    }
}

extension PostgresSchema {
    /// Where the process of each node runs (`NodePlace`).
    static let nodePlaces = """
        ALTER TABLE nodes ADD COLUMN place text COLLATE "C";
        ALTER TABLE nodes ADD COLUMN machine text COLLATE "C";
        ALTER TABLE nodes ADD COLUMN folder text COLLATE "C";

        """
}
